"""A wait for a model provider, on the page as it is loaded and as it comes by the stream."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from investigations.models import AlertSession, TimelineEvent
from investigations.rendering.terminal import describe
from investigations.selectors.session_list.running import read_running
from investigations.stream.fragments import fragment_for
from investigations.stream_messages import timeline_event_completed, timeline_event_created
from tests.factories import ExecutionFactory
from tests.investigations.pages.conftest import add_event

pytestmark = pytest.mark.django_db

REASON = "The provider lab (model lab-1) answered 429. It asks to wait 90 s."


def add_wait(execution, status="streaming", content=REASON, **metadata):
    until = datetime.now(UTC) + timedelta(seconds=90)
    known = {
        "about": "provider_wait", "provider": "lab", "model": "lab-1", "wait": "90 s",
        "wait_seconds": 90.0, "until": until.isoformat(),
    }  # fmt: skip
    kind = TimelineEvent.Type.NOTICE
    return add_event(execution, kind, content, status, **{**known, **metadata})


def read(viewer, session):
    return viewer.get(f"/sessions/{session.pk}/").content.decode()


def piece(html, pattern):
    found = re.search(pattern, html, re.DOTALL)
    return found[0] if found else ""


def strip_of(html):
    return piece(html, r'<div[^>]*id="provider-waits".*?</div>')


def test_what_is_waited_for_stands_on_the_card_above_the_page_and_in_the_timeline(viewer, running):
    execution = running.executions.get()
    event = add_wait(execution)

    page = read(viewer, running)

    card = piece(page, rf'<summary[^>]*id="agent-{execution.pk}-head".*?</summary>')
    line = piece(page, rf'<article[^>]*id="e-{event.sequence_number}".*?</article>')
    strip = strip_of(page)
    assert "inspector: the provider lab asks to wait 90 s" in strip
    assert "Provider asks to wait 90 s" in card
    assert "<b>Provider asks to wait 90 s.</b>" in line
    assert REASON in line
    for each in (card, line, strip):
        assert 'data-kind="left"' in each
        assert "aria-live" not in each


def test_a_wait_that_is_over_is_one_line(viewer, running):
    told = f"{REASON} After that it was asked again."
    event = add_wait(running.executions.get(), "completed", told)

    page = read(viewer, running)

    line = piece(page, rf'<article[^>]*id="e-{event.sequence_number}".*?</article>')
    assert "<b>Provider asked to wait 90 s.</b>" in line
    assert told in line
    assert "hidden" in strip_of(page)
    assert 'data-kind="left"' not in page


@pytest.mark.parametrize("until", ["", "soon", "2026-13-45", "2026-01-01T00:00:00", None])
def test_a_wait_whose_end_cannot_be_read_breaks_no_page(viewer, running, until):
    add_wait(running.executions.get(), until=until)

    page = read(viewer, running)

    assert REASON in page
    assert "hidden" in strip_of(page)


def test_of_many_agents_that_wait_the_strip_names_three(viewer, running):
    stage = running.stages.get()
    for index in range(2, 7):
        add_wait(ExecutionFactory(stage=stage, agent_name=f"agent-{index}", active=True))

    strip = strip_of(read(viewer, running))

    assert strip.count("asks to wait 90 s") == 3
    assert "2 more agents wait as well." in strip


def test_the_stream_brings_the_countdowns_and_takes_them_away(running):
    execution = running.executions.get()
    event = add_wait(execution)

    begun = fragment_for(timeline_event_created(event))
    TimelineEvent.objects.filter(pk=event.pk).update(status="completed")
    ended = fragment_for(timeline_event_completed(event))

    for html in (begun, ended):
        places = (f"e-{event.sequence_number}", f"agent-{execution.pk}-head", "provider-waits")
        assert all(f'id="{place}"' in html for place in places)
    assert begun.count('data-kind="left"') == 3
    assert 'data-kind="left"' not in ended


def test_the_trace_and_the_terminal_tell_of_a_wait(viewer, running):
    event = add_wait(running.executions.get())
    trace = viewer.get(f"/sessions/{running.pk}/trace/").content.decode()
    told = describe(timeline_event_created(event))
    TimelineEvent.objects.filter(pk=event.pk).update(status="completed")
    later = viewer.get(f"/sessions/{running.pk}/trace/").content.decode()

    assert "<b>Waits for the provider.</b>" in trace
    assert REASON in trace
    assert "<b>Waited for the provider.</b>" in later
    assert told == f"   … {REASON}"


def test_news_of_tool_servers_come_with_the_card_that_names_what_is_missing(running):
    execution = running.executions.get()
    notice = add_event(
        execution, TimelineEvent.Type.NOTICE, "metrics is available now.", about="tools"
    )

    html = fragment_for(timeline_event_created(notice))

    assert f'id="e-{notice.sequence_number}"' in html
    assert f'id="agent-{execution.pk}-head"' in html


def test_a_running_row_of_the_list_says_what_is_waited_for(running):
    event = add_wait(running.executions.get())

    waiting = read_running()[0].step
    TimelineEvent.objects.filter(pk=event.pk).update(status="completed")

    assert waiting == "waits as long as its model provider asks"
    assert read_running()[0].step == "writing"
    assert AlertSession.objects.count() == 1
