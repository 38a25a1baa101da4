"""*Check now*: a read of ours through the executor and the gate, and what it changes."""

from types import SimpleNamespace

import pytest
from django.test import Client

from agents.types import ToolCall
from investigations.engine.write_checks import check_write
from investigations.models import AlertSession, AuditEvent, MCPInteraction, TimelineEvent
from investigations.selectors.open_writes import read_writes_to_tell
from investigations.services.write_checks import ask_for_write_check, read_write
from investigations.stream.fragments import fragment_for
from tarsy.errors import Conflict, NotFound
from tests.factories import (
    ExecutionFactory,
    ResourceNoteFactory,
    SessionFactory,
    StageFactory,
    UserFactory,
)
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db(transaction=True)

HOST = "host:db-2"
NOTE = "Fills on Mondays."
REPORT = (
    "**Unverified:** ops.knowledge has run on `host:db-2`, and nothing has looked at it.\n\n"
    "**Changed:** ops.knowledge has run on `host:db-2` [T1]; nobody was asked; not verified.\n\n"
    "## Conclusion\nNothing was changed. Confidence: high\n\n## Evidence\n"
    '1. It was asked for [T1 "kept"].\n'
)
STEP = {
    "tool": "ops.knowledge", "target": HOST, "status": "unverified",
    "reason": "nothing has looked at it", "is_settled": False, "ran": "yes",
}  # fmt: skip


@pytest.fixture
def written(reconfigure) -> AlertSession:
    """A session whose only write nothing has confirmed."""
    reconfigure(
        "agents:\n  Any: {custom_instructions: x}\n"
        "agent_chains:\n  any: {alert_types: [Any], stages: [{name: a, agents: [{name: Any}]}]}\n"
        "mcp_servers:\n  ops: {transport: {type: in_process}}\n"
    )
    session = SessionFactory(completed=True, final_analysis=REPORT)
    execution = ExecutionFactory(
        stage=StageFactory(session=session, completed=True), completed=True
    )
    arguments = {"action": "remember", "resource_id": HOST, "note": NOTE}
    add_tool_call(
        execution, 1, '{"ok": true, "data": {"kept": true}}', tool_name="knowledge",
        arguments=arguments, may_write=True, tool_call_id="call_1",
        writes={"at": 1, "steps": [STEP]},
    )  # fmt: skip
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, REPORT)
    return session


def test_a_look_that_confirms_a_write_takes_the_panel_away(written, loop, client: Client):
    client.force_login(UserFactory())
    page = client.get(f"/sessions/{written.pk}/").content.decode()
    assert "Something was changed, and nothing has confirmed it" in page
    assert "Unverified write</span>" in page
    assert "data-check" in page
    assert "The report says “Nothing was changed" in page
    ResourceNoteFactory(resource_id=HOST, text=NOTE)

    check_write(written.pk, 1, loop)

    assert list(read_writes_to_tell(written.pk).open_writes) == []
    event = TimelineEvent.objects.get(metadata__check_of=1)
    assert event.metadata["verification"]["status"] == "verified"
    assert MCPInteraction.objects.get(tool_result__check_of=1).tool_name == "knowledge"
    written.refresh_from_db()
    assert "**Unverified:**" not in written.final_analysis
    assert "; verified: " in written.final_analysis
    told = fragment_for({"type": "session.status", "session_id": str(written.pk)}) or ""
    assert "nothing has confirmed it" not in told
    # What the report denies was done all the same.
    assert "The report contradicts what was done" in told
    assert 'data-word="Completed." data-tone="doubt"' in told


def test_a_look_that_shows_otherwise_says_so(written, loop):
    check_write(written.pk, 1, loop)

    (still_open,) = read_writes_to_tell(written.pk).open_writes
    assert still_open.kind == "failed"
    assert still_open.reason != STEP["reason"]
    written.refresh_from_db()
    assert "**Unverified:**" in written.final_analysis
    assert TimelineEvent.objects.filter(metadata__check_of=1).count() == 1


def test_a_look_keeps_how_many_older_writes_are_left_out(written, loop):
    call = TimelineEvent.objects.get(metadata__tool_number=1)
    call.metadata["writes"]["left_out"] = 3
    call.save()

    check_write(written.pk, 1, loop)

    event = TimelineEvent.objects.get(metadata__check_of=1)
    assert event.metadata["writes"]["left_out"] == 3
    written.refresh_from_db()
    assert "Before it came 3 writes more" in written.final_analysis


@pytest.mark.parametrize(
    ("failure", "told"), [(TimeoutError(), "longer than 60 s"), (RuntimeError(), "itself failed")]
)
def test_a_look_that_fails_is_told_too(written, loop, monkeypatch, failure, told):
    async def fail(*_: object) -> str:
        raise failure

    monkeypatch.setattr("investigations.engine.write_checks._look", fail)

    check_write(written.pk, 1, loop)

    assert told in TimelineEvent.objects.get(event_type=TimelineEvent.Type.NOTICE).content


def test_where_nobody_can_look_the_timeline_says_why(written, loop, monkeypatch):
    monkeypatch.setattr(
        "investigations.engine.write_checks.get_config", lambda: SimpleNamespace(mcp_servers={})
    )

    check_write(written.pk, 1, loop)

    notice = TimelineEvent.objects.get(event_type=TimelineEvent.Type.NOTICE)
    assert notice.content == 'T1 could not be looked at: the server "ops" is no longer configured.'
    assert len(read_writes_to_tell(written.pk).open_writes) == 1


def test_only_an_open_write_is_looked_at_and_who_asked_is_kept(written, monkeypatch, clean_redis):
    asked: list[tuple[object, int]] = []
    monkeypatch.setattr(
        "investigations.services.write_checks.enqueue_write_check",
        lambda session_id, number, expires_in: asked.append((session_id, number)),
    )
    with pytest.raises(NotFound):
        ask_for_write_check(written.pk, 2, "ana")
    workers: list[object] = []
    monkeypatch.setattr("investigations.services.write_checks.live_workers", lambda: workers)
    with pytest.raises(Conflict, match="No worker"):
        ask_for_write_check(written.pk, 1, "ana")
    workers.append(object())

    ask_for_write_check(written.pk, 1, "ana")

    assert asked == [(written.pk, 1)]
    act = AuditEvent.objects.get(action="write.check")
    assert (act.actor, act.details) == ("ana", {"call": "T1"})
    with pytest.raises(Conflict, match="just now"):
        ask_for_write_check(written.pk, 1, "ben")
    known = read_write(written.pk, 1)
    assert known is not None
    assert known[1] == ToolCall("call_1", "ops__knowledge", known[1].arguments)
