"""What streams is shown soon, and never more of it than of the masked whole."""

import json
import random
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from masking import StreamMasker, build_default_masker
from masking.stream import MAX_BLOCK, MAX_WORD, NOT_YET
from tests.cases import for_each
from tests.masking.test_masking import TEXTS

HERE = Path(__file__).parent
KINDS = [
    json.loads(line) for line in (HERE / "masking_kinds.jsonl").read_text("utf-8").splitlines()
]
# What has lost its head is known by standing at the very beginning.
EMBEDDED = [case for case in KINDS if "cut head" not in case["kind"]]
REPORTS = {path.stem: path.read_text("utf-8") for path in sorted((HERE / "reports").glob("*.md"))}
AROUND = ("{}", "I looked and found this:\n\n{}\n\nThat is all.", "```\n{}\n```\n", "So: {}\n")


def stream(pieces):
    masker = build_default_masker()
    shown = StreamMasker(masker.cover)
    return "".join(map(shown.add, pieces)) + shown.finish()


def cut(text, places):
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@for_each(EMBEDDED, name=lambda case: case["kind"])
def test_no_secret_of_any_kind_is_shown_however_its_text_is_cut(case):
    rng = random.Random(case["kind"])
    for around, step in ((AROUND[0], 1), (AROUND[1], 17), (rng.choice(AROUND), 0)):
        text = around.format(case["text"])
        if step:
            step *= 1 + len(text) // 500
            pieces = [text[start : start + step] for start in range(0, len(text), step)]
        else:
            pieces = cut(text, [rng.randrange(10**6) for _ in range(8)])
        shown = stream(pieces)
        # What the whole keeps, as a quote within another text, the stream may show.
        found = [secret for secret in case["secrets"] if secret in shown]
        assert found == [] or set(found) <= set(kept_by_the_whole(text, found))


def kept_by_the_whole(text, secrets):
    masked = build_default_masker().mask(text).text
    return [secret for secret in secrets if secret in masked]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(EMBEDDED), min_size=1, max_size=3),
    st.sampled_from([*REPORTS]),
    st.lists(st.integers(0, 10_000), max_size=30),
    st.randoms(),
)
def test_no_secret_amid_a_report_is_shown_at_any_speed(cases, name, places, rng):
    blocks = REPORTS[name].split("\n\n")
    for case in cases:
        blocks.insert(rng.randrange(len(blocks)), case["text"])
    text = "\n\n".join(blocks)
    shown = stream(cut(text, places))

    found = [secret for case in cases for secret in case["secrets"] if secret in shown]
    assert found == [] or set(found) <= set(kept_by_the_whole(text, found))


@given(TEXTS, st.lists(st.integers(0, 10_000), max_size=8))
def test_any_text_comes_through_however_it_is_cut(text, places):
    shown = stream(cut(text, places))

    assert isinstance(shown, str)


@for_each(list(REPORTS.values()), name=lambda text: text[:20])
def test_a_report_comes_through_whole_and_soon(text):
    masker = StreamMasker(build_default_masker().cover)
    shown = said = 0
    late = 0
    for piece in (text[start : start + 16] for start in range(0, len(text), 16)):
        said += len(piece)
        before, shown = shown, shown + len(masker.add(piece))
        # At 40 tokens of 4 characters a second, what is 80 characters old is half a second old.
        late += max(0, min(shown, said - 80) - before)

    assert shown + len(masker.finish()) == len(text)
    assert stream([text]) == text
    assert late < 0.025 * len(text)


def test_plain_words_are_shown_as_they_come():
    masker = StreamMasker(build_default_masker().cover)

    assert masker.add("The load on nod") == "The load on "
    assert masker.add("e-3 is 97 % high [T5] and") == "node-3 is 97 % high [T5] "
    assert masker.finish() == "and"


def test_what_a_password_may_go_on_with_waits_and_then_a_mark_stands_for_it():
    masker = StreamMasker(build_default_masker().cover)

    assert masker.add("We set password: correct horse ") == "We set password:"
    assert masker.add("battery " * 12) == NOT_YET
    assert masker.add("staple\nThen ") == "staple\nThen "


def test_a_key_is_covered_from_its_first_line_on():
    masker = StreamMasker(build_default_masker().cover)
    body = "5ivIV6jwJW7kxKX8lyLY9mzMZanAN+boBO/cpCP0dqDQ1erER2fsFS3gtGT4huHU\n"

    shown = masker.add("It holds a key:\n-----BEGIN RSA PRIVATE KEY-----\n")
    shown += "".join(masker.add(body) for _ in range(20))

    assert shown.startswith("It holds a key:\n-----BEGIN RSA PRIVATE KEY-----")
    assert NOT_YET in shown or "[MASKED:private_key" in shown
    assert body[:16] not in shown
    assert masker.add("-----END RSA PRIVATE KEY-----\n\nAnd on ").endswith("And on ")


def test_a_key_that_is_only_spoken_of_hides_no_more_than_a_few_lines():
    masker = StreamMasker(build_default_masker().cover)

    masker.add("The file lacks its -----BEGIN RSA PRIVATE KEY----- line.\n\nSo nginx stops.\n\n")
    masker.add("It was changed at 08:00.\n\n")

    assert masker.add("Ask who did it.\n\nThen start ").endswith("Then start ")


def test_a_word_without_end_is_read_once():
    masker = StreamMasker(build_default_masker().cover)

    shown = [masker.add("abcd") for _ in range(200_000)]

    assert "".join(shown) == NOT_YET
    assert shown.index(NOT_YET) == MAX_WORD // 4
    assert masker.add("abcd more words") == " more "


def test_a_line_of_any_letters_or_blanks_is_judged_in_one_pass():
    for word in (
        "a" * 150 + "A",
        "A" * 150 + "a",
        "1" * 150 + "a",
        "aaAA" * 35 + "/A",
        "a" * 9 + "=",
    ):
        assert stream([f"{word}\n", "and more"]).endswith("\nand more")
    assert stream([" " * 8_000, "\n", "end"]).strip() == "end"


def test_a_block_without_end_is_looked_at_for_so_long_only():
    read: list[int] = []
    masker = StreamMasker(lambda text: read.append(len(text)) or [])

    shown = [masker.add(f"  {number}: {{}}\n") for number in range(20_000)]

    assert max(read) <= MAX_BLOCK
    assert "".join(shown).count(NOT_YET) == 1
    assert masker.add("\n\nAnd on ").endswith("And on ")


def test_nothing_more_is_shown_once_masking_failed(caplog):
    def fail(text):
        if "token" in text:
            raise MemoryError
        return []

    masker = StreamMasker(fail)

    assert masker.add("fine ") == "fine "
    assert masker.add("token=abc\n") == ""
    assert masker.add("and more words\n") == ""
    assert masker.finish() == ""
    assert "masking a stream failed" in caplog.text


def test_what_follows_the_end_is_not_shown():
    masker = StreamMasker(build_default_masker().cover)

    assert masker.add("It is fi") == "It is "
    assert masker.finish() == "fi"
    assert masker.add("ne now ") == ""
