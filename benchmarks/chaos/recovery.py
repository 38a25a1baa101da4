"""How long what a fault had hit took to get on again."""

import re
import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.chaos.faults import Fault
from benchmarks.chaos.model import ModelRequest
from benchmarks.chaos.posting import Post
from benchmarks.chaos.presence import Presence
from benchmarks.chaos.workload import FAULTY_ANSWERS, FAULTY_TURN, INVESTIGATES, PlannedAlert
from investigations.models import (
    AgentExecution,
    AlertSession,
    LLMInteraction,
    MCPInteraction,
    Stage,
)

Moments = Mapping[uuid.UUID, Sequence[float]]


@dataclass
class Recovery:
    """Of one kind of fault."""

    kind: str
    times: int = 0
    affected: int = 0
    overtaken: int = 0
    """Lost their worker before they got on, and are measured from there."""
    longest: float | None = None
    slowest: "Wait | None" = None
    """What waited longest while there was a worker."""
    never: list[str] = field(default_factory=list)

    def add(self, seconds: float, what: str, *, without: float = 0.0) -> None:
        """Something got on after so many seconds, in some of which there was no worker at all."""
        self.longest = max(seconds, self.longest or 0.0)
        wait = Wait(what, seconds, seconds - without)
        if self.slowest is None or wait.served > self.slowest.served:
            self.slowest = wait


@dataclass(frozen=True)
class Wait:
    """What got on, the seconds until then, and those of them in which there was a worker."""

    what: str
    seconds: float
    served: float


def measure_recoveries(
    faults: Sequence[Fault], kinds: Sequence[str], presence: Presence
) -> list[Recovery]:
    """From each fault to the next finished step of each execution or session it had hit."""
    ends = _ends()
    progress = _progress(ends)
    losses: dict[uuid.UUID, list[float]] = defaultdict(list)
    for fault in faults:
        for execution_id in fault.executions if fault.is_of_worker else ():
            losses[execution_id].append(fault.at)
    found = {kind: Recovery(kind) for kind in kinds}
    for fault in faults:
        recovery = found[fault.kind]
        recovery.times += 1
        for unit in fault.executions | fault.sessions:
            steps = (ends if fault.is_to_end else progress).get(unit, ())
            if not _was_ending(ends.get(unit, ()), fault.at):
                _measure(recovery, unit, fault.at, steps, losses[unit], presence)
    return list(found.values())


def _was_ending(ends: Sequence[float], at: float) -> bool:
    """Its end is dated before the fault that found it open: frozen, say, on the way to commit."""
    return bool(ends) and ends[0] <= at


def _measure(
    recovery: Recovery,
    unit: uuid.UUID,
    at: float,
    steps: Sequence[float],
    losses: Sequence[float],
    presence: Presence,
) -> None:
    next_step = _first_after(steps, at)
    next_loss = _first_after(losses, at)
    recovery.affected += 1
    if next_loss is not None and (next_step is None or next_loss < next_step):
        recovery.overtaken += 1
    elif next_step is None:
        known = [f"{step - at:+.2f}" for step in steps[-3:]]
        recovery.never.append(f"{unit} (steps before, in seconds: {', '.join(known) or 'none'})")
    else:
        without = presence.seconds_without(at, next_step)
        recovery.add(next_step - at, str(unit), without=without)


def measure_web(recovery: Recovery, faults: Sequence[Fault], posts: Sequence[Post]) -> None:
    """From each loss of the web process to the next alert that was accepted."""
    accepted = sorted(post.answered for post in posts if post.status == 202)
    for fault in faults:
        if fault.kind != recovery.kind:
            continue
        again = _first_after(accepted, fault.at)
        if again is None:
            continue  # Nothing was sent any more.
        refused = [post for post in posts if post.status != 202 and fault.at < post.sent < again]
        recovery.affected += len(refused)
        recovery.add(again - fault.at, "intake")


def measure_model_faults(
    requests: Sequence[ModelRequest],
    alerts: Sequence[PlannedAlert],
    kinds: Sequence[str],
    presence: Presence,
) -> list[Recovery]:
    """From each request the script spoiled to the next whole answer for the same turn."""
    planned = {alert.mark: alert.model_fault for alert in alerts if alert.model_fault}
    found = {kind: Recovery(kind) for kind in kinds}
    left = {alert.mark: FAULTY_ANSWERS.get(alert.model_fault, 0) for alert in alerts}
    whole: dict[tuple[str, str], list[float]] = defaultdict(list)
    for request in requests:
        if request.is_whole and request.status == 200 and request.ended:
            whole[request.mark, request.agent].append(request.ended)
    for request in requests:
        is_spoiled = request.turn == FAULTY_TURN and re.match(INVESTIGATES, request.agent)
        if not is_spoiled or not left.get(request.mark) or request.ended is None:
            continue
        left[request.mark] -= 1
        recovery = found[planned[request.mark]]
        recovery.times += 1
        recovery.affected += 1
        again = _first_after(sorted(whole[request.mark, request.agent]), request.ended)
        if again is None:
            recovery.overtaken += 1  # Cancelled, or its workers were lost too often.
        else:
            without = presence.seconds_without(request.ended, again)
            seconds = again - request.ended
            recovery.add(seconds, f"{request.mark} {request.agent}", without=without)
    return list(found.values())


def _first_after(moments: Sequence[float], at: float) -> float | None:
    index = bisect_right(moments, at)
    return moments[index] if index < len(moments) else None


def _progress(ends: Moments) -> Moments:
    """When an execution, and when a session, finished a step."""
    moments: dict[uuid.UUID, list[float]] = defaultdict(list)
    for model in (LLMInteraction, MCPInteraction):
        steps = model._default_manager.values_list("execution_id", "session_id", "created_at")
        for execution_id, session_id, at in steps:
            moments[session_id].append(at.timestamp())
            moments[execution_id].append(at.timestamp())
    for session_id, at in Stage.objects.values_list("session_id", "created_at"):
        moments[session_id].append(at.timestamp())
    for execution_id, session_id in AgentExecution.objects.values_list("id", "session_id"):
        moments[session_id] += ends.get(execution_id, ())
    for unit, ended in ends.items():
        moments[unit] += ended
    return {unit: sorted(each) for unit, each in moments.items()}


def _ends() -> Moments:
    """When each execution and each session ended, if it did."""
    return {
        unit: [ended.timestamp()]
        for model in (AgentExecution, AlertSession)
        for unit, ended in model._default_manager.values_list("id", "completed_at")
        if ended
    }
