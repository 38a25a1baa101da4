"""Secrets of what a command reads: masked before a program can print them without their names."""

import json
import subprocess

import pytest

from ops import command_reader
from safety.commands import file_screening, running, screen
from tests.ops.fake_docker import run_fake_docker

pytestmark = pytest.mark.slow

SECRET = "correct-Horse7-battery"
PIECE = "Horse7"
POD = {
    "kind": "Pod",
    "spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": SECRET}], "image": "app:1"}]},
    "status": {"phase": "Running"},
}
PODS = json.dumps(
    {
        "items": [
            {
                "metadata": {"name": "api-1", "namespace": "shop"},
                "status": {"phase": "Running"},
                "spec": {"nodeName": "node-1"},
            }
        ]
    }
)


@pytest.fixture
def settings_file(tmp_path):
    file = tmp_path / "conf" / "app.conf"
    file.parent.mkdir()
    file.write_text(f"host = db-1\npassword = {SECRET}\nport = 5432\n")
    return file


@pytest.fixture
def clients(programs, monkeypatch):
    """Clients of an engine and of a cluster on this machine."""
    monkeypatch.setattr(running, "PATH", f"{programs.directory}:{running.PATH}")
    return programs


async def run(call, command: str, **arguments):
    return await call("read", action="exec", command=command, **arguments)


async def test_command_over_a_file_with_secrets_runs_without_them_and_says_so(call, settings_file):
    reply = await run(call, f"awk '{{print $3}}' {settings_file}")

    assert reply["data"]["stdout"] == "db-1\n[MASKED:password#1001]\n5432\n"
    assert reply["meta"]["notes"] == [
        f"stdout: 1 secret in {settings_file} masked before the command read it, so that its "
        "counts, positions and checksums are those of the masked text"
    ]


@pytest.fixture
def large_repository(tmp_path):
    subprocess.run(["git", "-C", tmp_path, "init", "-q"], check=True)
    (tmp_path / "f.txt").write_text("a line like any other\n" * 60_000 + "the last one\n")
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    return tmp_path


async def test_lines_with_too_much_around_them_to_be_looked_at_say_so(call, large_repository):
    reply = await run(call, f"git -C {large_repository} grep -h last -- f.txt")

    assert reply["data"]["stdout"] == "the last one\n"
    assert reply["meta"]["notes"] == [
        "stdout: of what surrounds the lines that git printed no more than 1 MiB and 3 s of it was "
        "looked at for secrets; lines are masked as they stand"
    ]


async def test_names_of_files_stay_those_that_were_asked_for(call, settings_file):
    reply = await run(call, f"grep -oH 'p.*' {settings_file}; head -v -n 1 {settings_file}")

    assert f"{settings_file}:password = [MASKED:password#1001]\n" in reply["data"]["stdout"]
    assert f"==> {settings_file} <==" in reply["data"]["stdout"]
    assert "/proc/self" not in reply["data"]["stdout"]


async def test_counts_and_checksums_are_those_of_the_file_itself(call, settings_file):
    reply = await run(call, f"wc -c {settings_file}; cat {settings_file} | wc -c")

    size = settings_file.stat().st_size
    assert reply["data"]["stdout"] == f"{size} {settings_file}\n{size}\n"
    assert reply["meta"]["notes"] == []


async def test_parts_of_a_file_too_large_to_be_looked_at_are_withheld(
    call, settings_file, monkeypatch
):
    monkeypatch.setattr(file_screening, "MAX_LOOKED_AT", 20)

    error = (await run(call, f"cut -c5- {settings_file}"))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"
    assert "too much to be looked at" in error["message"]
    assert "`grep`" in error["message"]
    reply = await run(call, f"grep host {settings_file}")
    assert reply["data"]["stdout"] == "host = db-1\n"


async def test_source_that_does_not_end_is_named(call, settings_file, monkeypatch):
    monkeypatch.setattr(command_reader, "_SECONDS", 0.5)

    error = (await run(call, f"tail -f {settings_file} | cut -c1-4 | head -n 1"))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"
    assert "tail did not end" in error["message"]
    assert "`head -n`" in error["message"]


async def test_endless_source_with_few_lines_taken_from_it_ends(call, settings_file):
    reply = await run(call, f"tail -f {settings_file} | head -n 2 | cut -c1-4")

    assert reply["data"]["stdout"] == "host\npass\n"


async def test_more_than_is_looked_at_still_passes_through_what_keeps_lines(call, monkeypatch):
    monkeypatch.setattr("safety.commands.pipe_screening.MAX_LOOKED_AT", 1_000)

    reply = await run(call, "seq 1 100000 | tail -n 1")
    error = (await run(call, "seq 1 100000 | cut -c1"))["error"]

    assert reply["data"]["stdout"] == "100000\n"
    assert error["code"] == "SENSITIVE_COMMAND"


async def test_tree_with_secrets_is_printed_in_whole_lines_only(call, settings_file):
    folder = settings_file.parent / "app"
    folder.mkdir()
    (folder / "pod.yaml").write_text(f"env:\n- name: DB_PASSWORD\n  value: other-{SECRET}\n")

    lines = await run(call, f"grep -rh value {folder}")
    error = (await run(call, f"grep -rohE '[a-z-]+Horse7.*' {folder}"))["error"]

    assert "value: [MASKED:password#" in lines["data"]["stdout"]
    assert error["code"] == "SENSITIVE_COMMAND"
    assert "whole lines" in error["message"]


@pytest.mark.parametrize(
    "command",
    ["docker inspect api | grep -o 'PASSWORD[^,]*' | cut -d= -f2",
     "docker inspect api | jq -r '.[0].Config.Env[0]' | rev",
     "docker inspect api | tr -d '\"' | xxd",
     "docker inspect -f '{{index .Config.Cmd 1}}' api",
     "docker inspect -f '{{printf \"%x\" .Config.Cmd}}' api"],
)  # fmt: skip
async def test_what_a_container_is_told_is_masked_while_it_is_whole(call, clients, command):
    config = {"Env": [f"DB_PASSWORD={SECRET}"], "Cmd": ["--password", SECRET]}
    clients.answer("docker", "-f", f"{SECRET}\n")
    clients.answer("docker", "inspect", [{"Config": config}])

    reply = await run(call, command)

    assert PIECE not in json.dumps(reply)
    assert PIECE[::-1] not in json.dumps(reply)
    assert reply["ok"] is ("printf" not in command)


@pytest.mark.parametrize(
    ("command", "is_answered"),
    [("docker ps --no-trunc --format '{{slice .Command 27}}'", False),
     ("docker ps --no-trunc --format '{{index (split .Command \" \") 2}}'", False),
     ("docker container ls --no-trunc --format '{{slice .Command 27}}'", False),
     ("docker history --no-trunc --format '{{slice .CreatedBy 27}}' app:1", False),
     ("docker ps --no-trunc --format '{{.Command}}'", True)],
)  # fmt: skip
async def test_rows_of_an_engine_are_masked_as_they_are_whole(call, clients, command, is_answered):
    started = f"redis-server --requirepass {SECRET}"
    clients.answer("docker", ["{{json .}}"], {"Command": started, "CreatedBy": started})
    clients.answer("docker", "--format", f"{SECRET}\n")

    reply = await run(call, command)

    assert PIECE not in json.dumps(reply)
    assert reply["ok"] is is_answered


async def test_field_of_a_pod_by_a_path_is_masked_as_the_whole_says(call, clients):
    clients.answer("kubectl", "get json", POD)
    clients.answer("kubectl", "get", f"{SECRET} app:1")

    path = "{.spec.containers[0].env[0].value} {.spec.containers[0].image}"
    reply = await run(call, f"kubectl get pod api -o jsonpath='{path}'")

    assert reply["data"]["stdout"] == "[MASKED:password#1001] app:1"


# Elsewhere


@pytest.fixture
async def containers(settings):
    async with run_fake_docker(settings.docker_sockets[0]) as fake:
        fake.answer(
            "/containers/json",
            [{"Id": "0123456789ab" * 5, "Names": ["/api"], "State": "running"}],
        )
        yield fake


SHAPES = [
    "cut -c12- {f}", "awk '{{print $3}}' {f}", "rev {f}", "xxd -p {f}", "tail -c 20 {f}",
    "grep -o 'c.*' {f}", "tr a-y b-z < {f}", "cut -c12- < {f}", "cat {f} | cut -c12-",
    "cat {f} | rev | rev | cut -c12-", "base64 {f}", "head -n 2 {f} | tail -n 1 | cut -d= -f2",
    "paste {f} {f}", "grep -roh 'c.*' {d}", "sort {f} {f} | cut -c12-",
    "find {d} -type f | xargs grep -oh 'c.*'", "grep -c x {f} && rev {f}",
]  # fmt: skip


@pytest.mark.parametrize("target", ["api", "db-1", "pod:prod:shop/api-1"])
async def test_no_shape_is_readable_at_other_places_either(
    reach, containers, programs, settings_file, target
):
    programs.answer("kubectl", "get pods", PODS)
    given = {"target_host": "db-1"} if target == "db-1" else {"resource_id": target}

    ran = 0
    for shape in SHAPES:
        command = shape.format(f=settings_file, d=settings_file.parent)
        reply = await run(reach, command, **given)
        text = json.dumps(reply)
        ran += reply["ok"]
        for piece in (PIECE, PIECE[::-1], PIECE.encode().hex(), "Ipstf7", "SG9yc2U3", "hvcnNl"):
            assert piece not in text, command
        assert reply["ok"] or reply["error"]["code"] == "SENSITIVE_COMMAND", text

    assert ran >= 12


async def test_masked_copy_there_keeps_the_name_of_the_file(reach, programs, settings_file):
    reply = await run(reach, f"grep -oH '^port' {settings_file}", target_host="db-1")

    assert reply["data"]["stdout"] == f"{settings_file}:port\n"


async def test_looking_takes_too_long_or_finds_too_much_is_said(call, settings_file, monkeypatch):
    monkeypatch.setattr(screen, "_SECONDS", 0.0)

    error = (await run(call, f"cut -c5- {settings_file}"))["error"]

    assert error["code"] == "SENSITIVE_COMMAND"
    assert "takes too long" in error["message"]
