"""What holds of the rows at every moment, whatever happened before."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from config import get_config
from investigations.models import (
    AgentExecution,
    AlertSession,
    Event,
    Message,
    Stage,
    TimelineEvent,
)

TERMINAL = frozenset(Stage.TERMINAL)


def check_promises(forgotten: Collection[uuid.UUID] = ()) -> None:
    """Raise AssertionError if any promise is broken; `forgotten` may have lost old events.

    Each table is read once: it is asked after every step.
    """
    sessions = list(AlertSession.objects.defer("alert_data"))
    seqs = _group(Event.objects.order_by("seq").values_list("session_id", "seq"))
    timeline = _group(
        TimelineEvent.objects.order_by("sequence_number").values_list(
            "session_id", "sequence_number", "event_type", "status", "metadata", "execution_id"
        )
    )
    stages = _group(
        Stage.objects.order_by("stage_index").values_list(
            "session_id", "stage_index", "stage_type", "status"
        )
    )
    for session in sessions:
        _check_stream(session, [seq for (seq,) in seqs[session.pk]], session.pk not in forgotten)
        _check_timeline(session, timeline[session.pk])
        _check_stages(session, stages[session.pk])
    _check_executions(timeline)
    _check_messages()
    running = [session for session in sessions if session.status in AlertSession.ACTIVE]
    assert len(running) <= get_config().queue.max_concurrent_sessions


def _group(rows: Iterable[tuple[Any, ...]]) -> dict[Any, list[tuple[Any, ...]]]:
    grouped: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for key, *values in rows:
        grouped[key].append(tuple(values))
    return grouped


def _check_stream(session: AlertSession, seqs: list[int], is_whole: bool) -> None:
    """`seq` has no gap and no double."""
    first = 1 if is_whole else session.last_seq - len(seqs) + 1
    assert seqs == list(range(first, session.last_seq + 1))


def _check_timeline(session: AlertSession, events: list[tuple[Any, ...]]) -> None:
    """Each thing on it has a place of its own, and each tool call a number of its own."""
    places = [event[0] for event in events]
    assert len(set(places)) == len(places)
    assert all(1 <= place <= session.last_seq for place in places)
    numbers = [metadata["tool_number"] for _, kind, _, metadata, _ in events if kind == _TOOL_CALL]
    assert sorted(numbers) == list(range(1, session.last_tool_number + 1))


def _check_stages(session: AlertSession, stages: list[tuple[Any, ...]]) -> None:
    assert [index for index, _, _ in stages] == list(range(1, len(stages) + 1))
    still_open = [kind for _, kind, status in stages if status not in TERMINAL]
    assert len(still_open) <= 1
    if session.is_terminal:
        assert set(still_open) <= {"chat"}
    if session.status == "pending":
        assert not stages
    if session.status == "completed":
        assert {s for _, kind, s in stages if kind in Stage.FINDINGS} == {"completed"}


def _check_executions(timeline: dict[Any, list[tuple[Any, ...]]]) -> None:
    executions = AgentExecution.objects.values_list("pk", "status", "stage__status")
    still_open = set()
    for execution, status, stage_status in executions:
        if status not in TERMINAL:
            assert stage_status not in TERMINAL, "an execution is open under an ended stage"
            still_open.add(execution)
    events = [event for each in timeline.values() for event in each]
    assert {event[4] for event in events if event[2] == "streaming"} <= still_open
    told = Counter(event[4] for event in events if event[1] == "final_analysis")
    assert set(told.values()) <= {1}, "a conclusion is told twice"


def _check_messages() -> None:
    rows = Message.objects.order_by("sequence_number").values_list(
        "execution_id", "sequence_number"
    )
    for numbers in _group(rows).values():
        assert [number for (number,) in numbers] == list(range(1, len(numbers) + 1))


_TOOL_CALL = TimelineEvent.Type.LLM_TOOL_CALL.value
