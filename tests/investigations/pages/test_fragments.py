import re

import pytest

from investigations.models import Stage, TimelineEvent
from investigations.stream.fragments import fragment_for, fragments_for
from investigations.stream_messages import (
    execution_status,
    interaction_created,
    session_status,
    stage_status,
    timeline_event_completed,
    timeline_event_created,
)
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db


def _fragment(payload):
    return fragment_for(payload)


def _ids(html):
    return re.findall(r'\bid="([^"]+)"', html)


def _without_times(html):
    return re.sub(r"<time.*?</time>", "", html)


def test_an_event_of_the_stream_looks_like_the_same_event_of_the_page(viewer, running):
    page = _without_times(viewer.get(f"/sessions/{running.pk}/").content.decode())

    for event in running.timeline_events.all():
        row, *count = _fragment(timeline_event_completed(event)).partition('<span id="tools-')
        assert _without_times(row).strip() in page
        assert "".join(count) in page


def test_a_new_event_says_where_it_goes(running):
    execution = running.executions.get()
    event = add_event(execution, TimelineEvent.Type.LLM_THINKING, "Hm.")

    html = _fragment(timeline_event_created(event))

    assert f'id="e-{event.sequence_number}"' in html
    assert f'data-into="feed-{execution.pk}"' in html


@pytest.mark.parametrize("kind", ["llm_thinking", "llm_response", "error", "notice"])
def test_a_call_that_an_event_names_is_a_link_in_the_stream_too(running, kind):
    event = add_event(running.executions.get(), kind, "As [T1] says, unlike [T99].")

    html = _fragment(timeline_event_completed(event))

    assert 'href="#T1"' in html
    assert "[T1]" not in html
    assert 'href="#T99"' not in html


def test_an_error_that_the_page_tells_at_its_top_points_there_in_the_stream_too(viewer):
    session = SessionFactory(failed=True)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True), failed=True)
    event = add_event(execution, TimelineEvent.Type.ERROR, session.error_message)

    html = _fragment(timeline_event_completed(event))

    assert "The reason stands at the top" in html
    assert html.strip() in viewer.get(f"/sessions/{session.pk}/").content.decode()
    alone = viewer.get(f"/sessions/{session.pk}/events/{event.pk}/").content.decode()
    assert alone.strip() == html.strip()


def test_a_report_by_code_is_called_that_and_not_a_finding_at_a_limit(running):
    facts = {"forced_conclusion": True, "max_iterations": 20, "written_by_code": True}
    event = add_event(
        running.executions.get(), TimelineEvent.Type.FINAL_ANALYSIS, "T1 said so.", **facts
    )

    html = _fragment(timeline_event_completed(event))

    assert "written by code: no conclusion of the model could be had" in html
    assert "stopped at the limit" not in html


def test_a_finished_event_takes_the_place_of_its_beginning(running):
    event = running.timeline_events.get(event_type="llm_response")
    before = _fragment(timeline_event_created(event))
    TimelineEvent.objects.filter(pk=event.pk).update(status="completed", content="The pod *died*.")

    after = _fragment(timeline_event_completed(event))

    assert "data-stream" in before
    assert "data-stream" not in after
    assert _ids(before) == _ids(after)


def test_a_status_of_a_stage_brings_its_head_the_trail_and_what_is_waited_for(running):
    stage = running.stages.get()

    ids = _ids(_fragment(stage_status(stage)))

    assert {f"stage-{stage.pk}-head", "trail", "conclusion"} <= set(ids)


def test_a_status_of_an_agent_brings_the_head_of_its_column(running):
    execution = running.executions.get()

    assert f"agent-{execution.pk}-head" in _ids(_fragment(execution_status(execution)))


def test_a_status_of_the_session_brings_its_head_and_the_conclusion(finished):
    html = _fragment(session_status(finished.pk, "completed"))

    assert {"session-head", "facts", "conclusion"} <= set(_ids(html))
    assert "The basket service passes its memory limit." in html


def test_what_changes_nothing_on_the_page_has_no_fragment(running):
    payload = interaction_created(running.executions.get(), running.pk, "llm")

    assert _fragment(payload) is None


def test_what_is_gone_has_no_fragment(running):
    stage = running.stages.get()
    payload = stage_status(stage)
    Stage.objects.filter(pk=stage.pk).delete()

    assert _fragment(payload) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "<b hx-get='/x' hx-trigger='load'>x</b>",
        "</summary></details><script>alert(1)</script>",
    ],
)
@pytest.mark.parametrize("place", ["content", "tool_name", "arguments", "thinking", "error"])
def test_text_from_outside_stays_text_wherever_it_stands(running, hostile, place):
    execution = running.executions.get()
    if place == "thinking":
        event = add_event(execution, TimelineEvent.Type.LLM_THINKING, hostile)
    elif place == "error":
        event = add_event(execution, TimelineEvent.Type.ERROR, hostile)
    else:
        values = {"content": hostile, "tool_name": "query", "arguments": {"a": "b"}}
        values[place] = {hostile: hostile} if place == "arguments" else hostile
        event = add_tool_call(execution, 2, values.pop("content"), **values)

    html = _fragment(timeline_event_completed(event))

    assert "<script" not in html
    assert "<img" not in html
    assert "<b hx-get" not in html


def test_template_language_from_outside_is_not_run(running):
    event = add_tool_call(running.executions.get(), 2, "{{ 7|add:7 }} {% now 'Y' %}")

    html = _fragment(timeline_event_completed(event))

    assert "{{ 7|add:7 }} {% now &#x27;Y&#x27; %}" in html


def test_many_messages_are_made_into_the_same_fragments_with_few_queries(
    running, django_assert_max_num_queries
):
    execution = running.executions.get()
    events = [
        add_event(execution, TimelineEvent.Type.LLM_RESPONSE, f"Answer {n}.") for n in range(20)
    ]
    stage = running.stages.get()
    messages = [
        *map(timeline_event_created, events),
        *map(timeline_event_completed, events),
        stage_status(stage),
        execution_status(execution),
        session_status(running.pk, "in_progress"),
        interaction_created(execution, execution.pk, "llm"),
    ]
    alone = [fragment_for(message) for message in messages]

    with django_assert_max_num_queries(40):
        together = fragments_for(messages)

    assert [_without_times(each or "") for each in together] == [
        _without_times(each or "") for each in alone
    ]
    assert "Answer 19." in together[39]
    assert together[-1] is None
