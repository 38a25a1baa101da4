"""What must hold of the database once everything has settled. Each check returns what does not."""

import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.db.models import Count, Q

from benchmarks.chaos.marks_server import FILE_VARIABLE
from benchmarks.chaos.model import ModelRequest
from benchmarks.chaos.outcome import Check
from benchmarks.chaos.workload import WRITES
from investigations.models import (
    AgentExecution,
    AlertSession,
    Event,
    LLMInteraction,
    MCPInteraction,
    Stage,
    TimelineEvent,
)

WRITTEN = "each write is made at most once"
ACCEPTED = "every alert answered 202 has ended"
CALLS = ("no finished model call is recorded twice", "no finished model call is asked again")


def check_all(
    accepted: Sequence[str], cancelled: Iterable[uuid.UUID], requests: Sequence[ModelRequest]
) -> list[Check]:
    """Every promise about rows."""
    return [
        check_accepted(accepted),
        check_cancelled(cancelled),
        check_outcomes(),
        check_seq(),
        check_told_once(),
        check_nothing_open(),
        check_calls_recorded_once(),
        check_calls_not_asked_again(requests),
        check_tools_recorded_once(),
        check_written_once(),
    ]


def check_accepted(accepted: Sequence[str]) -> Check:
    found = {str(key): status for key, status in AlertSession.objects.values_list("id", "status")}
    broken = [f"session {key} was answered 202 and is lost" for key in accepted if key not in found]
    broken += [
        f"session {key} is still {found[key]}"
        for key in accepted
        if key in found and found[key] not in AlertSession.TERMINAL
    ]
    return Check(ACCEPTED, len(accepted), broken)


def check_cancelled(cancelled: Iterable[uuid.UUID]) -> Check:
    wanted = list(cancelled)
    other = AlertSession.objects.filter(pk__in=wanted).exclude(status="cancelled")
    broken = [f"session {each.pk} was cancelled and is {each.status}" for each in other]
    return Check("an accepted cancel ends as cancelled", len(wanted), broken)


def check_outcomes() -> Check:
    """The faults of a run are survivable; only three lost workers may end an agent."""
    ended = AlertSession.objects.filter(status__in=AlertSession.TERMINAL)
    bad = ended.exclude(status__in=("completed", "cancelled")).exclude(
        error_message__contains="workers stopped while they ran this agent"
    )
    broken = [f"session {each.pk} {each.status}: {each.error_message}" for each in bad]
    empty = ended.filter(status="completed", final_analysis="")
    broken += [f"session {each.pk} completed without an analysis" for each in empty]
    inner = AgentExecution.objects.filter(status__in=("failed", "timed_out")).exclude(
        error_message__contains="workers stopped while they ran this agent"
    )
    broken += [
        f"execution {each.pk} of session {each.session_id} {each.status}: {each.error_message}"
        for each in inner
    ]
    return Check("nothing fails but what lost three workers", ended.count(), broken)


def check_seq() -> Check:
    seqs: dict[uuid.UUID, list[int]] = defaultdict(list)
    for session_id, seq in Event.objects.order_by("seq").values_list("session_id", "seq"):
        seqs[session_id].append(seq)
    broken = [
        f"session {each.pk} has seq {seqs[each.pk]} and last_seq {each.last_seq}"
        for each in AlertSession.objects.all()
        if seqs[each.pk] != list(range(1, each.last_seq + 1))
    ]
    return Check("seq has no gap", sum(map(len, seqs.values())), broken)


def check_told_once() -> Check:
    """A stream tells one end of its session, and it is the one in the row."""
    told: dict[uuid.UUID, list[str]] = defaultdict(list)
    ends = Event.objects.filter(
        payload__type="session.status", payload__status__in=AlertSession.TERMINAL
    )
    for session_id, status in ends.values_list("session_id", "payload__status"):
        told[session_id].append(status)
    ended = AlertSession.objects.filter(status__in=AlertSession.TERMINAL)
    broken = [
        f"session {each.pk} is {each.status} and told {told[each.pk]}"
        for each in ended
        if told[each.pk] != [each.status]
    ]
    return Check("one end is told, the true one", len(ended), broken)


def check_nothing_open() -> Check:
    open_stages = Stage.objects.exclude(status__in=Stage.TERMINAL)
    broken = [f"stage {each.pk} of session {each.session_id} is {each.status}"
              for each in open_stages]  # fmt: skip
    held = AgentExecution.objects.filter(
        Q(status__in=AgentExecution.OPEN) | Q(lease_token__isnull=False)
    )
    broken += [
        f"execution {each.pk} of session {each.session_id} is {each.status}, attempt "
        f"{each.attempt}, worker {each.worker_id or 'none'}, heartbeat {each.heartbeat_at}"
        for each in held
    ]
    streaming = TimelineEvent.objects.filter(status=TimelineEvent.Status.STREAMING)
    broken += [
        f"{each.event_type} #{each.sequence_number} of session {each.session_id} still streams"
        for each in streaming
    ]
    looked_at = Stage.objects.count() + AgentExecution.objects.count()
    looked_at += TimelineEvent.objects.count()
    return Check("no stage, lease or block is left open", looked_at, broken)


def check_calls_recorded_once() -> Check:
    """A conversation that has an answer is not asked again, and no iteration counts twice.

    Nor has a tool result two summaries, which are asked for within an iteration.
    """
    good = LLMInteraction.objects.filter(error_message="")
    summaries = good.filter(interaction_type=LLMInteraction.Type.SUMMARIZATION)
    steps = good.exclude(interaction_type=LLMInteraction.Type.SUMMARIZATION)
    broken = []
    for calls, field in (
        (steps, "iteration"),
        (steps, "llm_request__messages_count"),
        (summaries, "llm_request__tool_number"),
    ):
        twice = (
            calls.order_by()
            .values("session_id", "execution_id", field)
            .annotate(times=Count("id"))
            .filter(times__gt=1)
        )
        broken += [
            f"execution {row['execution_id']} of session {row['session_id']} has {row['times']} "
            f"good model calls with {field} {row[field]}"
            for row in twice
        ]
    return Check(CALLS[0], good.count(), broken)


def check_calls_not_asked_again(requests: Sequence[ModelRequest]) -> Check:
    """The same by what the model saw: no request for a turn whose answer was in the database."""
    answered = _answer_times()
    broken = []
    looked_at = 0
    for request in requests:
        known = answered.get((request.mark, request.agent))
        if known is None:
            continue
        session_id, times = known
        looked_at += 1
        if request.turn < len(times) and request.arrived > times[request.turn]:
            late = request.arrived - times[request.turn]
            broken.append(
                f"session {session_id}: {request.agent} asked for turn {request.turn} "
                f"{late:.2f} s after its answer was recorded"
            )
    return Check(CALLS[1], looked_at, broken)


def _answer_times() -> dict[tuple[str, str], tuple[uuid.UUID, list[float]]]:
    """By alert and agent: when the answer of each turn was written down.

    Alerts that made two sessions, because the first answer never came, cannot be told apart.
    """
    marks = {
        key: data[: len("chaos-0000")]
        for key, data in AlertSession.objects.values_list("id", "alert_data")
    }
    sessions_of = Counter(marks.values())
    times: dict[tuple[str, str], tuple[uuid.UUID, list[float]]] = {}
    good = LLMInteraction.objects.filter(error_message="").order_by("created_at")
    # Summaries are no turns of the conversation they are made in.
    good = good.exclude(interaction_type=LLMInteraction.Type.SUMMARIZATION)
    rows = good.values_list("session_id", "execution__agent_name", "created_at")
    for session_id, agent, created_at in rows:
        mark = marks[session_id]
        if sessions_of[mark] == 1:
            _, moments = times.setdefault((mark, agent), (session_id, []))
            moments.append(created_at.timestamp())
    return times


def check_tools_recorded_once() -> Check:
    calls = MCPInteraction.objects.filter(interaction_type=MCPInteraction.Type.TOOL_CALL)
    twice = (
        calls.order_by()
        .values("session_id", "tool_number")
        .annotate(times=Count("id"))
        .filter(times__gt=1)
    )
    broken = [
        f"session {row['session_id']} has {row['times']} results of [T{row['tool_number']}]"
        for row in twice
    ]
    return Check("each tool call has one result", calls.count(), broken)


def check_written_once() -> Check:
    """By the lines that the tool itself left: one for each session, whatever became of its worker.

    An alert whose first answer never came may have made two sessions.
    """
    path = Path(os.environ[FILE_VARIABLE])
    made = Counter(path.read_text(encoding="utf-8").split() if path.exists() else ())
    marks = AlertSession.objects.filter(alert_type=WRITES).values_list("alert_data", flat=True)
    sessions = Counter(data[: len("chaos-0000")] for data in marks)
    broken = [
        f"{mark} was written {times} times for {sessions[mark]} sessions"
        for mark, times in made.items()
        if times > sessions[mark]
    ]
    return Check(WRITTEN, made.total(), broken)
