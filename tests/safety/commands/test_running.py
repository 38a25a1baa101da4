"""Proven commands run as they were proven, and nothing of them stays behind."""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from safety.commands import Finished, prove, run_proven
from tests.safety.commands.samples import READS, lines

SECONDS = 20


async def run(command: str, *, seconds: float = SECONDS, max_bytes: int = 100_000) -> Finished:
    proof = prove(command)
    assert proof.script is not None, proof.reason
    return await run_proven(proof.script, seconds=seconds, max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("command", "stdout", "exit_code"),
    [
        ("printf '%s|' 'a b' \"c'd\"", b"a b|c'd|", 0),
        ("printf 'b\\na\\nb\\n' | sort | uniq -c | wc -l", b"2\n", 0),
        ("yes | head -n 2", b"y\ny\n", 0),
        ("cat /dev/zero | head -c 3", b"\0\0\0", 0),
        ("false || echo a && echo b", b"a\nb\n", 0),
        ("true && false", b"", 1),
        ("! false", b"", 0),
        ("for i in x y z; do echo a; done", b"a\na\na\n", 0),
        (
            "if test -d /nowhere; then echo a; elif [ -d /etc ]; then echo b; else echo c; fi",
            b"b\n",
            0,
        ),
        ("echo a; echo b 2>&1 | cat", b"a\nb\n", 0),
        ("ls /nowhere 2>/dev/null", b"", 2),
        ("ls /nowhere 2>&1 | wc -l", b"1\n", 0),
        ("echo a >/dev/null; echo b >&2", b"", 0),
        ("cat < /etc/hostname | wc -l", b"1\n", 0),
        ("echo '$HOME `id` *'", b"$HOME `id` *\n", 0),
        (": && echo a", b"a\n", 0),
        ("pwd", b"/\n", 0),
    ],
)
async def test_a_script_prints_what_a_shell_would_print(
    command: str, stdout: bytes, exit_code: int
):
    outcome = await run(command)

    assert (outcome.stdout, outcome.exit_code) == (stdout, exit_code)


async def test_what_is_missing_is_said_and_ends_the_pipeline():
    nowhere = await run("cat < /nowhere/at-all | wc -l")
    missing = await run("chronyc tracking | head -1")

    assert b"/nowhere/at-all" in nowhere.stderr
    assert nowhere.exit_code == 126
    if shutil.which("chronyc") is None:
        assert (missing.exit_code, b"chronyc" in missing.stderr) == (127, True)


async def test_the_environment_is_clean_and_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DJANGO_SECRET_KEY", "abc")
    monkeypatch.setenv("LD_PRELOAD", "")
    proof = prove("env")
    assert proof.script is not None

    outcome = await run_proven(
        proof.script,
        seconds=SECONDS,
        max_bytes=10_000,
        environment={"PATH": "/tmp", "KUBECONFIG": "/etc/x"},
    )

    seen = dict(line.split("=", 1) for line in outcome.stdout.decode().splitlines())
    assert "DJANGO_SECRET_KEY" not in seen
    assert "LD_PRELOAD" not in seen
    assert seen["KUBECONFIG"] == "/etc/x"
    assert seen["PATH"].startswith("/usr/local/sbin:")
    assert seen["PAGER"] == "cat"


def processes_named(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words and f"{os.getpid()}" not in path.parts:
            found.append(path.parts[2])
    return found


async def wait_until_gone(marker: str) -> bool:
    end = time.monotonic() + SECONDS
    while processes_named(marker):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.02)
    return True


async def test_the_deadline_ends_every_process_and_keeps_what_was_printed():
    outcome = await run("echo first; sleep 58.71 | cat", seconds=0.5)

    assert outcome.timed_out
    assert outcome.exit_code is None
    assert outcome.stdout == b"first\n"
    assert await wait_until_gone("58.71")


async def test_a_wrapper_s_child_ends_with_it():
    outcome = await run("timeout --foreground 500 sleep 58.72", seconds=0.5)

    assert outcome.timed_out
    assert await wait_until_gone("58.72")


async def test_a_cancelled_run_leaves_nothing_behind():
    task = asyncio.create_task(run("sleep 58.73 | cat"))
    end = time.monotonic() + SECONDS
    while not processes_named("58.73") and time.monotonic() < end:
        await asyncio.sleep(0.02)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await wait_until_gone("58.73")


async def test_output_is_cut_at_the_cap_and_its_source_ended():
    outcome = await run("seq 1 20000000", max_bytes=1000)

    assert outcome.cut
    assert len(outcome.stdout) == 1000
    assert outcome.exit_code is None
    assert await wait_until_gone("20000000")


async def test_descriptors_are_given_back():
    await run("echo a | cat")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    for _ in range(5):
        await run("echo a | cat | head -n 1 2>&1")
        await run("cat < /nowhere")

    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


def snapshot(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Every entry with what a write would change."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        seen[str(path)] = (status.st_mode, status.st_mtime_ns, digest)
    return seen


def make_playground(folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs" / "app.log").write_text("error one\nfine\nERROR two\n" * 50)
    (folder / "a b.txt").write_text("b 2\na 1\n")
    (folder / "-o").write_text("dash\n")
    (folder / "pods.json").write_text('{"items": [{"name": "api-0"}]}')
    subprocess.run(["tar", "-czf", "app.tgz", "logs"], cwd=folder, check=True)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    (folder / ".git" / "config").write_text(
        "[core]\n\tpager = touch pwned;cat\n\tfsmonitor = touch pwned\n"
        "[diff]\n\texternal = touch pwned\n"
    )


PLAYGROUND_READS = """
    ls -laR {folder}
    find {folder} -name '*.log' -print0 | xargs -0 wc -l
    find {folder} -type f | sort | xargs -I X ls X
    find {folder}/logs -name '*.log' | xargs grep -c error
    grep -rn -i error {folder}/logs
    awk '{{n[$1]++}} END {{for (k in n) print k, n[k]}}' {folder}/logs/app.log
    sed -n '1,3p;s/error/x/p' {folder}/logs/app.log
    sort -k2 {folder}/logs/app.log | uniq -c
    sort -- '{folder}/a b.txt' {folder}/-o
    cut -d' ' -f1 '{folder}/a b.txt'
    jq -r .items[0].name {folder}/pods.json
    tar -tzf {folder}/app.tgz
    gzip -dc {folder}/app.tgz | head -c 10 | xxd
    sha256sum {folder}/pods.json
    diff {folder}/pods.json {folder}/-o
    file {folder}/app.tgz
    du -a {folder}
    git -C {folder} status
    git -C {folder} diff
    git -C {folder} log -p
    git -C {folder} branch -a
    git -C {folder} config --list
    sqlite3 {folder}/none.db 'select 1'
    tail -n 3 {folder}/logs/app.log
    test -f {folder}/pods.json && cat {folder}/pods.json
    for i in 1 2; do wc -c {folder}/-o; done
"""


async def test_reads_leave_a_directory_as_it_was(tmp_path: Path):
    folder = tmp_path / "play"
    folder.mkdir()
    make_playground(folder)
    before = snapshot(folder)

    for command in lines(PLAYGROUND_READS.format(folder=folder)):
        if "[0]" in command:
            command = command.replace(".items[0].name", "'.items[0].name'")
        await run(command, seconds=30)
        assert snapshot(folder) == before, command


SIGNED_COMMIT = """tree {tree}
author a <a@example.com> 0 +0000
committer a <a@example.com> 0 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 x
 -----END PGP SIGNATURE-----

first
"""


def make_trapped_repository(folder: Path, marker: Path) -> None:
    """What shows or checks anything of this repository runs a program that it names."""
    trap = folder / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\n")
    trap.chmod(0o755)
    (folder / "a.txt").write_text("a\n")
    (folder / ".gitattributes").write_text("*.txt diff=x\n")
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "a.txt", ".gitattributes"], check=True)
    tree = subprocess.check_output([*git, "write-tree"], text=True).strip()
    commit = subprocess.check_output(
        [*git, "hash-object", "-t", "commit", "-w", "--stdin"],
        input=SIGNED_COMMIT.format(tree=tree),
        text=True,
    ).strip()
    subprocess.run([*git, "update-ref", "HEAD", commit], check=True)
    with (folder / ".git" / "config").open("a") as config:
        config.write(
            f"[gpg]\n\tprogram = {trap}\n[format]\n\tpretty = %GK\n"
            f'[diff "x"]\n\ttextconv = {trap}\n'
        )


@pytest.mark.parametrize("trap", ["log", "blame a.txt"])
def test_the_traps_of_the_repository_work(tmp_path: Path, trap: str):
    marker = tmp_path / "pwned"
    folder = tmp_path / "repository"
    folder.mkdir()
    make_trapped_repository(folder, marker)

    subprocess.run(["git", "-C", str(folder), *trap.split()], check=False, capture_output=True)

    assert marker.exists()


@pytest.mark.parametrize(
    "read", ["log", "log -p", "show HEAD", "blame a.txt", "diff HEAD", "reflog -p", "rev-list HEAD"]
)
async def test_no_program_that_a_repository_names_is_run(tmp_path: Path, read: str):
    marker = tmp_path / "pwned"
    folder = tmp_path / "repository"
    folder.mkdir()
    make_trapped_repository(folder, marker)

    await run(f"git -C {folder} {read}", seconds=30)

    assert not marker.exists()


async def test_reads_of_this_machine_leave_its_configuration_as_it_was(tmp_path: Path):
    watched = [Path("/etc/hosts"), Path("/etc/hostname"), Path("/etc/passwd")]
    before = [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in watched]

    for kind in ("files", "text", "pipelines", "control"):
        for command in lines(READS[kind]):
            if "sleep" not in command and "tail -f" not in command:
                await run(command, seconds=5)

    assert [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in watched] == before


def test_the_proof_needs_no_web_framework():
    code = "import sys, safety.commands; sys.exit('django' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
