"""One run: start, post and disturb, let settle, check, stop."""

import os
import random
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.faults import Injector
from benchmarks.chaos.posting import Post, Poster
from benchmarks.chaos.stack import RUN_VARIABLE, Stack, find_left_over
from benchmarks.chaos.workload import MODEL_FAULTS, PlannedAlert, plan_alerts, write_script
from benchmarks.lab import Lab, open_lab


@dataclass(frozen=True)
class Pace:
    """How the leases are set, and how fast alerts and faults come."""

    environment: dict[str, str]
    freeze_seconds: float
    between_faults: float
    between_alerts: float
    settle_seconds: float


PACES = {
    "short": Pace(
        {
            "TARSY_HEARTBEAT_SECONDS": "1",
            "TARSY_LEASE_STALE_SECONDS": "4",
            "TARSY_SWEEP_SECONDS": "1",
            "TARSY_REDISPATCH_SECONDS": "2",
        },
        freeze_seconds=8,
        between_faults=5,
        between_alerts=3,
        settle_seconds=120,
    ),
    "default": Pace(
        {}, freeze_seconds=35, between_faults=10, between_alerts=4, settle_seconds=240
    ),
}
RECOVERED_WITHIN = 45.0


@dataclass(frozen=True)
class Outcome:
    """What a run showed."""

    table: Sequence[Sequence[str | int | float]]
    checks: Sequence[tuple[str, int, Sequence[str]]]
    """Promise, how much was looked at, each way in which it was broken."""
    figures: dict[str, float | int | str | None]
    notes: Sequence[str]

    @property
    def broken(self) -> list[str]:
        return [line for _, _, lines in self.checks for line in lines]


def run_chaos(seed: int, minutes: float, leases: str, logs: Path | None) -> Outcome:
    """Raises AssertionError when the stack does not even start."""
    pace = PACES[leases]
    run = uuid.uuid4().hex
    os.environ.update(pace.environment)
    os.environ[RUN_VARIABLE] = run
    with open_lab(is_quick=False) as lab:
        stack = Stack(lab)
        try:
            outcome = _run(stack, seed, minutes, pace)
            _explain(outcome, stack)
        finally:
            stack.stop()
            if logs is not None:
                _keep_logs(stack, logs)
    left = find_left_over(run)
    checks = [*outcome.checks, ("no process is left over", len(stack.logs_names), left)]
    return Outcome(outcome.table, checks, outcome.figures, outcome.notes)


def _run(stack: Stack, seed: int, minutes: float, pace: Pace) -> Outcome:
    chance = random.Random(seed)
    alerts = plan_alerts(chance, max(1, int(minutes * 60 / pace.between_alerts)))
    stack.start(write_script(alerts, chance))
    poster = Poster(stack.url("/api/v1/alerts"), alerts, pace.between_alerts)
    injector = Injector(stack, chance, pace.freeze_seconds)
    poster.start()
    try:
        _disturb(injector, chance, minutes * 60, pace.between_faults)
        took = _settle(injector, poster, pace.settle_seconds)
    finally:
        poster.stop()
    return _judge(stack, injector, poster, alerts, took)


def _disturb(injector: Injector, chance: random.Random, seconds: float, between: float) -> None:
    until = time.monotonic() + seconds
    due = time.monotonic() + between
    while time.monotonic() < until:
        injector.tend()
        if time.monotonic() >= due:
            injector.inject()
            due += between * chance.uniform(0.6, 1.4)
        time.sleep(0.05)


def _settle(injector: Injector, poster: Poster, within: float) -> float:
    """Wait until every session has ended, or for so long; returns the seconds it took."""
    from investigations.models import AlertSession

    began = time.monotonic()
    while time.monotonic() < began + within:
        injector.tend()
        is_open = AlertSession.objects.exclude(status__in=AlertSession.TERMINAL).exists()
        if injector.is_settled and poster.is_done and not is_open:
            break
        time.sleep(0.2)
    return time.monotonic() - began


def _judge(
    stack: Stack,
    injector: Injector,
    poster: Poster,
    alerts: Sequence[PlannedAlert],
    settled: float,
) -> Outcome:
    from benchmarks.chaos.checks import check_all
    from benchmarks.chaos.recovery import (
        Recovery,
        measure_model_faults,
        measure_recoveries,
        measure_web,
    )
    from investigations.models import AgentExecution, AlertSession

    requests = stack.model_log()
    kinds = list(injector.kinds)
    recoveries: list[Recovery] = measure_recoveries(injector.done, kinds)
    for each in recoveries:
        if each.kind == "Daphne SIGKILL":
            measure_web(each, injector.done, poster.posts)
    recoveries += measure_model_faults(requests, alerts, MODEL_FAULTS)
    slow = [
        f"{each.kind}: {each.slowest} took {each.longest:.1f} s"
        for each in recoveries
        if each.longest is not None and each.longest >= RECOVERED_WITHIN
    ]
    slow += [f"{each.kind}: {unit} never got on" for each in recoveries for unit in each.never]
    accepted = [post.session_id for post in poster.accepted]
    answers = poster.count_answers()
    died = [f"worker {worker.pid} died by itself" for worker in stack.find_died()]
    rows = check_all(accepted, injector.cancelled, requests)
    checks = [
        *((each.promise, each.looked_at, each.broken) for each in rows),
        ("recovery within 45 s", sum(each.affected for each in recoveries), slow),
        ("intake answers 202, or 503 while it cannot", len(poster.posts), _bad(poster.posts)),
        ("workers end when told, and only then", len(injector.sigterm_exits),
         [*injector.refusals, *died]),
    ]  # fmt: skip
    statuses = Counter(AlertSession.objects.values_list("status", flat=True))
    attempts = Counter(AgentExecution.objects.values_list("attempt", flat=True))
    longest = max((each.longest for each in recoveries if each.longest), default=None)
    figures: dict[str, float | int | str | None] = {
        "accepted": len(accepted),
        "lost": len([line for line in rows[0].broken if "lost" in line]),
        "stuck": len([line for line in rows[0].broken if "still" in line]),
        "repeated_llm_calls": len(rows[6].broken) + len(rows[7].broken),
        "repeated_writes": 0,
        "faults": len(injector.done) + sum(each.times for each in recoveries[len(kinds) :]),
        "max_recovery_s": None if longest is None else round(longest, 1),
        "sigterm_exit_max_s": round(max(injector.sigterm_exits, default=0.0), 1),
        "settled_s": round(settled, 1),
        "model_requests": len(requests),
    }
    notes = [
        f"{len(accepted)} alerts accepted; sessions {dict(sorted(statuses.items()))}; executions "
        f"by attempt {dict(sorted(attempts.items()))}",
        f"answers of the intake {dict(sorted(answers.items()))} (0: no connection); "
        f"{injector.skipped} faults left out, there was nobody to hit",
        "no tool writes anything yet, so 'each write at most once' holds of nothing",
    ]
    table = [
        [each.kind, each.times, each.affected, each.overtaken,
         "-" if each.longest is None else f"{each.longest:.1f}"]
        for each in recoveries
    ]  # fmt: skip
    return Outcome(table, checks, figures, notes)


def _bad(posts: Sequence[Post]) -> list[str]:
    return [
        f"an alert was answered {post.status} after {post.answered - post.sent:.1f} s"
        for post in posts
        if post.status not in (0, 202, 429, 503) or post.answered - post.sent > 10
    ]
