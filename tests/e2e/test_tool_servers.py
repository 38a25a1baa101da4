"""One worker watches the tool servers; everybody can read what it sees."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.db import connection
from django.test import Client
from redis import Redis

import config
from investigations.engine.tool_monitor import MONITOR_LOCK
from investigations.engine.tool_trials import STOPPED
from investigations.selectors.system.tool_servers import HealthReport, read_health
from investigations.selectors.system.trials import read_trials
from investigations.services.trials import ask_for_trial
from tests.e2e.conftest import Play, SharedWorker, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.mcp_bridge.conftest import STDIO_SERVER
from tests.processes import Process, start_worker, wait_for

pytestmark = pytest.mark.worker

CONFIG = """
mcp_servers:
  flaky:
    transport: {{type: stdio, command: /bin/sh, args: [-c, "test -e {flag} || exit 3; {normal}"]}}
  steady: {{transport: {{type: stdio, command: /bin/sh, args: [-c, "{normal}"]}}}}
  silent: {{transport: {{type: stdio, command: /bin/sh, args: [-c, "{hang}"]}}}}
agents:
  Alpha: {{description: Looks, mcp_servers: [ops]}}
agent_chains:
  single: {{alert_types: [single], stages: [{{name: look, agents: [{{name: Alpha}}]}}]}}
defaults: {{alert_type: single, llm_provider: rehearsal}}
"""

StartWorker = Callable[[], Process]


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """While it is there, the server `flaky` can start."""
    flag = tmp_path / "flag"
    flag.touch()
    return flag


@pytest.fixture
def start(
    flag: Path,
    tmp_path: Path,
    live_db: None,
    clean_redis: Redis,
    shared_worker: SharedWorker,
    product_environment: dict[str, str],
) -> Iterator[StartWorker]:
    """Start a worker that checks its servers every second. No other one has the lock."""
    shared_worker.stop()
    run = f"exec {sys.executable} -u {STDIO_SERVER}"
    text = CONFIG.format(flag=flag, normal=f"{run} normal", hang=f"{run} hang")
    (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "llm-providers.yaml").touch()
    config.configure(tmp_path)
    own = {"CONFIG_DIR": str(tmp_path), "TARSY_MCP_HEALTH_SECONDS": "1"}
    started: list[Process] = []

    def start_one() -> Process:
        process = start_worker(**{**product_environment, **own})
        started.append(process)
        process.wait_until_ready()
        return process

    yield start_one
    for process in started:
        process.stop()


def read_report(*, by: Process | None = None) -> HealthReport | None:
    """The newest report, if it comes from this process."""
    report = read_health()
    if report is not None and by is not None and f"-{by.child.pid}-" not in report.worker_id:
        return None
    return report


def wait_until_well(server: str, *, by: Process | None = None, after: float = 0.0) -> None:
    def is_well() -> bool:
        report = read_report(by=by)
        seen = report.servers.get(server) if report else None
        return seen is not None and seen.healthy and seen.checked_at > after

    wait_for(is_well, within=60, what=f"{server} to be seen well")


def servers_of(process: Process) -> list[psutil.Process]:
    """The tool servers that a worker has started."""
    children = psutil.Process(process.child.pid).children(recursive=True)
    return [child for child in children if str(STDIO_SERVER) in _command(child)]


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def read_warnings(settings) -> list[dict[str, str]]:
    settings.TARSY_AUTH = "none"
    answer = Client(headers={"host": "localhost"}).get("/api/v1/system/warnings")
    return [each for each in answer.json()["warnings"] if each["category"] == "mcp_health"]


def test_one_worker_watches_and_another_takes_over_when_it_is_killed(start: StartWorker):
    first = start()
    wait_until_well("steady", by=first)
    second = start()
    watched = servers_of(first)
    assert watched
    assert servers_of(second) == []

    first.kill()
    killed_at = time.time()
    wait_until_well("steady", by=second, after=killed_at)

    assert servers_of(second)
    _, left = psutil.wait_procs(watched, timeout=20)
    assert left == []


def test_a_missing_server_is_warned_of_in_every_process_until_it_is_back(
    start: StartWorker, flag: Path, settings
):
    worker = start()
    wait_until_well("flaky")

    flag.unlink()
    for child in servers_of(worker):
        child.kill()

    def find_warning() -> dict[str, str] | None:
        found = [each for each in read_warnings(settings) if each["server_id"] == "flaky"]
        return found[0] if found else None

    warning = wait_for(find_warning, what="the warning of the missing server")
    assert warning is not None
    assert "flaky" in warning["message"]
    flag.touch()
    wait_for(lambda: find_warning() is None, what="the warning to be withdrawn")
    wait_until_well("steady")


def test_a_silent_server_stops_neither_the_checks_nor_an_investigation(
    start: StartWorker, play: Play
):
    play(TOOLS_THEN_REPORT)
    start()
    wait_until_well("steady")
    seen = read_health()
    assert seen is not None
    wait_until_well("steady", after=seen.servers["steady"].checked_at)

    session = wait_until_ended(submit("single"))

    assert (session.status, session.error_message) == ("completed", "")
    report = read_health()
    assert report is not None
    assert not ("silent" in report.servers and report.servers["silent"].healthy)


def test_a_stopped_worker_ends_the_servers_it_started(start: StartWorker):
    worker = start()
    wait_until_well("steady")
    watched = servers_of(worker)

    assert worker.stop() == 0

    _, left = psutil.wait_procs(watched, timeout=5)
    assert left == []


def test_a_watch_that_lost_its_database_connection_is_taken_up_again(start: StartWorker):
    worker = start()
    wait_until_well("steady")

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks"
            " WHERE locktype = 'advisory' AND objid = %s AND granted AND database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())",
            [MONITOR_LOCK],
        )
        assert cursor.fetchall() == [(True,)]
    cut_at = time.time()

    wait_for(lambda: worker.output.count("Watching the tool servers") == 2, what="a second watch")
    wait_until_well("steady", after=cut_at)


def test_a_server_is_tried_by_a_worker_when_somebody_asks(start: StartWorker, flag: Path):
    start()
    wait_until_well("steady")

    ask_for_trial("steady")
    flag.unlink()
    ask_for_trial("flaky")

    wait_for(lambda: read_trials()["steady"].ended_at, within=60, what="the end of a trial")
    wait_for(lambda: read_trials()["flaky"].ended_at, within=60, what="the end of a trial")
    well, broken = read_trials()["steady"], read_trials()["flaky"]
    assert (well.error, well.tool_count > 0) == ("", True)
    assert well.asked_at <= well.ended_at
    assert (broken.error != "", broken.tool_count) == (True, 0)


def test_a_stopping_worker_gives_a_trial_up(start: StartWorker):
    worker = start()
    wait_until_well("steady")
    ask_for_trial("silent")
    wait_for(
        lambda: len(servers_of(worker)) >= 4, within=30, what="a second process of the silent one"
    )

    assert worker.stop() == 0
    assert read_trials()["silent"].error == STOPPED
