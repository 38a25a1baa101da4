"""Moments in what is said are told in the reader's own time; quotes and code keep theirs."""

import time

import pytest

from investigations.notifications.messages import TEXT_LIMIT, end_message
from investigations.rendering.markdown import render_markdown
from investigations.rendering.moments import for_slack, localize, mark_moments

ELEMENT = (
    '<time datetime="2026-11-30T12:50:00Z" data-kind="stamp" title="2026-11-30 12:50 UTC">'
    "2026-11-30 12:50 UTC</time>"
)


@pytest.fixture
def in_tokyo(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-30 12:50 UTC", "2026-11-30 12:50:01 UTC", "2026-11-30T12:50:01Z",
        "2026-11-30T12:50:01.123456Z", "2026-11-30T14:50:01+02:00",
    ],
)  # fmt: skip
def test_a_moment_is_an_element_that_the_script_writes_in_local_time(written):
    assert mark_moments(f"<p>since {written}.</p>") == f"<p>since {ELEMENT}.</p>"
    assert mark_moments(ELEMENT) == ELEMENT


@pytest.mark.parametrize(
    "markdown",
    [
        "`2026-11-30T12:50:01Z`", "[log](https://h/2026-11-30T12:50:01Z)", "2026-13-30T12:50:01Z",
        "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+02:00", "1970-01-01T00:00:00Z",
        "2026-11-30", "12:50", "x-2026-11-30T12:50:01Z", "2026-11-30T12:50:01", "<b>2026</b>",
    ],
)  # fmt: skip
def test_what_is_code_an_address_or_no_moment_stays_as_it_is(markdown):
    html = render_markdown(markdown)

    assert mark_moments(html) == html


def test_a_terminal_tells_the_time_of_its_machine_and_quotes_as_they_are(in_tokyo):
    said = (
        'Full since 2026-11-30 12:50 UTC, see `2026-11-30T12:50:01Z`. [T4 "2026-11-30T12:50:01Z E"]'
    )

    assert localize(said) == said.replace("2026-11-30 12:50 UTC", "2026-11-30 21:50 JST")


@pytest.mark.parametrize("zero", ["0001-01-01T00:00:00Z", "1970-01-01 00:00 UTC"])
def test_the_zero_of_a_clock_is_no_time_of_anybody(in_tokyo, zero):
    assert localize(f"Ended {zero}.") == f"Ended {zero}."
    assert for_slack(f"Ended {zero}.", 100) == f"Ended {zero}."


def test_slack_tells_each_reader_their_own_time_within_its_limit():
    detail = 'Full since 2026-11-30 12:50 UTC & more. [T4 "2026-11-30T12:50:01Z E"]'

    told = end_message(status="completed", title="x", detail=detail, link="http://h/")

    assert told.blocks[1]["text"]["text"] == (
        "Full since <!date^1796043000^{date_short_pretty} {time}|2026-11-30 12:50 UTC> &amp; more. "
        '[T4 "2026-11-30T12:50:01Z E"]'
    )
    many = end_message(status="completed", title="x", detail=f"{detail} " * 200, link="http://h/")
    assert len(many.blocks[1]["text"]["text"]) <= TEXT_LIMIT
