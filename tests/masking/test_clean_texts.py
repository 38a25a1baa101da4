"""What is remembered of texts that hold no secret changes nothing of what is found."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from masking import clean_texts
from masking.budget import Budget
from masking.clean_texts import CleanTexts
from masking.finder import Finder
from masking.pattern_names import select_patterns

CASES = (Path(__file__).parent / "masking_kinds.jsonl").read_text(encoding="utf-8").splitlines()
TEXTS = [json.loads(line)["text"] for line in CASES]
ALL = select_patterns(("default", "security"), ())
seasoned = Finder(ALL, ())
"""Has looked at everything before."""


def find(finder: Finder, text: str, depth: int = 0) -> list[object]:
    return sorted(finder.find(text, Budget(), depth), key=repr)


@st.composite
def told(draw: st.DrawFn) -> str:
    """A text of the corpus, a part of it, or one of these within JSON."""
    text = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, len(text)))
    part = draw(st.sampled_from([text, text[start:], text[:start], text[start : start + 40]]))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(["note", "password", "data", "value"]))
        part = json.dumps({name: part, "endsAt": "0001-01-01T00:00:00Z"})
    return part.encode("utf-8", "replace").decode()


@settings(max_examples=150, deadline=None)
@given(told(), st.integers(0, 5))
def test_whoever_has_seen_a_text_finds_in_it_what_others_find(text, depth):
    find(seasoned, text, depth)

    assert find(seasoned, text) == find(Finder(ALL, ()), text)


def test_a_text_with_a_secret_is_not_remembered():
    finder = Finder(ALL, ())

    assert find(finder, '{"password": "hunter2-but-longer", "endsAt": ""}')
    assert find(finder, "password=hunter2-but-longer")

    assert not any("hunter2" in text for text in finder._clean._depths)


def test_a_text_that_was_clean_far_down_is_looked_at_where_more_is():
    clean = CleanTexts()
    clean.add("DiskFull", 2)

    assert [clean.holds("DiskFull", depth) for depth in (0, 1, 2, 3)] == [False, False, True, True]

    clean.add("DiskFull", 0)
    clean.add("DiskFull", 4)

    assert clean.holds("DiskFull", 0)


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(clean_texts, "MOST", 3)
    clean = CleanTexts()

    clean.add("x" * (clean_texts.LONGEST + 1), 0)
    for number in range(10):
        clean.add(f"text {number}", 0)

    assert not clean.holds("x" * (clean_texts.LONGEST + 1), 0)
    assert clean.holds("text 9", 0)
    assert len(clean._depths) <= 3
