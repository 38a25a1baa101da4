"""What streams is masked, and the same however it is cut."""

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from masking import StreamMasker, build_default_masker
from tests.cases import for_each
from tests.masking.test_masking import TEXTS

KINDS = [
    json.loads(line)
    for line in (Path(__file__).parent / "masking_kinds.jsonl").read_text("utf-8").splitlines()
]
# What has lost its head is known by standing at the very beginning.
EMBEDDED = [case for case in KINDS if "cut head" not in case["kind"]]


def stream(pieces: list[str]) -> str:
    masker = build_default_masker()
    shown = StreamMasker(lambda text: masker.mask(text).text)
    return "".join(map(shown.add, pieces)) + shown.finish()


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(TEXTS, st.lists(st.integers(0, 10_000), max_size=8))
def test_a_stream_is_masked_the_same_however_it_is_cut(text, places):
    assert stream(cut(text, places)) == stream([text])


@for_each(KINDS, name=lambda case: case["kind"])
def test_every_cut_of_every_kind_gives_the_same(case):
    text = case["text"]
    whole = stream([text])

    assert stream(list(text)) == whole
    step = max(1, len(text) // 4)
    for place in range(0, len(text), step):
        assert stream([text[:place], text[place:]]) == whole


@for_each(EMBEDDED, name=lambda case: case["kind"])
def test_no_kind_of_secret_gets_through_a_stream(case):
    shown = stream(list(f"I looked and found this:\n\n{case['text']}\n\nThat is all."))

    assert [secret for secret in case["secrets"] if secret in shown] == []
    assert shown.startswith("I looked and found this:")


def test_plain_words_are_shown_as_they_come():
    masker = StreamMasker(str)

    assert masker.add("The load on nod") == "The load on "
    assert masker.add("e-3 is high") == "node-3 is "
    assert masker.finish() == "high"


def test_a_word_without_end_is_read_once():
    masker = StreamMasker(str)

    shown = [masker.add("abcd") for _ in range(200_000)]

    assert set(shown) == {""}
    assert len(masker.finish()) == 800_000


def test_a_block_without_end_is_read_once():
    read: list[str] = []
    masker = StreamMasker(lambda text: read.append(text) or text)

    shown = [masker.add("data:\n"), *(masker.add(f"  {n}: {{}}\n") for n in range(100_000))]

    assert set(shown) == {""}
    assert len(masker.finish().splitlines()) == 100_001
    assert len(read) == 1


def test_nothing_more_is_shown_once_masking_failed(caplog):
    def fail(text: str) -> str:
        raise MemoryError

    masker = StreamMasker(fail)

    assert masker.add("fine token=abc\n") == "fine "
    assert masker.add("and more words\n") == ""
    assert masker.finish() == ""
    assert "masking a stream failed" in caplog.text
