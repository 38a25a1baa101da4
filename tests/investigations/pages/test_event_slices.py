"""Ways to what a page does not show: search, one event by its name, the whole as a document."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from django.db import connection
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext

from investigations.models import AgentExecution, AlertSession, TimelineEvent
from investigations.selectors.session_page import event_slices
from investigations.selectors.session_page import page as pages
from tests.factories import ExecutionFactory, SessionFactory, TimelineEventFactory
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db


def search(viewer, session, words: str) -> list[str]:
    answer = viewer.get(f"/sessions/{session.pk}/search/", {"q": words}).json()
    return [hit["anchor"] for hit in answer["hits"]]


def test_search_looks_into_texts_tools_arguments_results_and_the_alert(viewer, running):
    execution = running.executions.get()
    call = add_tool_call(
        execution, 7, "line one\nOOMKilled", tool_name="logs", arguments={"grep": 'a "b" \\ ü'}
    )
    thought = add_event(execution, TimelineEvent.Type.LLM_THINKING, "100% of OOM_Killed\nlogs")
    running.alert_data = "logs of the node"
    running.save(update_fields=["alert_data"])
    of_call, of_thought = f"e-{call.sequence_number}", f"e-{thought.sequence_number}"

    assert search(viewer, running, "oomkilled") == [of_call]
    assert search(viewer, running, "OOM_Killed") == [of_thought]
    assert search(viewer, running, "100%") == [of_thought]
    for inside in ('a "b"', '"b" \\', "Ü"):
        assert search(viewer, running, inside) == [of_call], inside
    assert search(viewer, running, "logs") == ["alert", of_call, of_thought]
    assert search(viewer, running, "nowhere") == []
    assert search(viewer, running, "  ") == []


def test_search_names_no_event_that_is_shown_as_the_finding_below_it(viewer, running):
    execution = running.executions.get()
    add_event(execution, TimelineEvent.Type.LLM_RESPONSE, "the one cause", is_final=True)
    finding = add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, "the one cause")

    assert search(viewer, running, "one cause") == [f"e-{finding.sequence_number}"]


def test_a_search_with_very_many_hits_says_that_there_are_more(viewer, running, monkeypatch):
    monkeypatch.setattr(event_slices, "MOST_HITS", 2)
    for number in range(2, 5):
        add_tool_call(running.executions.get(), number, "the same")

    answer = viewer.get(f"/sessions/{running.pk}/search/", {"q": "the same"}).json()

    assert len(answer["hits"]) == 2
    assert answer["has_more"] is True


def test_a_name_leads_to_an_event_of_its_own_session_only(viewer, running, finished):
    call = add_tool_call(running.executions.get(), 7)
    path = f"/sessions/{running.pk}/place/"

    for name in ("T7", f"e-{call.sequence_number}"):
        assert viewer.get(path, {"at": name}).json()["place"] == {
            "seq": call.sequence_number, "execution_id": str(call.execution_id), "anchor": name,
        }  # fmt: skip
    for name in ("T8", "e-999", "x", "T", "T٧", ""):
        assert viewer.get(path, {"at": name}).json() == {"place": None}
    assert viewer.get(f"/sessions/{finished.pk}/place/", {"at": "T7"}).json() == {"place": None}


def test_earlier_events_of_another_sessions_agent_are_not_found(viewer, running, finished):
    other = ExecutionFactory(stage=finished.stages.get())

    answer = viewer.get(f"/sessions/{running.pk}/executions/{other.pk}/earlier/?before=9")

    assert answer.status_code == 404


def test_a_session_is_exported_whole_and_without_what_is_only_for_workers(viewer, finished):
    answer = viewer.get(f"/sessions/{finished.pk}/export/")

    assert answer["Content-Disposition"] == f'attachment; filename="tarsy-{finished.pk}.json"'
    text = answer.getvalue().decode()
    document = json.loads(text)
    assert set(document) == {
        "version", "session", "stages", "executions", "approvals", "timeline",
    }  # fmt: skip
    assert document["session"]["final_analysis"] == finished.final_analysis
    seqs = [event["sequence_number"] for event in document["timeline"]]
    assert seqs == sorted(seqs)
    assert len(seqs) == finished.timeline_events.count()
    assert "lease_token" not in text


def test_an_export_of_many_rows_has_each_of_them_once_and_in_order(viewer, finished, monkeypatch):
    monkeypatch.setattr("investigations.selectors.export.ROWS_AT_ONCE", 2)
    for _ in range(5):
        TimelineEventFactory(execution__stage__session=finished, sequence_number=900)

    document = json.loads(viewer.get(f"/sessions/{finished.pk}/export/").getvalue())

    events = [event["id"] for event in document["timeline"]]
    assert len(events) == len(set(events)) == finished.timeline_events.count()
    assert len(document["executions"]) == finished.executions.count()


@pytest.mark.django_db(transaction=True)
async def test_under_asgi_a_session_is_exported_in_pieces_too(settings):
    settings.TARSY_AUTH = "none"
    session = await AlertSession.objects.acreate(alert_type="k", alert_data="{}", chain_id="k")

    answer = await AsyncClient().get(f"/sessions/{session.pk}/export/")
    pieces = [piece async for piece in answer.streaming_content]

    assert len(pieces) > 1
    assert json.loads(b"".join(pieces))["session"]["id"] == str(session.pk)


def test_a_deleted_session_is_neither_searched_nor_exported_nor_anybodys_neighbour(viewer):
    older, gone, newer = (SessionFactory(completed=True) for _ in range(3))
    for day, session in enumerate((older, gone, newer), start=1):
        session.created_at = f"2020-01-0{day}T00:00:00Z"
        session.save()
    gone.deleted_at = gone.completed_at
    gone.save()

    for part in ("search/?q=a", "export/", "place/?at=T1"):
        assert viewer.get(f"/sessions/{gone.pk}/{part}").status_code == 404
    found = event_slices.find_neighbours(newer)
    assert (found.before, found.after) == (older.pk, None)


# ---- While events come --------------------------------------------------------------------------


@pytest.fixture
def long_feed(monkeypatch) -> AgentExecution:
    """An agent with more events than the page carries of it."""
    monkeypatch.setattr(pages, "LATEST", 4)
    monkeypatch.setattr(pages, "FEWEST", 4)
    return ExecutionFactory(active=True)


@pytest.mark.parametrize("events", [0, 3, 4, 5, 9])
def test_what_a_page_leaves_out_is_counted_right_whenever_an_event_comes(long_feed, events):
    for number in range(events):
        add_event(long_feed, TimelineEvent.Type.LLM_THINKING, f"thought {number}")

    for asked in range(_queries_of_agent(long_feed)):
        with _event_after_query(long_feed, asked):
            view = pages.read_agent(long_feed.session_id, long_feed.pk)

        assert view is not None
        older = long_feed.timeline_events.filter(sequence_number__lt=view.oldest).count()
        assert view.earlier == older, f"with an event after query {asked}"


def _queries_of_agent(execution: AgentExecution) -> int:
    with CaptureQueriesContext(connection) as asked:
        pages.read_agent(execution.session_id, execution.pk)
    return len(asked)


@contextmanager
def _event_after_query(execution: AgentExecution, place: int) -> Iterator[None]:
    """The worker writes another event just after the query of this place was answered."""
    seen = count()

    def write_behind(execute, sql, params, many, context):
        answer = execute(sql, params, many, context)
        if next(seen) == place:
            add_event(execution, TimelineEvent.Type.LLM_THINKING, "meanwhile")
        return answer

    with connection.execute_wrapper(write_behind):
        yield
