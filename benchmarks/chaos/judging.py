"""From what was done and what came of it to what was kept and what was broken."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.chaos.checks import ACCEPTED, CALLS, WRITTEN, check_all
from benchmarks.chaos.faults import WEB_KILLED, Injector
from benchmarks.chaos.outcome import Check, Figure, Outcome
from benchmarks.chaos.posting import REFUSED, Poster
from benchmarks.chaos.presence import STARTED_WITHIN, Start
from benchmarks.chaos.recovery import (
    Recovery,
    measure_model_faults,
    measure_recoveries,
    measure_web,
)
from benchmarks.chaos.stack import Stack
from benchmarks.chaos.workload import MODEL_FAULTS, PlannedAlert
from investigations.models import AgentExecution, AlertSession

RECOVERED_WITHIN = 45.0
LONGEST_ANSWER = 10.0


def judge(
    stack: Stack,
    injector: Injector,
    poster: Poster,
    alerts: Sequence[PlannedAlert],
    *,
    settled: float,
) -> Outcome:
    """Look at everything while it still runs."""
    requests = stack.model_log()
    presence = injector.presence
    recoveries = measure_recoveries(injector.done, injector.kinds, presence)
    for each in recoveries:
        if each.kind == WEB_KILLED:
            measure_web(each, injector.done, poster.posts)
    recoveries += measure_model_faults(requests, alerts, MODEL_FAULTS, presence)
    accepted = [post.session_id for post in poster.posts if post.status == 202]
    checks = (
        *check_all(accepted, injector.cancelled, requests),
        check_recoveries(recoveries),
        check_starts(stack.starts),
        _check_intake(poster),
        _check_workers(stack, injector),
    )
    table: list[list[str | int]] = [
        [
            each.kind,
            each.times,
            each.affected,
            each.overtaken,
            "-" if each.longest is None else f"{each.longest:.1f}",
            "-" if each.slowest is None else f"{each.slowest.served:.1f}",
        ]
        for each in recoveries
    ]
    figures = {
        **_count(checks, recoveries, len(accepted)),
        "sigterm_exit_max_s": round(max(injector.sigterm_exits, default=0.0), 1),
        "without_worker_s": round(presence.total, 1),
        "worker_start_max_s": round(max((each.seconds for each in stack.starts), default=0.0), 1),
        "settled_s": round(settled, 1),
        "model_requests": len(requests),
    }
    return Outcome(table, checks, figures, _note(injector, poster))


def check_recoveries(recoveries: Sequence[Recovery]) -> Check:
    """The time runs while there is a worker to take over; what starts take is a promise apart."""
    broken = [
        f"{each.kind}: {each.slowest.what} took {each.slowest.seconds:.1f} s, "
        f"{each.slowest.served:.1f} of them with a worker there"
        for each in recoveries
        if each.slowest is not None and each.slowest.served >= RECOVERED_WITHIN
    ]
    broken += [f"{each.kind}: {unit} never got on" for each in recoveries for unit in each.never]
    affected = sum(each.affected for each in recoveries)
    return Check(f"recovery within {RECOVERED_WITHIN:.0f} s of a worker", affected, broken)


def check_starts(starts: Sequence[Start]) -> Check:
    broken = [
        f"worker {each.pid} took {each.seconds:.1f} s, {each.starved:.1f} of them waiting for a "
        "processor"
        for each in starts
        if each.is_late
    ]
    return Check(f"a worker starts within {STARTED_WITHIN:.0f} s", len(starts), broken)


def _check_intake(poster: Poster) -> Check:
    broken = [
        f"{post.alert.mark} was answered {post.status} after {post.answered - post.sent:.1f} s"
        for post in poster.posts
        if post.status not in (REFUSED, 202, 429, 503) or post.answered - post.sent > LONGEST_ANSWER
    ]
    return Check("intake answers 202, or 503 while it cannot", len(poster.posts), broken)


def _check_workers(stack: Stack, injector: Injector) -> Check:
    died = [
        f"worker {worker.process.child.pid} died by itself:\n{worker.process.output[-1500:]}"
        for worker in stack.find_died()
    ]
    looked_at = len(injector.sigterm_exits) + len(stack.workers)
    return Check("workers end when told, and only then", looked_at, [*injector.failures, *died])


def _count(
    checks: Sequence[Check], recoveries: Sequence[Recovery], accepted: int
) -> dict[str, Figure]:
    broken = {check.promise: check.broken for check in checks}
    longest = max((each.longest for each in recoveries if each.longest), default=None)
    return {
        "accepted": accepted,
        "lost_or_stuck": len(broken[ACCEPTED]),
        "repeated_llm_calls": sum(len(broken[promise]) for promise in CALLS),
        "repeated_writes": len(broken[WRITTEN]),
        "faults": sum(each.times for each in recoveries),
        "max_recovery_s": None if longest is None else round(longest, 1),
    }


def _note(injector: Injector, poster: Poster) -> list[str]:
    statuses = Counter(AlertSession.objects.values_list("status", flat=True))
    attempts = Counter(AgentExecution.objects.values_list("attempt", flat=True))
    answers = Counter(post.status for post in poster.posts)
    return [
        f"sessions {dict(sorted(statuses.items()))}; executions by attempt "
        f"{dict(sorted(attempts.items()))}; answers of the intake {dict(sorted(answers.items()))} "
        f"({REFUSED}: no connection)",
        f"{injector.skipped} faults were left out because there was nobody to hit; what lost its "
        "worker before it got on, 'hit again', is measured from there",
        f"for {injector.presence.total:.1f} s there was no worker at all: all were killed or "
        "frozen, and none had started in their place; 'with a worker' is without that time",
    ]
