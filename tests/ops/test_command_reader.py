"""`read action=exec`: what is proven runs where it is meant to, and nothing else runs at all."""

import json
from dataclasses import replace

import pytest

from ops import command_reader
from ops.server import build_server
from ops.targets import Targets
from safety.commands import Finished
from tests.ops.calls import call_tool
from tests.ops.fake_docker import run_fake_docker
from tests.safety.commands.samples import ENDLESS, UNSAFE, lines

pytestmark = pytest.mark.slow

PROD = json.dumps(
    {
        "items": [
            {
                "metadata": {"name": "api-1", "namespace": "shop"},
                "status": {"phase": "Running"},
                "spec": {"nodeName": "node-1"},
            },
            {"metadata": {"name": "job-1", "namespace": "shop"}, "status": {"phase": "Pending"}},
        ]
    }
)


@pytest.fixture
async def containers(settings):
    async with run_fake_docker(settings.docker_sockets[0]) as fake:
        fake.answer(
            "/containers/json",
            [
                {"Id": "0123456789ab" * 5, "Names": ["/api"], "State": "running"},
                {"Id": "ba9876543210" * 5, "Names": ["/job"], "State": "exited"},
            ],
        )
        yield fake


async def run(call, command: str, **arguments):
    return await call("read", action="exec", command=command, **arguments)


async def test_proven_command_runs_here_and_everything_about_it_is_told(call):
    reply = await run(call, "printf 'b\\na\\n' | sort; ls /nowhere")

    data = reply["data"]
    assert data["stdout"] == "a\nb\n"
    assert data["exit_code"] == 2
    assert "/nowhere" in data["stderr"]
    assert data["timed_out"] is False
    assert data["execution"] == {
        "requested_target_host": "web-1",
        "resolved_kind": "host",
        "resolved_node": "web-1",
        "transport": "direct",
        "target_id": "web-1",
    }
    assert reply["meta"]["notes"] == []


@pytest.mark.parametrize("kind", UNSAFE)
async def test_nothing_that_could_change_anything_is_run(call, programs, monkeypatch, kind):
    monkeypatch.setattr(command_reader, "run_proven", _never)

    for command in lines(UNSAFE[kind]):
        error = (await run(call, command))["error"]
        assert error["code"] in ("READ_ONLY_VIOLATION", "SENSITIVE_COMMAND", "INVALID_INPUT")
        assert error["code"] == "INVALID_INPUT" or error["blocked"] is True


async def test_refusal_tells_facts(call):
    error = (await run(call, "rm -rf /srv/data"))["error"]

    assert error["code"] == "READ_ONLY_VIOLATION"
    assert error["retryable"] is False
    assert error["details"]["command"] == "rm -rf /srv/data"
    assert error["details"]["intent"] == "write_or_unknown"
    assert "rm is not" in error["details"]["reason"]
    assert "policy_boundary" in error["details"]


async def test_command_without_end_is_rewritten_once_and_that_is_said(call, tmp_path):
    log = tmp_path / "app.log"
    log.write_text("one\ntwo\n")

    reply = await run(call, f"tail -f {log}")

    assert reply["data"]["stdout"] == "one\ntwo\n"
    assert reply["data"]["command"] == f"tail -n 200 {log}"
    [note] = reply["meta"]["notes"]
    assert f"tail -f {log}" in note
    assert f"tail -n 200 {log}" in note


async def test_rewrite_is_proven_like_any_other_command(call):
    error = (await run(call, "less /etc/shadow"))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"


async def test_rewrite_that_may_not_be_tried_alone_is_only_told(call):
    error = (await run(call, "psql"))["error"]

    assert error["code"] == "READ_ONLY_VIOLATION"
    assert error["details"]["category"] == "interactive_repl"
    assert error["details"]["suggested_rewrite"] == 'psql -c "SELECT ..."'


async def test_no_command_without_end_ever_runs_as_it_is(call, monkeypatch):
    monkeypatch.setattr(command_reader, "run_proven", _note)

    for command in lines(ENDLESS):
        reply = await run(call, command)
        assert not reply["ok"] or reply["meta"]["notes"]


@pytest.mark.parametrize(
    "command",
    ["cat /etc/shadow", "cat /root/.ssh/id_rsa", "grep -r x /etc", "cat < /etc/shadow",
     "head /proc/1/environ", "md5sum /etc/gshadow"],
)  # fmt: skip
async def test_sensitive_paths_are_refused_even_for_reads(call, command):
    error = (await run(call, command))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"
    assert error["blocked"] is True


async def test_state_of_the_product_is_refused(call, settings):
    settings.protected[0].mkdir()

    error = (await run(call, f"ls {settings.protected[0]}"))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"


@pytest.mark.parametrize(
    "command",
    ["dig secret.evil.example", "ping -c 1 evil.example", "nc -z 10.0.0.9 80",
     "curl -s http://10.0.0.9/", "psql -h db.evil.example -c 'select 1'"],
)  # fmt: skip
async def test_no_other_machine_is_talked_to_unless_an_operator_allows_it(
    call, settings, monkeypatch, command
):
    monkeypatch.setattr(command_reader, "run_proven", _never)

    error = (await run(call, command))["error"]

    assert error["code"] == "POLICY_BLOCKED"
    allowed = build_server(replace(settings, targets=Targets(may_reach_out=True)))
    monkeypatch.setattr(command_reader, "run_proven", _note)
    reply = await call_tool(allowed, "read", {"action": "exec", "command": command})
    assert reply["data"]["stdout"] == "ran"


async def test_output_is_cut_at_a_line_and_the_cut_is_said(call, monkeypatch):
    monkeypatch.setattr(command_reader, "_MAX_BYTES", 1000)

    reply = await run(call, "seq 1 100000")

    assert reply["data"]["stdout"].endswith("\n")
    assert 0 < len(reply["data"]["stdout"]) <= 1000
    assert "more than 1000 bytes" in reply["meta"]["cuts"][0]


async def test_command_that_says_nothing_in_time_is_no_answer(call, monkeypatch):
    monkeypatch.setattr(command_reader, "_SECONDS", 0.3)

    error = (await run(call, "sleep 30"))["error"]

    assert error["code"] == "EXECUTION_FAILED"
    assert error["retryable"] is True


async def test_program_that_is_not_here_is_no_answer(call):
    error = (await run(call, "zpool status"))["error"]

    assert error["code"] == "EXECUTION_FAILED"


# Elsewhere


@pytest.mark.parametrize("target", ["api", "container:web-1:0123456789ab"])
async def test_command_for_a_container_runs_in_it(reach, containers, programs, target):
    reply = await run(reach, "cat /etc/hostname | wc -l", resource_id=target)

    assert reply["data"]["stdout"] == "1\n"
    assert reply["data"]["execution"]["transport"] == "docker_exec"
    assert all("0123456789ab" in argv for argv in programs.argv("docker"))
    assert len(programs.argv("docker")) == 3


async def test_command_for_another_host_goes_over_ssh(reach, programs):
    reply = await run(reach, "uname -s", target_host="db-1")

    assert reply["data"]["stdout"] == "Linux\n"
    assert reply["data"]["execution"]["transport"] == "ssh"
    assert programs.argv("ssh")[0][-2] == "db-1.internal"


async def test_command_for_a_pod_runs_in_it(reach, programs):
    programs.answer("kubectl", "get pods", PROD)

    reply = await run(reach, "uname -s", resource_id="pod:prod:shop/api-1", container="app")

    assert reply["data"]["stdout"] == "Linux\n"
    assert reply["data"]["execution"]["transport"] == "kubectl_exec"
    assert programs.argv("kubectl")[-1][:5] == [
        "--context=prod-context", "exec", "--namespace=shop", "--container=app", "api-1",
    ]  # fmt: skip


@pytest.mark.parametrize(("program", "guest"), [("pct", "lxc:web-1:101"), ("qm", "vm:web-1:102")])
async def test_command_for_a_guest_runs_in_it(reach, programs, program, guest):
    programs.answer("pct", "list", "VMID       Status     Lock         Name\n101 running cache\n")
    programs.answer(
        "qm", "list", " VMID NAME STATUS MEM(MB) BOOTDISK(GB) PID\n 102 db running 1 2 3"
    )

    reply = await run(reach, "uname -s", resource_id=guest)

    assert reply["data"]["stdout"] == "Linux\n"
    assert guest.rpartition(":")[2] in programs.argv(program)[-1]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("container:web-1:ba9876543210", "EXECUTION_CONTEXT_UNAVAILABLE"),
        ("job", "EXECUTION_CONTEXT_UNAVAILABLE"),
        ("pod:prod:shop/job-1", "EXECUTION_CONTEXT_UNAVAILABLE"),
        ("nobody", "NOT_FOUND"),
        ("host:evil.example", "NOT_FOUND"),
        ("-oProxyCommand=id", "NOT_FOUND"),
        ("pod:prod:shop/api-1 --", "NOT_FOUND"),
    ],
)
async def test_nothing_runs_where_the_resource_does_not(reach, containers, programs, target, code):
    programs.answer("kubectl", "get pods", PROD)

    error = (await run(reach, "uname -s", resource_id=target))["error"]

    assert error["code"] == code
    assert not programs.argv("ssh")
    assert not programs.argv("docker")
    assert not [argv for argv in programs.argv("kubectl") if "exec" in argv]
    if code == "EXECUTION_CONTEXT_UNAVAILABLE":
        assert error["details"]["transport"] == "none"


@pytest.mark.parametrize(
    ("command", "leads_to"),
    [
        ("cat /srv/harmless", "/etc/shadow"),
        ("cat < /srv/harmless", "/etc/shadow"),
        ("sort --files0-from=/srv/harmless", "/etc/shadow"),
        ("grep -f/srv/harmless /srv/app.log", "/root/.ssh/id_rsa"),
        ("grep -r key /srv/harmless", "/etc"),
        ("grep -r key /srv/harmless", "/"),
        ("head -n 5 /srv/harmless", "/proc/1/environ"),
    ],
)
async def test_link_in_a_container_leads_to_no_secret(
    reach, containers, programs, command, leads_to
):
    stderr = "[the program starts here]\n"
    programs.answer("docker", "realpath", f"/srv/app.log\n{leads_to}\n", stderr=stderr)

    error = (await run(reach, command, resource_id="api"))["error"]

    assert error["code"] in ("SENSITIVE_COMMAND", "READ_ONLY_VIOLATION")
    assert not [argv for argv in programs.argv("docker") if "realpath" not in argv]


@pytest.mark.parametrize("command", ["cat {}", "grep -r root {}", "head < {}"])
async def test_link_on_this_machine_leads_to_no_secret(call, tmp_path, command):
    (tmp_path / "harmless").symlink_to("/etc" if "-r" in command else "/etc/shadow")

    error = (await run(call, command.format(tmp_path / "harmless")))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"


async def test_path_that_cannot_be_followed_there_is_not_read(reach, containers, programs):
    stderr = "[the program starts here]\nrealpath: not found\n"
    programs.answer("docker", "realpath", "", stderr=stderr, exit_code=127)

    error = (await run(reach, "cat /srv/app.log", resource_id="api"))["error"]

    assert error["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert len(programs.argv("docker")) == 1


async def test_files_and_logs_of_another_place_are_not_those_of_this_one(reach, containers):
    for action in ("file", "tail", "find", "logs"):
        reply = await reach("read", action=action, path="/etc/hostname", target_host="api")
        assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"

    assert (await reach("read", action="file", path="/etc/hostname", target_host="web-1"))["ok"]


async def test_hosts_of_the_operator_are_resources(reach):
    found = (await reach("query", action="get", resource_id="host:db-1"))["data"]

    assert found["aliases"] == ["db-1.internal"]
    assert found["executors"][0]["adapter"] == "ssh"
    assert "read.exec" in found["allowed_actions"]


async def test_silent_host_is_an_error_with_what_ssh_said(reach, programs):
    programs.answer("ssh", "db-1.internal", "", stderr="Host key verification failed.\n",
                    exit_code=255)  # fmt: skip

    error = (await run(reach, "uname -s", target_host="db-1"))["error"]

    assert error["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert "Host key" in error["message"]


async def _note(script, **_):
    return Finished(0, b"ran", b"")


async def _never(*_, **__):
    raise AssertionError("it ran")
