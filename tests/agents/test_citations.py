"""The grammar of citations: what is one, what it names, and what it quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.citations import (
    blank_quotes,
    cited_numbers,
    drop_citations,
    find_citations,
    find_in_plain_text,
)


def read(text: str) -> list[tuple[int, str | None]]:
    return [(ref.number, ref.quote) for each in find_citations(text) for ref in each.refs]


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("[T7] and [T2; T7], [T9,10] but not T3 or [X4]",
         [(7, None), (2, None), (7, None), (9, None), (10, None)]),
        ('Killed [T5 "restarts 14"].', [(5, "restarts 14")]),
        ('[T5 "a", T7 "b"] [T5; T9 "c"]', [(5, "a"), (7, "b"), (5, None), (9, "c")]),
        ('[T5 "restarts 14", "OOMKilled"]', [(5, "restarts 14"), (5, "OOMKilled")]),
        ('[T5: "a"] [T5, "b"] [t5 "c"]', [(5, "a"), (5, "b"), (5, "c")]),
        ("[T5 \u201crestarts 14\u201d] [T5 \u201eja\u201c] [T5 \u00aboui\u00bb]",
         [(5, "restarts 14"), (5, "ja"), (5, "oui")]),
        ('[T5 "tags [a, b] are set"]', [(5, "tags [a, b] are set")]),
        ('[T5 "[MASKED:github_token#3]"]', [(5, "[MASKED:github_token#3]")]),
        (r'[T5 "{\"a\": [\"b\"]}"]', [(5, r"{\"a\": [\"b\"]}")]),
        ('[T5 "{"restarts": 14, "node": "n1"}"]', [(5, '{"restarts": 14, "node": "n1"}')]),
        ('[T5 "the log `x` says"]', [(5, "the log `x` says")]),
        ('| api | 14 [T5 "14 | api"] |', [(5, "14 | api")]),
        ('[[T5 "a"]]', [(5, "a")]),
        ('[T5 "one\nline"]', [(5, "one\nline")]),
        ('[T999 "x"]', [(999, "x")]),
    ],
)  # fmt: skip
def test_a_citation_names_calls_and_what_they_say(text, refs):
    assert read(text) == refs


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ('[T5 "not closed. It goes on [T7 "b"]', [(7, "b")]),
        ('[T5 "a [T7 "b"] c"]', [(7, "b")]),
        ('- one [T5 "not closed\n- two [T6 "c"]', [(6, "c")]),
        ('[T5 "not closed\n\nAnother paragraph"]', []),
        ("[T5abc] [T] [5] [T5 `x`] T5", []),
        ('`[T5 "a"]` and ``[T6]`` but [T7]', [(7, None)]),
        ('```\n[T5 "a"]\n```\n[T7]\n~~~\n[T8]', [(7, None)]),
    ],
)
def test_what_is_code_or_not_closed_is_no_citation(text, refs):
    assert read(text) == refs


def test_a_backtick_of_plain_text_hides_no_citation():
    (found,) = find_in_plain_text("a ` b [T5] c ` d")

    assert (found.start, found.end) == (6, 10)


def test_references_are_listed_once_and_in_order():
    assert cited_numbers('[T7 "a"] and [T2; T7 "b"], [T9,10]') == (7, 2, 9, 10)


def test_a_text_can_be_had_without_its_citations():
    assert drop_citations('It has 3 [T2 "a. B"], and 4 [T5].') == "It has 3, and 4."


def test_quotes_are_blanked_and_everything_else_keeps_its_place():
    text = 'It has 3 [T2 "a. B"], and 4 [T5].'

    blank = blank_quotes(text)

    assert blank == "It has 3 [T2       ], and 4 [T5]."
    assert len(blank) == len(text)


@given(st.text(alphabet='[]T15,;:" \n`\\-\u201c\u201dab'))
def test_any_text_can_be_read_and_citations_are_apart_and_in_order(text):
    found = find_citations(text)

    places = [place for each in found for place in (each.start, each.end)]
    assert places == sorted(places)
    assert all(text[each.start] == "[" and text[each.end - 1] == "]" for each in found)
    assert len(blank_quotes(text)) == len(text)


@pytest.mark.parametrize(
    "piece", ['[T1 "', "[", '"', '[T1 "a", ', "[T1,", "```\n~~~\n", "\n- [T1 ", "`", '[T5 "a b"] ']
)
def test_a_long_hostile_text_is_read(piece):
    find_citations(piece * (300_000 // len(piece)))
    find_citations(f'[T5 "{piece * (100_000 // len(piece))}"]')
