"""The `control` tool on units, containers, guests, processes and commands."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters

from ops.control.own_processes import find_reason_to_spare
from ops.process_identity import ProcessIdentity, hold, identify
from ops.server import build_server
from safety.commands.running import PATH
from tests.ops.calls import call_tool, envelope_of
from tests.ops.fake_docker import run_fake_docker
from tests.ops.test_logs import write_program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

# Each keeps the state of what it stands for in a file, and notes what it was called with.
SYSTEMCTL = """\
here=$(dirname "$0"); echo "$*" >> "$here/systemctl.calls"
state=$(cat "$here/unit" 2>/dev/null || echo failed)
case "$*" in
  list-units*)
    echo "nginx.service loaded $state x A web server"
    echo "systemd-poweroff.service loaded inactive dead Power off"
    echo "-evil.service loaded active running x" ;;
  show*) printf 'LoadState=loaded\\nActiveState=%s\\nMainPID=%s\\n' "$state" "$(cat $here/pid)" ;;
  *" start -- nginx.service"|*" restart -- nginx.service"|*" reload -- nginx.service")
    echo active > "$here/unit" ;;
  *" stop -- nginx.service")
    echo "Job for nginx.service failed." >&2; exit 1 ;;
esac"""
GUESTS = """\
here=$(dirname "$0"); name=$(basename "$0"); echo "$*" >> "$here/$name.calls"
state=$(cat "$here/$name.state" 2>/dev/null || echo stopped)
case "$1" in
  list) [ "$name" = pct ] && echo "VMID Status Lock Name" && echo "101 $state web"
        [ "$name" = qm ] && echo "VMID NAME STATUS MEM PID" && echo "201 db $state 1 0" ;;
  status) echo "status: $state" ;;
  start|reboot) echo running > "$here/$name.state" ;;
  stop) echo stopped > "$here/$name.state" ;;
  shutdown) echo "CT is locked" >&2; exit 255 ;;
esac
exit 0"""


@pytest.fixture
def bin_directory(tmp_path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


@pytest.fixture
def units(settings, tmp_path, bin_directory):
    """A machine with systemd, whose one unit has failed."""
    (bin_directory / "pid").write_text("0")
    (tmp_path / "systemd").mkdir()
    program = write_program(bin_directory / "systemctl", SYSTEMCTL)
    server = build_server(
        replace(settings, systemctl=program, systemd_directory=tmp_path / "systemd")
    )
    return caller(server)


@pytest.fixture
def node(settings, bin_directory):
    """A Proxmox node with a container and a virtual machine, both stopped."""
    for name in ("pct", "qm"):
        write_program(bin_directory / name, GUESTS)
    return caller(build_server(replace(settings, path=f"{bin_directory}:{PATH}")))


def caller(server):
    async def control(**arguments):
        return await call_tool(server, "control", arguments)

    return control


@pytest.fixture
def control(server):
    return caller(server)


def asked(directory: Path, program: str) -> list[str]:
    calls = directory / f"{program}.calls"
    return calls.read_text().splitlines() if calls.exists() else []


# Units


@pytest.mark.parametrize("action", ["start", "restart", "reload"])
async def test_a_unit_is_changed_once_between_two_looks(units, bin_directory, action):
    reply = await units(type="service", action=action, resource_id="service:web-1:nginx.service")

    assert reply["data"]["before"]["status"] == "failed"
    assert reply["data"]["after"]["status"] == "active"
    changes = [line for line in asked(bin_directory, "systemctl") if f" {action} " in line]
    assert changes == [f"--no-ask-password --no-pager {action} -- nginx.service"]


async def test_a_change_that_fails_says_why_and_how_the_unit_stands(units):
    reply = await units(type="service", action="stop", resource_id="service:web-1:nginx.service")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "Job for nginx.service failed." in reply["error"]["message"]
    assert reply["error"]["details"]["after"]["status"] == "failed"


async def test_a_unit_of_our_own_is_not_touched(units, bin_directory):
    (bin_directory / "pid").write_text(str(os.getpid()))

    reply = await units(type="service", action="restart", resource_id="service:web-1:nginx.service")

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert not any("restart" in line for line in asked(bin_directory, "systemctl"))


async def test_a_unit_that_ends_the_machine_is_not_started(units, bin_directory):
    reply = await units(
        type="service", action="start", resource_id="service:web-1:systemd-poweroff.service"
    )

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert not any(" start " in line for line in asked(bin_directory, "systemctl"))


@pytest.mark.parametrize(
    "name", ["-evil.service", "nginx", "nginx.service;reboot", "../nginx.service", "nginx.service ",
             "NGINX.SERVICE", "nginx.service\n", "--all", "*.service", "poweroff.target"],
)  # fmt: skip
async def test_no_other_spelling_of_a_unit_reaches_systemctl(units, bin_directory, name):
    reply = await units(type="service", action="restart", resource_id=f"service:web-1:{name}")

    assert reply["ok"] is False
    assert not any("restart" in line for line in asked(bin_directory, "systemctl"))


# Guests


@pytest.mark.parametrize(("program", "guest"), [("pct", "lxc:web-1:101"), ("qm", "vm:web-1:201")])
async def test_a_guest_is_started_rebooted_and_stopped_by_its_number(
    node, bin_directory, program, guest
):
    replies = [
        await node(type="guest", action=action, resource_id=guest)
        for action in ("start", "start", "reboot", "stop")
    ]

    states = [(r["data"]["before"]["status"], r["data"]["after"]["status"]) for r in replies]
    assert states == [
        ("stopped", "running"),
        ("running", "running"),
        ("running", "running"),
        ("running", "stopped"),
    ]
    assert [r["data"]["changed"] for r in replies] == [True, False, True, True]
    number = guest.rpartition(":")[2]
    changes = [line for line in asked(bin_directory, program) if line.split()[0] not in
               ("list", "status")]  # fmt: skip
    assert changes == [f"start {number}", f"reboot {number}", f"stop {number}"]


async def test_a_guest_that_cannot_be_shut_down_says_why(node, bin_directory):
    (bin_directory / "pct.state").write_text("running")

    reply = await node(type="guest", action="shutdown", resource_id="lxc:web-1:101")

    assert "CT is locked" in reply["error"]["message"]
    assert reply["error"]["details"]["after"] == {"status": "running"}


# Containers


def container(status: str, **more) -> dict[str, object]:
    state = {"Status": status, "Pid": 0, "StartedAt": "2026-01-01T00:00:00Z"}
    return {"Id": "a1b2c3d4e5f6" + "0" * 52, "Name": "/web", "State": state, **more}


@pytest.fixture
async def engine(settings):
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        docker.answer(
            "/containers/json",
            [{"Id": "a1b2c3d4e5f6" + "0" * 52, "Names": ["/web"], "State": "running"}],
        )
        docker.answer("/containers/a1b2c3d4e5f6/json", container("running"))
        yield docker


WEB = "container:web-1:a1b2c3d4e5f6"


async def test_a_container_is_restarted_once(control, engine):
    engine.answer("POST /containers/a1b2c3d4e5f6/restart", b"", status=204)

    reply = await control(type="container", action="restart", resource_id=WEB)

    assert reply["data"]["done"] == "restarted web"
    assert reply["data"]["before"]["status"] == "running"
    assert [r for r in engine.requests if r.startswith("POST")] == [
        "POST /containers/a1b2c3d4e5f6/restart?t=10"
    ]


async def test_a_container_that_stands_so_already_is_unchanged(control, engine):
    engine.answer("POST /containers/a1b2c3d4e5f6/start", b"", status=304)

    reply = await control(type="container", action="start", resource_id=WEB)

    assert reply["data"]["changed"] is False


async def test_a_container_that_does_not_start_says_why_and_how_it_stands(control, engine):
    engine.answer("POST /containers/a1b2c3d4e5f6/start", {"message": "port taken"}, status=500)

    reply = await control(type="container", action="start", resource_id=WEB)

    assert "port taken" in reply["error"]["message"]
    assert reply["error"]["details"]["after"]["status"] == "running"


async def test_the_container_that_we_run_in_is_not_touched(control, engine, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "a1b2c3d4e5f6")

    reply = await control(type="container", action="stop", resource_id=WEB)

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert not any(r.startswith("POST") for r in engine.requests)


async def test_a_container_of_our_own_project_is_not_touched(control, engine, monkeypatch):
    ours = {"Config": {"Labels": {"com.docker.compose.project": "tarsy"}}}
    engine.answer("/containers/a1b2c3d4e5f6/json", container("running", **ours))
    engine.answer("/containers/ffffffffffff/json", {"Id": "f" * 64, **ours})
    monkeypatch.setattr("socket.gethostname", lambda: "f" * 12)

    reply = await control(type="container", action="stop", resource_id=WEB)

    assert reply["error"]["code"] == "POLICY_BLOCKED"


# Processes


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def on(process: ProcessIdentity, name: str = "sleep", **more) -> dict[str, object]:
    return {
        "type": "process",
        "resource_id": f"process:web-1:{name}",
        "pid": process.pid,
        "start_ticks": process.start_ticks,
        **more,
    }


def identity_of(process: subprocess.Popen[bytes]) -> ProcessIdentity:
    identity = identify(process.pid)
    assert identity is not None
    return identity


async def test_config_gives_what_a_signal_has_to_name(call, victim):
    config = (await call("query", action="config", resource_id="process:web-1:sleep"))["data"]

    known = {row["pid"]: row["start_ticks"] for row in config["config"]["processes"]}
    assert known[victim.pid] == identity_of(victim).start_ticks


async def test_a_process_is_ended_by_a_signal_and_told_before_and_after(control, victim):
    reply = await control(**on(identity_of(victim), action="signal", signal="TERM"))

    assert reply["data"]["before"]["pid"] == victim.pid
    assert reply["data"]["after"] == {"status": "ended"}
    assert victim.wait(5) == -signal.SIGTERM


async def test_a_process_that_goes_on_after_a_signal_is_told_as_it_is(control, victim):
    reply = await control(**on(identity_of(victim), action="signal", signal="STOP"))

    assert reply["data"]["after"]["pid"] == victim.pid
    assert psutil.Process(victim.pid).status() == "stopped"


async def test_killing_has_to_be_asked_for_by_name(control, victim):
    by_signal = await control(**on(identity_of(victim), action="signal", signal="KILL"))
    assert by_signal["error"]["code"] == "INVALID_INPUT"
    assert victim.poll() is None

    await control(**on(identity_of(victim), action="kill"))
    assert victim.wait(5) == -signal.SIGKILL


async def test_a_number_that_is_another_process_by_now_is_never_hit(control, victim):
    earlier = replace(identity_of(victim), start_ticks=identity_of(victim).start_ticks - 1)

    reply = await control(**on(earlier, action="kill"))

    assert reply["error"]["code"] == "NOT_FOUND"
    assert victim.poll() is None


async def test_a_process_of_another_name_is_never_hit(control, victim):
    name = psutil.Process(os.getpid()).name()

    reply = await control(**on(identity_of(victim), name=name, action="kill"))

    assert reply["error"]["code"] == "NOT_FOUND"
    assert victim.poll() is None


@pytest.mark.parametrize("missing", ["pid", "start_ticks"])
async def test_a_number_alone_is_not_enough(control, victim, missing):
    arguments = on(identity_of(victim), action="kill")
    del arguments[missing]

    reply = await control(**arguments)

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert victim.poll() is None


async def test_a_process_that_was_held_is_not_confused_with_its_successor(victim):
    with hold(identity_of(victim)) as held:
        assert held is not None
        victim.kill()
        victim.wait()

        assert held.has_ended_within(5)
        held.send(signal.SIGTERM)


async def test_our_own_processes_and_the_first_one_are_never_hit(control):
    parents = psutil.Process().parents()
    for process in (psutil.Process(), *parents):
        identity = identify(process.pid)
        if identity is None:
            continue
        reply = await control(**on(identity, name=process.name(), action="signal", signal="HUP"))
        assert reply["error"]["code"] in ("POLICY_BLOCKED", "NOT_FOUND"), process.name()
        assert process.pid != os.getpid() or reply["error"]["code"] == "POLICY_BLOCKED"


@pytest.mark.parametrize(
    "words", [["-m", "tarsy.shop.web"], ["-m", "celery", "-A", "tarsy.worker"],
              ["manage.py", "quickstart"], [str(ROOT / "manage.py"), "quickstart"]],
)  # fmt: skip
def test_what_runs_our_programs_is_spared_with_all_below_it(words):
    program = "import subprocess, sys; print('up', flush=True); subprocess.run(['sleep', '600'])"
    with subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=ROOT, stdout=subprocess.PIPE,
        start_new_session=True,
    ) as ours:  # fmt: skip
        assert ours.stdout is not None
        ours.stdout.readline()
        reason = find_reason_to_spare(ours.pid)
        os.killpg(ours.pid, signal.SIGKILL)

    assert reason == "it is one of TARSy's own"


# Commands


async def test_a_command_is_run_as_its_words_and_answers_whole(control):
    reply = await control(
        type="command", resource_id="host:web-1", command="printf '%s|' 'a b' \"c;d\" e"
    )

    assert reply["data"]["argv"] == ["printf", "%s|", "a b", "c;d", "e"]
    assert reply["data"]["stdout"] == "a b|c;d|e|"
    assert reply["data"]["exit_code"] == 0


@pytest.mark.parametrize(
    "command",
    ["echo $HOME", "echo `id`", "echo $(id)", "id; id", "id && id", "id | cat", "id > /tmp/x",
     "id &", "echo *", "A=1 id", "! id", "'id'", "ec\"ho\" x", "echo ~", "echo {a,b}",
     "cat < /etc/hosts", "echo 'x", "id\nid", "", "   ", "if true; then id; fi", "id 2>&1",
     "[ -e /etc ] || id", "echo \u202e", "for x in a; do id; done"],
)  # fmt: skip
async def test_nothing_is_left_for_a_shell_to_decide(control, command):
    reply = await control(type="command", resource_id="host:web-1", command=command)

    assert reply["error"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize(
    "command", ["cat /etc/shadow", "cp /etc/shadow /tmp/x", "cat etc/shadow", "dd if=/etc/shadow",
                "cat /root/.ssh/id_rsa", "tar --file=/root/.ssh/x c /tmp",
                "curl file:///etc/shadow"],
)  # fmt: skip
async def test_secrets_are_out_of_reach_of_commands_too(control, command):
    reply = await control(type="command", resource_id="host:web-1", command=command)

    assert reply["error"]["code"] == "POLICY_BLOCKED"


@pytest.mark.parametrize("command", ["kill 1", "/bin/kill -9 1", "pkill -f celery", "killall x"])
async def test_signals_do_not_go_by_command(control, command):
    reply = await control(type="command", resource_id="host:web-1", command=command)

    assert reply["error"]["code"] == "POLICY_BLOCKED"


async def test_a_command_that_fails_is_a_failure_with_its_output(control):
    reply = await control(type="command", resource_id="host:web-1", command="ls /no-such-place")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert reply["error"]["details"]["exit_code"] == 2
    assert "no-such-place" in reply["error"]["details"]["stderr"]


async def test_a_command_that_does_not_end_is_killed(control):
    reply = await control(type="command", resource_id="host:web-1", command="sleep 600", seconds=1)

    assert reply["error"]["details"]["timed_out"] is True


# What fits together


@pytest.mark.parametrize(
    "arguments",
    [
        {"type": "container", "action": "start", "resource_id": "host:web-1"},
        {"type": "service", "action": "restart", "resource_id": "host:web-1"},
        {"type": "command", "action": "restart", "resource_id": "host:web-1", "command": "id"},
        {"type": "service", "action": "restart", "resource_id": "host:web-1", "command": "id"},
        {"type": "service", "action": "restart", "resource_id": "host:web-1", "pid": 1},
        {"type": "service", "resource_id": "host:web-1"},
        {"type": "command", "resource_id": "host:web-1"},
        {"type": "command", "resource_id": "web-1", "command": "id"},
        {"type": "command", "resource_id": "host:web-2", "command": "id"},
        {"type": "command", "resource_id": "filesystem:web-1:/", "command": "id"},
        {"type": "service", "action": "destroy", "resource_id": "host:web-1"},
    ],
)
async def test_a_call_that_does_not_fit_its_resource_does_nothing(control, arguments):
    reply = await control(**arguments)

    assert reply["ok"] is False
    assert reply["error"]["code"] in ("INVALID_INPUT", "ACTION_NOT_ALLOWED", "NOT_FOUND")


async def test_over_stdio_nobody_decides_so_nothing_is_changed(tmp_path):
    child = StdioServerParameters(command=sys.executable, args=["-m", "ops"], cwd=str(ROOT))
    arguments = {"type": "command", "resource_id": "host:x", "command": f"touch {tmp_path}/made"}

    with anyio.fail_after(60):
        async with Client(child) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            refused = envelope_of(await client.call_tool("control", arguments))

    assert "control" not in names
    assert refused["ok"] is False
    assert not (tmp_path / "made").exists()
