"""The clock as a real process: it sends what is due, and is gone as soon as it is asked to go."""

import json
import os
import shelve
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
import redis
from celery.beat import ScheduleEntry
from celery.schedules import schedule
from django.conf import settings
from django.utils import timezone

from tarsy.quickstart import BEAT
from tests.processes import ROOT, Process, child_environment, wait_for

pytestmark = [pytest.mark.worker, pytest.mark.django_db]


@pytest.fixture
def silent_redis() -> Iterator[str]:
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def beats() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for each in started:
        if each.child.poll() is None:
            each.kill()


def start_beat(beats: list[Process], plan: Path, **environment: str) -> Process:
    beat = Process(
        *BEAT, "-s", str(plan),
        environment=child_environment(**environment), ready="",
    )  # fmt: skip
    beats.append(beat)
    return beat


def make_overdue(plan: Path) -> None:
    """A plan as a beat leaves it, of which everything should have been sent an hour ago."""
    with shelve.open(str(plan), writeback=True) as kept:
        kept["__version__"], kept["tz"], kept["utc_enabled"] = "5", "UTC", True
        kept["entries"] = {
            name: ScheduleEntry(
                name=name,
                task=each["task"],
                schedule=schedule(timedelta(seconds=each["schedule"])),
                options=each["options"],
                last_run_at=timezone.now() - timedelta(hours=1),
            )
            for name, each in settings.CELERY_BEAT_SCHEDULE.items()
        }


def connections_of(beat: Process) -> list[object]:
    return psutil.Process(beat.child.pid).net_connections("tcp")


def test_what_is_due_is_sent_by_a_clock_that_loads_none_of_the_product(
    clean_redis: redis.Redis, tmp_path: Path, beats: list[Process]
):
    make_overdue(tmp_path / "plan")

    start_beat(beats, tmp_path / "plan")

    [message] = wait_for(lambda: clean_redis.lrange("celery", 0, -1), what="what is due")
    assert json.loads(message)["headers"]["task"] == "investigations.apply_retention"


def test_the_clock_loads_none_of_the_product():
    found = subprocess.run(
        [sys.executable, "-c", "import sys, tarsy.beat; print(*sys.modules)"],
        cwd=ROOT, env=child_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert not {"investigations.models", "agents.run", "litellm"} & set(found.stdout.split())


def test_ending_costs_next_to_nothing_beside_starting(
    clean_redis: redis.Redis, tmp_path: Path, beats: list[Process]
):
    """All processes end at once, on cores that are taken: what each still computes adds up."""
    make_overdue(tmp_path / "plan")
    beat = start_beat(beats, tmp_path / "plan")
    wait_for(lambda: clean_redis.llen("celery"), what="what is due")
    used = psutil.Process(beat.child.pid).cpu_times()

    beat.child.send_signal(signal.SIGTERM)

    _, status, total = os.wait4(beat.child.pid, 0)
    beat.child.returncode = os.waitstatus_to_exitcode(status)
    ending = total.ru_utime + total.ru_stime - used.user - used.system
    assert ending < 0.1 * (used.user + used.system)


@pytest.mark.parametrize("moment", ["at once", "in a tick", "with Redis away"])
def test_it_ends_whenever_it_is_asked_and_its_plan_can_be_read_again(
    moment: str, tmp_path: Path, silent_redis: str, beats: list[Process]
):
    plan = tmp_path / "plan"
    make_overdue(plan)
    address = "redis://127.0.0.1:1/0" if moment == "with Redis away" else silent_redis
    beat = start_beat(beats, plan, REDIS_URL=address)
    if moment == "in a tick":
        wait_for(lambda: connections_of(beat), what="a connection to the silent Redis")
    if moment == "with Redis away":
        wait_for(lambda: "Error 111" in beat.output, what="a failed attempt to send")

    code = beat.stop(within=30)

    # Before it has a plan of its own to keep, the signal itself may end it.
    assert code == 0 or (moment == "at once" and code == -signal.SIGTERM), beat.output
    with shelve.open(str(plan), flag="r") as kept:
        assert set(kept["entries"]) == set(settings.CELERY_BEAT_SCHEDULE)
