"""JSON laid out for reading: nothing of it is changed, and each place is found again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.selectors.json_layout import MOST_LAID_OUT, lay_out

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
)


@given(
    st.lists(_VALUES) | st.dictionaries(st.text(max_size=4), _VALUES), st.sampled_from([None, 1])
)
def test_the_same_characters_stand_in_the_same_order(value, indent):
    text = json.dumps(value, ensure_ascii=False, indent=indent)

    laid_out = lay_out(text)

    assert laid_out is not None
    assert json.loads(laid_out.text) == value
    assert lay_out(laid_out.text).text == laid_out.text


@given(st.dictionaries(st.text(max_size=4), _VALUES, min_size=1), st.data())
def test_a_part_of_the_text_is_found_again_without_its_blanks(value, data):
    text = json.dumps(value, ensure_ascii=False)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    laid_out = lay_out(text)
    first, last = laid_out.find(start, end)

    bare = str.maketrans("", "", " \n")
    assert laid_out.text[first:last].translate(bare) == text[start:end].translate(bare)


def test_what_holds_few_values_stands_in_one_line_and_what_holds_more_in_several():
    text = (
        '{"ok":true,"clients":[{"state":"idle","connections":8},{"a":[]}],"why":"' + "x" * 80 + '"}'
    )

    assert lay_out(text).text == (
        '{\n  "ok": true,\n  "clients": [\n    {"state": "idle", "connections": 8},\n'
        '    {\n      "a": []\n    }\n  ],\n  "why": "' + "x" * 80 + '"\n}'
    )


def test_a_figure_and_a_key_that_comes_twice_stay_as_they_are_written():
    assert lay_out('{"a": 1e3, "a": 1.50, "b": "\\u00e9"}').text == (
        '{"a": 1e3, "a": 1.50, "b": "\\u00e9"}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "plain", '"a text"', "12", '{"cut": [1, 2', "{} {}", "[" * 101 + "]" * 101,
        '["\\ud800"]', json.dumps(["x" * MOST_LAID_OUT]),
        f"[{','.join(['[' * 99 + ']' * 99] * 100)}]",
    ],
)  # fmt: skip
def test_what_is_no_json_or_too_much_is_left_as_it_is(text):
    assert lay_out(text) is None
