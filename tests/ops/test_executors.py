"""Every way to run a program: the words arrive as they were given, and nothing stays behind."""

import asyncio
import base64
import os
import shlex
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.envelope import ToolFailure
from ops.executors.base import Executor
from ops.executors.docker import DockerExecutor
from ops.executors.guests import PctExecutor, QmExecutor
from ops.executors.kubectl import KubectlExecutor
from ops.executors.local import LocalExecutor
from ops.executors.scripts import run_script
from ops.executors.ssh import SshAccess, SshExecutor
from safety.commands import prove
from safety.commands.running import PATH
from safety.commands.script import Finished
from tests.ops.fake_programs import FakePrograms

pytestmark = pytest.mark.slow

SECONDS = 20.0
MAX_BYTES = 100_000
MARK = "[the program starts here]\n"
WAYS = ["local", "docker", "kubectl", "ssh", "pct", "qm"]
HOSTILE = [
    "", " ", "a b", "--", "-rf", "--privileged", "$(touch /tmp/pwned)", "`id`", "; id", "a\nb",
    "'", '"', "\\", "\\'", "'\\''", "!!", "*", "~", "$HOME", "a=b", "#", "&& id", "%s", "\t", "é",
    "\x1b[31m", "{a,b}", "<(id)", "|", "\r", "--container=x", "\\\\'; id #",
]  # fmt: skip


@pytest.fixture
def local(programs: FakePrograms) -> LocalExecutor:
    return LocalExecutor(f"{programs.directory}:{PATH}")


def way(name: str, local: Executor) -> Executor:
    match name:
        case "docker":
            return DockerExecutor(local, "api", Path("/run/docker.sock"))
        case "kubectl":
            return KubectlExecutor(local, ("kubectl", "--context=prod"), "shop", "api-1", "app")
        case "ssh":
            return SshExecutor(local, SshAccess("db-1.internal", user="ops"))
        case "pct":
            return PctExecutor(local, "101")
        case "qm":
            return QmExecutor(local, "102")
    return local


async def run(
    executor: Executor, *argv: str, seconds: float = SECONDS, stdin: bytes = b""
) -> Finished:
    return await executor.run(argv, seconds=seconds, max_bytes=MAX_BYTES, stdin=stdin)


@pytest.mark.parametrize("name", WAYS)
async def test_every_word_arrives_as_it_was_given(name: str, local: LocalExecutor):
    finished = await run(way(name, local), "printf", r"%s\037", *HOSTILE)

    assert finished.stdout.decode() == "".join(f"{word}\x1f" for word in HOSTILE)
    assert finished.exit_code == 0
    assert not os.path.exists("/tmp/pwned")  # noqa: ASYNC240, PTH110


@pytest.mark.parametrize("login", ["/bin/sh", "/bin/bash"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4
    )
)
async def test_no_login_shell_reads_the_words_again(
    login: str, words: list[str], programs: FakePrograms, local: LocalExecutor
):
    programs.add("ssh", login)

    finished = await run(way("ssh", local), "printf", r"%s\037", "x", *words)

    assert finished.stdout.decode() == "".join(f"{word}\x1f" for word in ["x", *words])


@pytest.mark.parametrize("name", WAYS)
async def test_exit_code_and_both_streams_come_back(name: str, local: LocalExecutor):
    finished = await run(way(name, local), "sh", "-c", "echo out; echo err >&2; exit 7")

    assert (finished.exit_code, finished.stdout, finished.stderr) == (7, b"out\n", b"err\n")


@pytest.mark.parametrize("name", WAYS)
async def test_input_reaches_the_program(name: str, local: LocalExecutor):
    finished = await run(way(name, local), "wc", "-c", stdin=b"x" * 5000)

    assert finished.stdout.split() == [b"5000"]


@pytest.mark.parametrize("name", WAYS)
async def test_program_starts_in_the_root_with_a_clean_environment(
    name: str, local: LocalExecutor, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TARSY_SECRET", "hunter2")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")

    finished = await run(way(name, local), "sh", "-c", "pwd; env")

    lines = finished.stdout.decode().splitlines()
    assert lines[0] == "/"
    names = {line.partition("=")[0] for line in lines[1:]}
    assert {"PATH", "GIT_CONFIG_COUNT", "PGOPTIONS"} <= names
    assert not names & {"TARSY_SECRET", "LD_LIBRARY_PATH"}


@pytest.mark.parametrize("name", WAYS)
async def test_nothing_is_left_of_a_program_that_outlives_its_deadline(
    name: str, local: LocalExecutor, tmp_path: Path
):
    marker = f"{tmp_path}/marker"
    program = f"sleep 871 & exec sh -c 'echo on; sleep 871; : {marker}'"
    started = time.monotonic()

    finished = await run(way(name, local), "sh", "-c", program, seconds=0.8)

    assert finished.timed_out
    assert finished.exit_code is None
    assert time.monotonic() - started < 5
    await _wait_until_gone(marker)


async def test_cancelling_ends_the_program(local: LocalExecutor, tmp_path: Path):
    marker = f"{tmp_path}/marker"
    task = asyncio.create_task(run(local, "sh", "-c", f"sleep 872; : {marker}"))
    async with asyncio.timeout(5):
        while not _running(marker):
            await asyncio.sleep(0.01)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await _wait_until_gone(marker)


@pytest.mark.parametrize("name", WAYS)
async def test_output_is_capped_and_the_program_ended(name: str, local: LocalExecutor):
    source = "head -c 900000 /dev/zero | tr '\\0' x"

    finished = await run(way(name, local), "sh", "-c", source)

    assert finished.cut
    assert 0 < len(finished.stdout) <= MAX_BYTES


async def test_background_work_does_not_hold_the_call(local: LocalExecutor, tmp_path: Path):
    marker = f"{tmp_path}/marker"
    started = time.monotonic()

    finished = await run(local, "sh", "-c", f"sh -c 'sleep 873; : {marker}' & echo done")

    assert finished.stdout == b"done\n"
    assert time.monotonic() - started < 5
    await _wait_until_gone(marker)


async def test_program_that_is_not_here_never_ran(local: LocalExecutor):
    with pytest.raises(ToolFailure) as failure:
        await run(local, "no-such-program-anywhere")

    assert failure.value.code == "EXECUTION_CONTEXT_UNAVAILABLE"


@pytest.mark.parametrize(
    "argv", [(), ("",), ("-x",), ("A=b",), ("ls", "a\0b"), ("ls", "\ud800"), ("ls", "x" * 200_000)]
)
@pytest.mark.parametrize("name", WAYS)
async def test_what_is_no_program_is_refused_before_anything_starts(
    name: str, argv: tuple[str, ...], local: LocalExecutor, programs: FakePrograms
):
    with pytest.raises(ToolFailure) as failure:
        await run(way(name, local), *argv)

    assert failure.value.code == "INVALID_INPUT"
    assert [programs.calls(each) for each in ("docker", "kubectl", "ssh", "pct", "qm")] == [[]] * 5


@pytest.mark.parametrize(
    "name",
    ["", "-it", "--privileged", "a b", "a/b", "a\n", "\na", "$(id)", "a;b", "../x", "a=b", "é",
     "x" * 300],
)  # fmt: skip
def test_no_name_can_be_an_option_or_a_path(name: str, local: LocalExecutor):
    for build in (
        lambda: DockerExecutor(local, name),
        lambda: PctExecutor(local, name),
        lambda: QmExecutor(local, name),
        lambda: SshExecutor(local, SshAccess(name)),
        lambda: SshExecutor(local, SshAccess("db-1", user=name or "-")),
        lambda: KubectlExecutor(local, ("kubectl",), name, "api-1"),
        lambda: KubectlExecutor(local, ("kubectl",), "shop", name),
        lambda: KubectlExecutor(local, ("kubectl",), "shop", "api-1", name or "-"),
    ):
        with pytest.raises(ToolFailure) as failure:
            build()
        assert failure.value.code == "INVALID_INPUT"


@pytest.mark.parametrize("guest", ["1", "99", "0101", "101a", "9999999999", "-101", "１０１"])
def test_guest_is_a_number_of_proxmox(guest: str, local: LocalExecutor):
    with pytest.raises(ToolFailure):
        PctExecutor(local, guest)


async def test_ssh_asks_nothing_forwards_nothing_and_reads_no_other_configuration(
    local: LocalExecutor, programs: FakePrograms, tmp_path: Path
):
    access = SshAccess(
        "db-1", user="ops", port=2222, identity_file=tmp_path / "key",
        known_hosts=tmp_path / "known", connect_seconds=3,
    )  # fmt: skip

    await run(SshExecutor(local, access), "uptime")

    [argv] = programs.argv("ssh")
    assert argv[:2] == ["-F", "none"]
    for option in (
        "BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=3", "ForwardAgent=no",
        "ClearAllForwardings=yes", "PermitLocalCommand=no", "RequestTTY=no", "Port=2222",
        f"UserKnownHostsFile={tmp_path / 'known'}",
    ):  # fmt: skip
        assert argv[argv.index(option) - 1] == "-o"
    assert argv[-3:-1] == ["--", "db-1"]
    assert [name for name in programs.calls("ssh")[0]["environ"] if name.startswith("SSH")] == []


async def test_guest_of_another_node_is_reached_through_that_node(
    local: LocalExecutor, programs: FakePrograms
):
    programs.answer("ssh", "pve-1", "up\n", stderr=f"a banner\n{MARK}{MARK}")

    finished = await run(PctExecutor(SshExecutor(local, SshAccess("pve-1")), "101"), "uptime")

    [argv] = programs.argv("ssh")
    inner = base64.b64decode(argv[-1].split()[6]).decode()
    assert finished.stdout == b"up\n"
    assert shlex.split(inner)[5:9] == ["pct", "exec", "101", "--"]


async def test_docker_uses_the_engine_that_the_container_came_from(
    local: LocalExecutor, programs: FakePrograms
):
    await run(way("docker", local), "uptime")

    assert programs.argv("docker")[0][:6] == [
        "--host", "unix:///run/docker.sock", "exec", "--", "api", "sh",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"exited": 1, "exitcode": 3, "out-data": "a", "err-data": MARK + "b"}, (3, b"a", b"b")),
        ({"exited": 1, "exitcode": 0, "err-data": MARK}, (0, b"", b"")),
        ({"exited": True, "signal": 9, "err-data": MARK}, (None, b"", b"")),
    ],
)
async def test_answer_of_a_guest_agent_is_read(
    answer: dict[str, object],
    expected: tuple[object, ...],
    local: LocalExecutor,
    programs: FakePrograms,
):
    programs.answer("qm", "guest exec", answer)

    found = await run(way("qm", local), "uptime")

    assert (found.exit_code, found.stdout, found.stderr) == expected
    assert not found.timed_out


@pytest.mark.parametrize("answer", [{"pid": 4711}, {"exited": 0, "pid": 4711}])
async def test_guest_whose_program_goes_on_has_not_answered(
    answer: dict[str, object], local: LocalExecutor, programs: FakePrograms
):
    programs.answer("qm", "guest exec", answer)

    found = await run(way("qm", local), "uptime")

    assert found.timed_out
    assert found.exit_code is None


@pytest.mark.parametrize("answer", ["", "[]", "3", "{}", "not json", "[" * 5000, '{"pid": 1'])
async def test_guest_without_an_agent_has_started_nothing(
    answer: str, local: LocalExecutor, programs: FakePrograms
):
    programs.answer("qm", "guest exec", answer, stderr="agent is not running\n", exit_code=255)

    with pytest.raises(ToolFailure, match="agent is not running") as failure:
        await run(way("qm", local), "uptime")

    assert failure.value.code == "EXECUTION_CONTEXT_UNAVAILABLE"


@pytest.mark.parametrize("name", WAYS[1:])
async def test_way_that_is_broken_says_why_and_that_nothing_was_started(
    name: str, local: LocalExecutor, programs: FakePrograms
):
    programs.answer(name, "sh sh" if name != "ssh" else "db-1.internal", "",
                    stderr="Connection refused\n", exit_code=1)  # fmt: skip

    with pytest.raises(ToolFailure, match=r"Nothing was started.*Connection refused") as failure:
        await run(way(name, local), "uptime")

    assert failure.value.code == "EXECUTION_CONTEXT_UNAVAILABLE"


@pytest.mark.parametrize(
    "command",
    [
        "printf 'b\\na\\nb\\n' | sort | uniq -c | wc -l",
        "false || echo a && echo b",
        "! false",
        "for i in x y z; do echo a; done",
        "if test -d /nowhere; then echo a; elif [ -d /etc ]; then echo b; else echo c; fi",
        "echo a; echo b 2>&1 | cat",
        "ls /nowhere 2>/dev/null",
        "ls /nowhere 2>&1 | wc -l",
        "echo a >/dev/null; echo b >&2",
        "cat < /etc/hostname | wc -l",
        "grep -c . /etc/passwd",
        "yes | head -n 2",
    ],
)
@pytest.mark.parametrize("name", ["local", "docker", "ssh"])
async def test_script_does_elsewhere_what_a_shell_does_here(
    name: str, command: str, local: LocalExecutor
):
    script = prove(command).script
    assert script is not None
    shell = await run(local, "sh", "-c", command)

    finished = await run_script(way(name, local), script, seconds=SECONDS, max_bytes=MAX_BYTES)

    assert finished.stdout == shell.stdout
    assert finished.stderr == shell.stderr
    assert finished.exit_code == shell.exit_code


async def test_no_part_of_a_script_runs_on_another_machine(
    local: LocalExecutor, programs: FakePrograms
):
    script = prove("grep -c root /etc/passwd | head -n 1 | wc -l").script
    assert script is not None

    await run_script(way("docker", local), script, seconds=SECONDS, max_bytes=MAX_BYTES)

    assert [argv[-3:] for argv in programs.argv("docker")] == [
        ["-c", "root", "/etc/passwd"],
        ["head", "-n", "1"],
        [programs.argv("docker")[2][-3], "wc", "-l"],
    ]


async def test_script_ends_at_its_deadline_with_what_it_has(local: LocalExecutor):
    script = prove("echo a; sleep 5; echo b").script
    assert script is not None

    finished = await run_script(local, script, seconds=0.5, max_bytes=MAX_BYTES)

    assert finished.timed_out
    assert finished.stdout == b"a\n"


def _running(marker: str) -> bool:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in line and shlex.quote(marker):
            return True
    return False


async def _wait_until_gone(marker: str) -> None:
    """Ends when no process has the marker on its command line; over there it may take a moment."""
    async with asyncio.timeout(5):
        while _running(marker):
            await asyncio.sleep(0.02)
