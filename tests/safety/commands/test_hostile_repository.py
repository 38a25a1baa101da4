"""A repository whose configuration names a program for everything that git can be told to run."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from masking import build_default_masker
from ops.executors.scripts import run_script
from safety.commands import Screen, prove, run_proven
from safety.commands.git_filters import Armed, without_filters
from safety.commands.running import clean_environment
from safety.commands.script import Finished
from tests.safety.commands.samples import lines

READS = """
    status
    status -s
    status --porcelain
    status --ignored
    diff
    diff HEAD~1
    diff --cached
    diff --stat
    diff a.txt
    show
    show HEAD~2
    log -p
    log -p -3 --stat
    log -L1,1:a.txt
    whatchanged -p
    blame a.txt
    blame HEAD a.txt
    diff-files -p
    diff-index HEAD
    diff-index -p HEAD
    diff-tree -p HEAD
    describe --always --dirty
    ls-files -m
    ls-files --eol
    grep one
    grep one HEAD
    stash list
    submodule status --cached
    shortlog HEAD
    branch -vv
    cat-file -p HEAD:a.txt
    reflog
    show HEAD:a.txt
    check-ignore a.txt
    worktree list
    for-each-ref
"""


class Elsewhere:
    """The way to another machine, which has the same repository and the same environment."""

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        done = await asyncio.to_thread(
            subprocess.run, argv, input=stdin, capture_output=True, env=clean_environment(), cwd="/"
        )
        return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("hostile")
    evil, repository, inner = base / "evil", base / "r", base / "inner"
    evil.write_text(f'#!/bin/sh\necho "$@" >> {base}/ran\ncat\n')
    evil.chmod(0o755)
    for each in (inner, repository):
        each.mkdir()
        _git(each, "init", "-q")
        (each / "a.txt").write_text("one\n")
        _git(each, "add", "a.txt")
        _git(each, "commit", "-qm", "one")
    (repository / "a.txt").write_text("two\n")
    _git(repository, "commit", "-qam", "two")
    _git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "s")
    _git(repository, "commit", "-qm", "with another")
    for each, state in ((repository / "s", ".git/modules/s"), (repository, ".git")):
        _arm(each, repository / state, evil)
    for each in (repository / "a.txt", repository / "s" / "a.txt"):
        each.write_text("TWO\n")
        os.utime(each, (1, 1))
    return repository


def _git(where: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


def _arm(work_tree: Path, state: Path, evil: Path) -> None:
    (state / "info").mkdir(exist_ok=True)
    (state / "info" / "attributes").write_text("* diff=evil filter=ev.il\n")
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (state / "hooks").mkdir(exist_ok=True)
        (state / "hooks" / hook).symlink_to(evil)
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external", "core.pager",
                "core.fsmonitor", "core.sshCommand", "gpg.program", "filter.ev.il.clean",
                "filter.ev.il.process", "core.editor"):  # fmt: skip
        _git(work_tree, "config", key, f"{evil} {key}")
    for key, value in (("status.submoduleSummary", "true"), ("diff.submodule", "diff"),
                       ("log.showSignature", "true"), ("submodule.recurse", "true"),
                       ("filter.ev.il.required", "true")):  # fmt: skip
        _git(work_tree, "config", key, value)


@pytest.mark.parametrize("arguments", lines(READS))
async def test_no_read_of_a_repository_runs_what_the_repository_names(
    arguments: str, repository: Path
):
    proof = prove(f"git -C {repository} {arguments}")
    assert proof.script is not None, proof.reason

    here = await run_proven(proof.script, seconds=20, max_bytes=60_000)

    there = await run_script(Elsewhere(), proof.script, seconds=20, max_bytes=60_000)

    screen = Screen(build_default_masker())
    screened = await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert here.exit_code in (0, 1), here.stderr
    assert (screened.exit_code, screened.stdout) == (here.exit_code, here.stdout)
    assert (there.exit_code, there.stdout) == (here.exit_code, here.stdout)
    assert not (repository.parent / "ran").exists()


@pytest.mark.parametrize("arguments", ["status -v", "submodule status --recursive"])
def test_what_git_cannot_be_kept_from_running_is_no_proven_read(arguments: str):
    assert not prove(f"git {arguments}").is_read


def test_a_filter_that_cannot_be_named_to_git_is_not_run():
    with pytest.raises(Armed):
        without_filters(("git", "status"), b"filter.a=b.clean\0")
