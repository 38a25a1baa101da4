"""Texts that attack a page, in every place where text from outside stands, in a real browser."""

import json
from pathlib import Path

import pytest

from investigations.models import AlertSession, TimelineEvent
from investigations.stream_messages import timeline_event_created
from tests.factories import ExecutionFactory
from tests.investigations.pages.browsing import (
    in_a_browser,
    in_thread,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.conftest import REPORT, add_event, add_tool_call

pytestmark = in_a_browser

TEXTS: list[str] = json.loads((Path(__file__).parent / "hostile_texts.json").read_text())


@pytest.fixture
def hostile(running) -> AlertSession:
    """Each text as the answer of a model, as a tool's result and name and argument, and more."""
    writer = running.executions.get()
    caller = ExecutionFactory(stage=writer.stage, agent_name="caller", agent_index=2, active=True)
    for number, text in enumerate(TEXTS, start=2):
        add_event(writer, TimelineEvent.Type.LLM_RESPONSE, text)
        add_tool_call(
            caller, number, text, tool_name=text[:60], arguments={text[:40]: text},
            is_error=number % 5 == 0,
        )  # fmt: skip
    everything = "\n\n".join(TEXTS)
    AlertSession.objects.filter(pk=running.pk).update(
        alert_data=everything, title=TEXTS[0], author=TEXTS[1], alert_type=TEXTS[2][:200]
    )
    running.refresh_from_db()
    return running


def test_no_text_from_outside_runs_loads_or_leaves_its_place(hostile, page, stream):
    assert len(TEXTS) >= 60
    dialogs: list[str] = []
    foreign: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"/sessions/{hostile.pk}/")
    own = page.url.split("/sessions")[0]
    page.on("request", lambda r: foreign.append(r.url) if not r.url.startswith(own) else None)
    wait_until_live(page, stream)
    earlier = page.locator("[data-earlier]")
    while earlier.count():
        oldest = earlier.first.get_attribute("href")
        earlier.first.click()
        page.locator(f'[data-earlier][href="{oldest}"]').wait_for(state="detached")

    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    # The same by the stream, and as raw text in the place of the rendered one.
    for kind in (TimelineEvent.Type.LLM_RESPONSE, TimelineEvent.Type.ERROR):
        stream.send(in_thread(lambda kind=kind: _next(hostile, kind)))
    page.locator(".t-gate--bad").wait_for()
    page.locator("[data-raw]").first.click()
    page.locator(".t-out.is-raw").first.wait_for()
    # Whatever a text may have wanted to do on a key, a focus or with the pointer above it.
    page.evaluate(
        "for (const each of document.querySelectorAll('main *')) {"
        " for (const kind of ['mouseover', 'focus', 'animationstart', 'toggle'])"
        " each.dispatchEvent(new Event(kind)); }"
    )
    page.wait_for_load_state("networkidle")

    assert (dialogs, foreign) == ([], [])
    strange = "main :is(script, iframe, object, embed, base, link, meta, img, video, audio, math)"
    assert page.locator(strange).count() == 0
    assert page.locator("main .t-event :is(form, input, style, [style], [onclick])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#T2").count() == 1
    assert page.locator("main").evaluate("e => e.parentElement === document.body")


@pytest.fixture
def endless(finished) -> AlertSession:
    """A report with a table of many columns where a line is meant, and a word as long as a book."""
    cells = [f"column-{number}" for number in range(60)]
    table = "\n".join(f"|{'|'.join(row)}|" for row in (cells, ["-"] * 60, cells))
    word = "x" * 100_000
    report = REPORT.replace("basket service", word).replace("changed the limit", word)
    AlertSession.objects.filter(pk=finished.pk).update(final_analysis=f"{report}\n\n{table}\n")
    return finished


def test_a_word_without_end_and_a_table_of_many_columns_are_scrolled_in_their_place(endless, page):
    page.goto(f"/sessions/{endless.pk}/")

    assert page.locator(".t-next table").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".t-concl").evaluate("e => e.offsetHeight < 4 * innerHeight")


def _next(session, kind):
    event = add_event(session.executions.first(), kind, "\n\n".join(TEXTS))
    return message_of(timeline_event_created(event), event.sequence_number)
