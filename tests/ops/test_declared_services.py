"""Services that the operator declares: real processes, started, stopped and told apart."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from ops.process_identity import (
    find_session,
    find_session_of,
    identify,
    is_running,
)
from ops.server import build_server
from ops.services.declaration import DeclaredService, load_services
from ops.services.running import changing, read_state, start, stop
from tarsy.errors import ConfigError
from tests.ops.calls import call_tool

pytestmark = pytest.mark.slow

ID = "service:web-1:shop"


@pytest.fixture
def service(tmp_path) -> Iterator[DeclaredService]:
    """A program that says when it starts and then waits."""
    (tmp_path / "var").mkdir()
    declared = DeclaredService(
        name="shop",
        argv=("/bin/sh", "-c", "echo shop is up; sleep 600 & wait"),
        pid_file=tmp_path / "var" / "shop.pid",
        log_file=tmp_path / "var" / "shop.log",
        description="sells things",
        stop_seconds=1.0,
    )
    yield declared
    with changing(declared):
        stop(declared)


@pytest.fixture
def ops(settings, service):
    """Calls a server of a machine with that service."""
    server = build_server(replace(settings, services=(service,)))

    async def call(tool, **arguments):
        return await call_tool(server, tool, arguments)

    return call


def run(service: DeclaredService) -> int:
    with changing(service):
        process = start(service).process
    assert process is not None
    return process.pid


def change(action: str) -> dict[str, str]:
    return {"type": "service", "action": action, "resource_id": ID}


async def test_a_stopped_service_is_listed_with_what_may_be_done_to_it(ops, service):
    [row] = (await ops("query", action="list", kind="service"))["data"]["resources"]

    assert row == {
        "id": ID,
        "kind": "service",
        "name": "shop",
        "status": "stopped",
        "host": "web-1",
        "executors": [
            {
                "executor_id": "web-1",
                "adapter": "direct",
                "actions": ["query", "read.logs", "probe", "start", "stop", "restart"],
                "priority": 10,
            }
        ],
        "allowed_actions": ["probe", "query", "read.logs", "restart", "start", "stop"],
    }


async def test_health_names_a_declared_service_that_is_stopped(ops):
    problems = (await ops("query", action="health"))["data"]["problems"]

    assert [ID, "service shop is stopped"] in [[p["resource_id"], p["message"]] for p in problems]


async def test_start_tells_the_state_before_and_after_and_what_was_done(ops, service):
    data = (await ops("control", **change("start")))["data"]

    assert data["done"] == "started shop"
    assert data["changed"] is True
    assert data["before"] == {"status": "stopped"}
    assert data["after"]["status"] == "running"
    assert data["after"]["pid"] == int(service.pid_file.read_text())
    assert (await ops("query", action="get", resource_id=ID))["data"]["status"] == "running"


async def test_a_service_is_nobodys_child_and_leads_a_session_of_its_own(ops):
    pid = (await ops("control", **change("start")))["data"]["after"]["pid"]

    assert os.getsid(pid) == pid
    assert os.getpid() not in [parent.pid for parent in psutil.Process(pid).parents()]


async def test_restart_ends_the_old_process_and_starts_exactly_one_new_one(ops, service):
    first = run(service)

    data = (await ops("control", **change("restart")))["data"]

    second = data["after"]["pid"]
    assert data["before"]["pid"] == first != second
    assert identify(first) is None
    assert service.log_file.read_text().count("shop is up") == 2
    assert find_session(first) == []


async def test_restarts_at_once_run_one_after_the_other(ops, service):
    run(service)

    replies = await asyncio.gather(*(ops("control", **change("restart")) for _ in range(3)))

    assert [reply["ok"] for reply in replies] == [True] * 3
    pids = [reply["data"]["after"]["pid"] for reply in replies]
    assert [pid for pid in pids if identify(pid)] == [int(service.pid_file.read_text())]
    assert service.log_file.read_text().count("shop is up") == 4


async def test_stop_ends_the_whole_tree_also_what_left_the_session(ops, service):
    stubborn = "/usr/bin/setsid sleep 601 & sleep 602 & wait"
    tree = replace(service, argv=("/bin/sh", "-c", stubborn))
    pid = run(tree)
    everything = find_session_of(identify(pid))

    data = (await ops("control", **change("stop")))["data"]

    assert data["after"] == {"status": "stopped"}
    assert len(everything) >= 3
    assert not any(map(is_running, everything))


async def test_what_ignores_the_polite_signal_is_killed(ops, service):
    deaf = replace(service, argv=("/bin/sh", "-c", "trap '' TERM; sleep 600 & wait; sleep 600"))
    pid = run(deaf)

    reply = await ops("control", **change("stop"))

    assert reply["data"]["after"] == {"status": "stopped"}
    assert identify(pid) is None


async def test_what_a_killed_service_left_running_ends_at_the_restart(ops, service):
    pid = run(service)
    [left] = [process.pid for process in psutil.Process(pid).children()]
    os.kill(pid, signal.SIGKILL)
    assert (await ops("query", action="get", resource_id=ID))["data"]["status"] == "stopped"

    reply = await ops("control", **change("restart"))

    assert reply["data"]["before"] == {"status": "stopped"}
    assert identify(left) is None


@pytest.mark.parametrize("action", ["start", "stop"])
async def test_what_is_so_already_is_left_as_it_is(ops, service, action):
    pid = run(service)
    if action == "stop":
        with changing(service):
            stop(service)

    data = (await ops("control", **change(action)))["data"]

    assert data["changed"] is False
    assert data["before"] == data["after"]
    assert is_running(identify(pid)) if action == "start" else identify(pid) is None


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("forge", ["pid file", "both files", "start", "boot"])
async def test_a_process_that_only_has_the_number_is_never_touched(ops, service, bystander, forge):
    run(service)
    with changing(service):
        stop(service)
    record = service.record_file.read_text()
    real = identify(bystander.pid)
    match forge:
        case "both files":
            record = record.replace(str(_pid_in(record)), str(bystander.pid))
        case "start":
            record = f'{{"pid": {real.pid}, "start_ticks": {real.start_ticks + 1}, "boot_id": ""}}'
        case "boot":
            record = f'{{"pid": {real.pid}, "start_ticks": {real.start_ticks}, "boot_id": "x"}}'
    service.record_file.write_text(record)
    service.pid_file.write_text(f"{bystander.pid}\n")

    state = (await ops("query", action="get", resource_id=ID))["data"]["status"]
    stopped = await ops("control", **change("stop"))
    restarted = await ops("control", **change("restart"))

    assert state == "stopped"
    assert stopped["data"]["changed"] is False
    assert restarted["data"]["after"]["pid"] != bystander.pid
    assert bystander.poll() is None


def _pid_in(record: str) -> int:
    return int(record.partition('"pid":')[2].partition(",")[0])


async def test_a_service_that_ends_at_once_is_a_failure_that_names_its_log(ops, service, settings):
    broken = replace(service, argv=("/bin/sh", "-c", "echo no configuration; exit 3"))
    server = build_server(replace(settings, services=(broken,)))

    reply = await call_tool(server, "control", change("start"))

    error = reply["error"]
    assert error["code"] == "EXECUTION_FAILED"
    assert str(service.log_file) in error["message"]
    assert error["details"]["before"] == error["details"]["after"] == {"status": "stopped"}


async def test_a_program_that_is_not_there_is_a_failure(service, settings):
    missing = replace(service, argv=("/no/such/program",))
    server = build_server(replace(settings, services=(missing,)))

    reply = await call_tool(server, "control", change("restart"))

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "/no/such/program" in reply["error"]["message"]


async def test_its_log_may_be_read_though_it_lies_among_our_own_files(ops, service, settings):
    run(service)
    (settings.protected[0] / "secret_key").write_text("hush")

    tail = await ops("read", action="tail", path=str(service.log_file))
    by_name = await ops("read", action="logs", unit="shop")
    other = await ops("read", action="file", path=str(settings.protected[0] / "secret_key"))

    assert tail["data"]["content"] == by_name["data"]["content"] == "shop is up"
    assert other["error"]["code"] == "POLICY_BLOCKED"


async def test_a_link_in_the_place_of_its_log_opens_nothing(ops, service, settings):
    secret = settings.protected[0] / "secret_key"
    secret.write_text("hush")
    service.log_file.symlink_to(secret)

    tail = await ops("read", action="tail", path=str(service.log_file))
    started = await ops("control", **change("start"))

    assert tail["error"]["code"] == "POLICY_BLOCKED"
    assert started["error"]["code"] == "EXECUTION_FAILED"
    assert secret.read_text() == "hush"


async def test_it_gets_none_of_our_environment_but_what_was_declared(ops, service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    telling = replace(
        service, argv=("/usr/bin/env",), environment=(("SHOP", "open"),), stop_seconds=0.2
    )

    with contextlib.suppress(Exception):
        run(telling)

    told = service.log_file.read_text()
    assert "SHOP=open" in told
    assert "sk-secret" not in told


@pytest.mark.parametrize(
    "name",
    ["service:web-1:SHOP", "service:web-2:shop", "service:web-1:../shop", "service:web-1:shop ",
     "service:web-1:shop\n", "Service:web-1:shop", "shop", "service::shop", "service:web-1:*",
     "process:web-1:shop", "service:web-1:shop;id"],
)  # fmt: skip
async def test_no_other_spelling_of_a_service_starts_it(ops, service, name):
    reply = await ops("control", type="service", action="start", resource_id=name)

    assert reply["error"]["code"] in ("INVALID_INPUT", "NOT_FOUND")
    assert not service.log_file.exists()


async def test_reload_is_not_offered_for_what_knows_no_reload(ops):
    reply = await ops("control", **change("reload"))

    assert reply["error"]["code"] == "ACTION_NOT_ALLOWED"
    assert "reload" not in reply["error"]["details"]["allowed_actions"]


def test_a_declaration_is_read_as_it_stands(tmp_path):
    file = write(tmp_path, "services: {web: {argv: [/bin/x, --port, '1'], pid_file: /p/x.pid, "
                 "log_file: /p/x.log, environment: {A: b}, stop_seconds: 3}}")  # fmt: skip

    [service] = load_services(file)

    assert service.argv == ("/bin/x", "--port", "1")
    assert service.environment == (("A", "b"),)
    assert read_state(service).status == "stopped"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("services: {'a:b': {argv: [/x], pid_file: /p, log_file: /l}}", "a:b"),
        ("services: {'../x': {argv: [/x], pid_file: /p, log_file: /l}}", "../x"),
        ("services: {a: {argv: [x], pid_file: /p, log_file: /l}}", "argv.0"),
        ("services: {a: {argv: [], pid_file: /p, log_file: /l}}", "argv"),
        ("services: {a: {argv: [/x], pid_file: p, log_file: /l}}", "pid_file"),
        ("services: {a: {argv: [/x], pid_file: /p, log_file: /l, stop_seconds: 99}}", "stop"),
        ("services: {a: {argv: [/x], pid_file: /p, log_file: /l, shell: true}}", "shell"),
        ("services: {a: {argv: /x, pid_file: /p, log_file: /l}}", "argv"),
        ("services: [", "cannot be read"),
        ("- 1", "valid dictionary"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(tmp_path, text, reason):
    with pytest.raises(ConfigError, match=reason.replace(".", r"\.")):
        load_services(write(tmp_path, text))


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o622])
def test_a_declaration_that_others_can_write_is_refused(tmp_path, mode):
    file = write(tmp_path, "services: {a: {argv: [/x], pid_file: /p, log_file: /l}}")
    file.chmod(mode)

    with pytest.raises(ConfigError, match="can be written by others"):
        load_services(file)


def write(directory: Path, text: str) -> Path:
    file = directory / "services.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file
