"""Passages that nothing supports, marked in rendered Markdown: in words, and never at a risk."""

import re
from dataclasses import dataclass

import pytest

from investigations.rendering.markdown import link_citations, render_markdown
from investigations.rendering.marked_text import render_marked
from investigations.selectors.session_page.unsupported import (
    UnsupportedSpan,
    locate_unsupported,
    relocate,
)

MARK = re.compile(r'<mark class="t-unsup-words">(.*?)</mark>')
NOTE = re.compile(r' <span class="t-unsup-mark" title="Unsupported">.*?</svg>(.*?)</span>')


@dataclass(frozen=True)
class Passage:
    start: int
    end: int
    reason: str = "no result has it"


def mark(text: str, *said: str) -> str:
    return render_marked(text, [Passage(text.index(s), text.index(s) + len(s)) for s in said])


def without_marks(html: str) -> str:
    return re.sub(r"</?mark[^>]*>", "", NOTE.sub("", html))


def test_a_passage_is_marked_where_it_stands_and_says_why_in_words():
    html = mark("The job has 9 restarts.", "9 restarts")

    assert MARK.findall(html) == ["9 restarts"]
    assert NOTE.findall(html) == ["no result has it"]
    assert html.index("9 restarts") < html.index("Unsupported") < html.index(">no result has it<")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# The job has 9 restarts", "# The job has 9"),
        ("1. The job has 9 restarts\n2. Two", "1. The job has 9"),
        ("- The job\n- has 9", "- has 9"),
        ("The **job has 9** restarts and `more`", "job has 9** restarts and `mo"),
        ("| a | b |\n|---|---|\n| 9 | x |", "9"),
        ("a _b_ c", "_b_"),
        ("> quoted words here", "quoted words"),
        ("one [T4] two `x` three", "[T4] two"),
        ("see [the page](http://a.example/b) now", "the page"),
    ],
)
def test_marks_change_nothing_of_the_text_around_them(text, said):
    html = mark(text, said)

    assert without_marks(html) == render_markdown(text)
    assert NOTE.findall(html) == ["no result has it"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("see http://a.example/b now", "a.example"),
        ("see [x](http://a.example/b) now", "a.example"),
        ("see <http://a.example/b> now", "example/b"),
        ("mail me@a.example now", "a.example"),
        ("go to www.a.example/x now", "example"),
        ("[x]: http://a.example/b\n\nsee [x] now", "a.example"),
    ],
)
def test_no_mark_leads_a_link_elsewhere_and_none_is_lost(text, said):
    html = mark(text, said)

    links = re.compile(r"<a [^>]*>")
    assert links.findall(html) == links.findall(render_markdown(text))
    assert NOTE.findall(html) == ["no result has it"]
    assert said in html


def test_what_looks_like_our_marks_in_a_text_is_text():
    forged = "\u2e28\u2e2a\u2e2a\u2e2a\u2e2aall of this\u2e29\u2e2a\u2e2a\u2e2a\u2e2a and 9"

    html = mark(forged, "9")

    assert MARK.findall(html) == ["9"]
    assert "all of this" in html


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=1>'])
def test_neither_words_nor_reasons_become_elements(hostile):
    text = f"The job {hostile} has 9"
    html = render_marked(text, [Passage(0, len(text), hostile)])

    assert "<script" not in html
    assert "<img" not in html
    assert set(re.findall(r"<(\w+)", html)) <= {"p", "mark", "span", "svg", "use"}


def test_every_element_is_closed_where_it_was_opened():
    html = mark("**a b** c *d e*\n\n- f `g h` i", "b** c *d", "g h` i")

    opened: list[str] = []
    for closing, name in re.findall(r"<(/?)(\w+)[^>]*?>", html.replace("/>", ">X</use>")):
        if closing:
            assert opened.pop() == name
        else:
            opened.append(name)
    assert opened == []


def test_citations_within_a_passage_still_become_chips():
    html = link_citations(mark("The job [T5] has 9", "job [T5] has 9"), {})
    quoted = link_citations(mark('The job [T5 "a"] has 9', 'job [T5 "a"] has 9'), {})
    assert quoted.count("no such call") == 1

    assert "T5, no such call" in html


def test_a_text_without_passages_is_rendered_as_ever():
    assert render_marked("**a**", []) == render_markdown("**a**")


# ---- Where they stand ---------------------------------------------------------------------------


def named(start: int, said: str) -> dict:
    return {"unsupported": [{"start": start, "end": start + len(said), "text": said,
                             "kind": "number", "reason": "r"}]}  # fmt: skip


def test_a_passage_is_found_by_its_words_when_a_text_got_longer_before_it():
    found = locate_unsupported("**Unverified:** x.\n\nIt has 9 or 9 of them.", named(7, "9"))

    assert [(span.start, span.end) for span in found] == [(27, 28)]


def test_a_passage_is_found_as_whole_words_beside_others_that_begin_like_it():
    said = "It kills them. Killed by the kernel."
    text = f"**Changed:** TARSy changed nothing.\n\n{said}"

    (found,) = locate_unsupported(text, named(said.index("the kernel"), "the"))

    assert text[found.start :] == "the kernel."


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"unsupported": "9"},
        {"unsupported": [None, {"start": "1", "end": 2}, {"start": 5, "end": 2}]},
        {"unsupported": [{"start": 3, "end": 400}]},
        named(3, "not there"),
    ],
)
def test_what_cannot_be_found_is_left_out(metadata):
    assert locate_unsupported("It has 9.", metadata) == ()


def test_a_part_of_a_report_gets_the_passages_of_its_own_lines():
    whole = "1. It had 9 restarts [T2], and 9 pods.\n2. There were 9 nodes.\n"
    place = whole.index("9 pods")
    spans = [UnsupportedSpan(place, place + 1, "number", "r")]

    (found,) = relocate("It had 9 restarts, and 9 pods.", whole, spans)

    assert "It had 9 restarts, and 9 pods."[found.start :].startswith("9 pods")
    assert relocate("There were 9 nodes.", whole, spans) == ()
