"""Fencing, coalescing, repetition and reports: whatever the text, these hold."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.fencing import fence
from agents.repetition import RepetitionWatch, find_repetition
from agents.report import parse_report
from agents.streaming import Coalescer

OPENED = re.compile(r"\A<<<outside ([0-9a-f]{16}) [^\n]*>>>\n")
NASTY = st.lists(
    st.sampled_from(["<<<", "<", "outside ", "end ", "END outside", ">>>", "\n", "0f", " ", "x"])
).map("".join)


@given(st.text() | NASTY, st.text() | NASTY)
def test_text_cannot_close_its_own_fence(text, label):
    fenced = fence(text, label)

    opened = OPENED.match(fenced)
    assert opened is not None
    token = opened.group(1)
    assert fenced.count(token) == 2
    assert fenced.endswith(f"\n<<<end outside {token}>>>")
    assert len(re.findall(r"<<<\s*(?:end\s+)?outside", fenced, re.IGNORECASE)) == 2


def test_text_without_markers_is_kept_as_it_is():
    assert "\na <<< b\n" in fence("a <<< b", "x")


def test_a_fence_that_was_seen_before_is_of_no_use_in_another():
    earlier = fence("data", "x")

    assert earlier not in fence(earlier, "x")


@given(st.lists(st.text(max_size=20)), st.integers(0, 3))
def test_shown_deltas_join_to_the_whole_text_at_their_offsets(parts, pause_after):
    shown: list[tuple[int, str]] = []

    async def stream():
        coalescer = Coalescer(lambda offset, delta: shown.append((offset, delta)), interval=0)
        for number, part in enumerate(parts):
            coalescer.add(part)
            if number % 4 == pause_after:
                await asyncio.sleep(0)
        coalescer.finish()

    asyncio.run(stream())

    text = ""
    for offset, delta in shown:
        assert offset == len(text)
        text += delta
    assert text == "".join(parts)


async def test_a_burst_is_shown_in_two_pieces():
    shown: list[tuple[int, str]] = []
    coalescer = Coalescer(lambda offset, delta: shown.append((offset, delta)), interval=60)

    for word in ("one ", "two ", "three"):
        coalescer.add(word)
    coalescer.finish()

    assert shown == [(0, "one "), (4, "two three")]


async def test_text_that_waits_is_shown_although_nothing_follows():
    shown: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
    coalescer = Coalescer(lambda offset, delta: shown.put_nowait((offset, delta)), interval=0.01)

    coalescer.add("one ")
    coalescer.add("two")

    assert await asyncio.wait_for(shown.get(), 5) == (0, "one ")
    assert await asyncio.wait_for(shown.get(), 5) == (4, "two")


async def test_an_error_of_a_late_delta_reaches_whoever_adds_next():
    failed = asyncio.Event()

    def show(offset, delta):
        if offset:
            failed.set()
            raise ValueError("gone")

    coalescer = Coalescer(show, interval=0.01)
    coalescer.add("one ")
    coalescer.add("two")
    await asyncio.wait_for(failed.wait(), 5)

    with pytest.raises(ValueError, match="gone"):
        coalescer.add("three")


@given(st.text(alphabet="abcdefghij ", min_size=30, max_size=120), st.text(max_size=200))
def test_five_copies_are_noticed_and_cut_to_one(unit, before):
    text = before + unit * 60

    cut = find_repetition(text)

    if re.search(r"\w", unit):
        assert cut is not None
        # At most one copy stands; the window does not reach further back than 6000 characters.
        assert cut <= max(len(before), len(text) - 6000) + 2 * len(unit)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{n}. pod-{n} restarted {n * 7} times on node-{n % 3}" for n in range(300)),
        "| a | b |\n" + "-" * 6000,
        " " * 6000,
        "short " * 3,
    ],
)
def test_lists_tables_and_rulers_are_no_repetition(text):
    assert find_repetition(text) is None


def test_a_growing_text_is_stopped_within_two_checks_of_its_first_repetitions():
    watch = RepetitionWatch()
    watch.add("Something new at first:\n")

    stopped_after = next(
        number for number in range(1000) if watch.add("I should check the pods again now. ")
    )

    assert stopped_after < 4000 / 30
    assert watch.text == "Something new at first:\nI should check the pods again now. "


REPORT = """\
# Report

## 1. Conclusion
The disk **/var** is full because logs grew. **Confidence:** high

## Evidence
1. /var is 94 % used [T1].
   See also [T2, T3].

   ```
   ## not a heading
   - not an item
   ```
2) The alert says 95 % (alert).

**Next steps:**
- Rotate the logs.

## Not checked
Nothing.

### Ruled out
* Inodes are free [t4]

## Appendix
- unrelated
"""


def test_a_report_is_taken_apart():
    report = parse_report(REPORT)

    assert report is not None
    assert report.conclusion == "The disk **/var** is full because logs grew."
    assert report.confidence == "high"
    assert [claim.refs for claim in report.claims] == [(1, 2, 3), ()]
    assert "not an item" in report.claims[0].text
    assert report.refs == (1, 2, 3)
    assert report.next_steps == ("Rotate the logs.",)
    assert report.not_checked == ()
    assert report.ruled_out == ("Inodes are free [t4]",)


@pytest.mark.parametrize(
    "text", ["", "The disk is full.", "## Evidence\n1. x", "## Conclusion\n\n"]
)
def test_a_text_without_a_conclusion_is_no_report(text):
    assert parse_report(text) is None


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        ("It broke. Confidence: LOW", "low"),
        ("It broke (confidence: 80 %).", "high"),
        ("It broke. Confidence is medium.", "medium"),
        ("With moderate confidence, it broke.", "medium"),
        ("It broke. *Confidence*: 10%", "low"),
        ("It broke.", ""),
    ],
)
def test_confidence_is_understood_in_many_ways(said, confidence):
    report = parse_report(f"## Conclusion\n{said}")

    assert report is not None
    assert report.confidence == confidence


@given(st.text() | NASTY | st.text(alphabet="#*[]T1-. \n`"))
def test_any_text_can_be_read(text):
    parse_report(text)
    parse_report(f"## Conclusion\nx\n## Evidence\n{text}")


def test_the_reason_for_a_confidence_is_no_part_of_the_conclusion():
    report = parse_report(
        "## Conclusion\nThe disk is full [T1]. Confidence: high (measured by the calls below)\n"
    )

    assert report is not None
    assert (report.conclusion, report.confidence) == ("The disk is full [T1].", "high")
