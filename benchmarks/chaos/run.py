"""One run: start, post and disturb, let settle, check, stop."""

import os
import random
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.faults import Injector
from benchmarks.chaos.incidents import PATH, Alertmanager, check_incidents
from benchmarks.chaos.marks_server import FILE_VARIABLE
from benchmarks.chaos.outcome import Check, Outcome
from benchmarks.chaos.posting import Poster
from benchmarks.chaos.sending import Sender
from benchmarks.chaos.stack import RUN_VARIABLE, Stack, find_left_over
from benchmarks.chaos.storms import PATH as STORM_PATH
from benchmarks.chaos.storms import Storm, check_storm
from benchmarks.chaos.workload import plan_alerts, write_script
from benchmarks.lab import open_lab
from tarsy.embedded import locate


@dataclass(frozen=True)
class Pace:
    """How the leases are set, and how fast alerts and faults come."""

    environment: dict[str, str]
    freeze_seconds: float
    between_faults: float
    between_alerts: float
    settle_seconds: float


GROUP_SECONDS = 12.0
POSTS_OF_GROUP = 7
"""On an average; so each group takes about `GROUP_SECONDS`."""
CONFIG = Path(__file__).parent / "config"

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
    "default": Pace({}, freeze_seconds=35, between_faults=10, between_alerts=4, settle_seconds=240),
}


def run_chaos(seed: int, minutes: float, leases: str, logs: Path | None) -> Outcome:
    """Raises AssertionError when the stack does not even start."""
    pace = PACES[leases]
    run = uuid.uuid4().hex
    os.environ.update(pace.environment)
    os.environ[RUN_VARIABLE] = run
    with open_lab(is_quick=False, config=CONFIG) as lab:
        os.environ[FILE_VARIABLE] = str(lab.directory / "marks")
        os.environ["TARSY_CHAOS_PYTHON"] = sys.executable
        stack = Stack(lab)
        servers = locate(lab.directory / "var")
        try:
            outcome = _run(stack, seed, minutes, pace)
        finally:
            stack.stop()
            if logs is not None:
                _keep_logs(stack, logs)
    server_pids = servers.pids if servers else ()
    left = find_left_over(run, server_pids)
    looked_at = stack.started + len(server_pids)
    return outcome.with_check(Check("no process is left over", looked_at, left))


def _keep_logs(stack: Stack, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, output in stack.logs():
        (directory / f"{name}.log").write_text(output, encoding="utf-8")


def _run(stack: Stack, seed: int, minutes: float, pace: Pace) -> Outcome:
    chance = random.Random(seed)
    alerts = plan_alerts(chance, max(1, int(minutes * 60 / pace.between_alerts)))
    stack.start(write_script(alerts, chance))
    poster = Poster(stack.url("/api/v1/alerts"), alerts, pace.between_alerts)
    schedule, targets = (random.Random(f"{seed} {name}") for name in ("faults", "targets"))
    injector = Injector(stack, schedule, targets, pace.freeze_seconds)
    groups = max(1, int(minutes * 60 / GROUP_SECONDS))
    url, told = stack.url(PATH), random.Random(f"{seed} incidents")
    alertmanager = Alertmanager(url, groups, told, every=GROUP_SECONDS / POSTS_OF_GROUP)
    storm = Storm(stack.url(STORM_PATH), random.Random(f"{seed} storm"))
    senders = (poster, alertmanager, storm)
    for sender in senders:
        sender.start()
    try:
        _disturb(injector, minutes * 60, pace.between_faults)
        took = _settle(injector, senders, pace.settle_seconds)
    finally:
        for sender in senders:
            sender.stop()
    from benchmarks.chaos.judging import judge

    outcome = judge(stack, injector, poster, alerts, settled=took)
    return outcome.with_check(check_incidents(alertmanager)).with_check(check_storm(storm))


def _disturb(injector: Injector, seconds: float, between: float) -> None:
    """One fault about every `between` seconds."""
    until = time.monotonic() + seconds
    due = time.monotonic() + between
    while time.monotonic() < until:
        injector.tend()
        if time.monotonic() >= due:
            injector.inject()
            due += between * injector.schedule.uniform(0.6, 1.4)
        time.sleep(0.05)


def _settle(injector: Injector, senders: Sequence[Sender], within: float) -> float:
    """Wait until every session has ended, or for so long; returns the seconds it took."""
    from investigations.models import AlertSession

    began = time.monotonic()
    while time.monotonic() < began + within:
        injector.tend()
        is_open = AlertSession.objects.exclude(status__in=AlertSession.TERMINAL).exists()
        if injector.is_settled and all(each.is_done for each in senders) and not is_open:
            break
        time.sleep(0.2)
    return time.monotonic() - began
