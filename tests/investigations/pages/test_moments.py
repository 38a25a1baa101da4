"""Moments in what is said are told in the reader's own time; quotes and code keep theirs."""

import time
from html import unescape

import pytest

from investigations.notifications.messages import end_message
from investigations.rendering.markdown import render_markdown
from investigations.rendering.moments import localize, mark_moments
from tests.factories import SessionFactory
from tests.investigations.pages.conftest import REPORT

FENCE = "```sh\njournalctl --since '2026-11-30T12:50:01Z'\n```"
VERBATIM = [
    "`2026-11-30T12:50:01Z`", "``at ` 2026-11-30T12:50:01Z``", FENCE, "    2026-11-30T12:50:01Z",
    "~~~\nat 2026-11-30T12:50:01Z\n~~~", "> since 2026-11-30T12:50:01Z\nuntil 2026-11-30T12:51:01Z",
    'It says "full since 2026-11-30T12:50:01Z", no more.', "It says “at 2026-11-30T12:50:01Z”.",
    'It says "**full** since 2026-11-30T12:50:01Z".', "--since '2026-11-30T12:50:01Z'",
    "--since=2026-11-30T12:50:01Z", "[log](https://h/2026-11-30T12:50:01Z)",
    "https://h/2026-11-30T12:50:01Z", "2026-13-30T12:50:01Z", "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+02:00", "1970-01-01T00:00:00Z", "1970-01-01 00:00 UTC",
    "2026-11-30", "12:50", "x-2026-11-30T12:50:01Z", "2026-11-30T12:50:01", "<b>2026</b>",
    "2026-11-30T12:50:01Z/2026-11-30T12:51:01Z",
]  # fmt: skip


def element(at, shown):
    return f'<time datetime="{at}" data-kind="stamp" title="{shown}">{shown}</time>'


@pytest.fixture
def in_tokyo(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("written", "at", "shown"),
    [
        ("2026-11-30 12:50 UTC", "2026-11-30T12:50Z", "2026-11-30 12:50 UTC"),
        ("2026-11-30 12:50:01 UTC", "2026-11-30T12:50:01Z", "2026-11-30 12:50:01 UTC"),
        ("2026-11-30T12:50:58Z", "2026-11-30T12:50:58Z", "2026-11-30 12:50:58 UTC"),
        ("2026-11-30T12:50:01,5Z", "2026-11-30T12:50:01.5Z", "2026-11-30 12:50:01.5 UTC"),
        ("2026-11-30T14:50:01+02:00", "2026-11-30T12:50:01Z", "2026-11-30 12:50:01 UTC"),
    ],
)
def test_a_moment_is_an_element_as_exact_as_it_is_written(written, at, shown):
    assert mark_moments(f"<p>since {written}.</p>") == f"<p>since {element(at, shown)}.</p>"
    assert mark_moments(element(at, shown)) == element(at, shown)


@pytest.mark.parametrize("markdown", VERBATIM)
def test_what_is_code_a_quote_an_address_or_no_moment_stays_as_it_is(in_tokyo, markdown):
    html = render_markdown(markdown)

    assert mark_moments(html) == html
    assert localize(markdown) == markdown


def test_a_moment_beside_quotes_is_told_in_the_time_of_the_reader(in_tokyo):
    said = (
        'It said "full" at 2026-11-30T12:50:01Z, not "empty".\n\nAn inch is 1".\n\n'
        "- 2026-11-30 12:50 UTC"
    )

    assert mark_moments(render_markdown(said)).count("<time ") == 2
    assert localize(said) == said.replace(
        "2026-11-30T12:50:01Z", "2026-11-30 21:50:01 JST"
    ).replace("2026-11-30 12:50 UTC", "2026-11-30 21:50 JST")


def test_a_terminal_tells_the_time_of_its_machine_and_quotes_as_they_are(in_tokyo):
    said = (
        "Full since 2026-11-30 12:50 UTC, see `2026-11-30T12:50:01Z`."
        f' [T4 "2026-11-30T12:50:01Z E"]\n\n> at 2026-11-30T12:50:01Z\n\n{FENCE}\n'
    )

    assert localize(said) == said.replace("2026-11-30 12:50 UTC", "2026-11-30 21:50 JST")


def test_a_line_without_its_markdown_goes_to_slack_as_it_is():
    detail = "Full since 2026-11-30 12:50 UTC, says journalctl --since 2026-11-30T12:50:01Z."

    told = end_message(status="completed", title="x", detail=detail, link="http://h/")

    assert told.blocks[1]["text"]["text"] == detail


@pytest.mark.django_db
def test_a_copied_summary_has_commands_and_moments_as_they_are_written(viewer):
    report = REPORT.replace("on Monday.", "at 2026-11-30T12:50:01Z.").replace(
        "kubectl set", "journalctl --since '2026-11-30T12:50:01Z'; kubectl set"
    )
    session = SessionFactory(completed=True, final_analysis=report)

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()

    copied = unescape(page.split('id="summary-text"')[1].split("</div>")[0])
    assert "journalctl --since '2026-11-30T12:50:01Z'" in copied
    assert "changed the limit at 2026-11-30T12:50:01Z." in copied
    assert "<time" not in copied
    assert element("2026-11-30T12:50:01Z", "2026-11-30 12:50:01 UTC") in page
