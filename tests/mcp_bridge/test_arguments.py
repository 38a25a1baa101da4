import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bridge.arguments import parse_arguments

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        ("", "object", {}),
        ('{"a": 1, "a": 9007199254740993}', "object", {"a": 9007199254740993}),
        ('["n-1"]', "json", {"input": ["n-1"]}),
        ("42", "json", {"input": 42}),
        ("hosts:\n  - a\nat: 10:30", "yaml", {"hosts": ["a"], "at": "10:30"}),
        ("{hosts: [a], x: NaN}", "yaml", {"hosts": ["a"], "x": "NaN"}),
        ("a: 1, b=true\nc: none", "pairs", {"a": 1, "b": True, "c": None}),
        ("selector: 'a=b,c=d', n: 0042", "pairs", {"selector": "a=b,c=d", "n": 42}),
        ("why: it's full, ns: prod", "pairs", {"why": "it's full", "ns": "prod"}),
        ("huge: 1e400, hex: 0x1F", "pairs", {"huge": "1e400", "hex": "0x1F"}),
        ("https://a.example.com/x", "raw", {"input": "https://a.example.com/x"}),
        ("C:\\Temp\\app.log", "raw", {"input": "C:\\Temp\\app.log"}),
        ("count: 1,000", "raw", {"input": "count: 1,000"}),
        ("- a\n- b", "raw", {"input": "- a\n- b"}),
        ("SELECT id FROM t WHERE s = 'x'", "raw", {"input": "SELECT id FROM t WHERE s = 'x'"}),
    ],
)
def test_arguments_are_read_in_the_most_certain_form(text, form, values):
    parsed = parse_arguments(text)

    assert (parsed.form, parsed.values) == (form, values)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5))
def test_json_object_arrives_exactly(values):
    assert parse_arguments(json.dumps(values)).values == values


@given(st.text())
def test_any_text_becomes_arguments_that_can_be_sent(text):
    parsed = parse_arguments(text)

    json.dumps(parsed.values, allow_nan=False).encode()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 5_000,
        "a: &x [1]\nb: *x",
        "a: !!python/object:os.system [1]",
        "a: " + "9" * 10_000,
        '{"a": ' + "9" * 10_000 + "}",
        '{"a": "\\ud800"}',
        "\ud800: [1]",
        'k: "x, ' * 10_000,
        "a, " * 50_000,
        "? [a]\n: [b]",
    ],
)
def test_hostile_text_is_read_without_harm(text):
    parsed = parse_arguments(text)

    json.dumps(parsed.values, allow_nan=False).encode()
