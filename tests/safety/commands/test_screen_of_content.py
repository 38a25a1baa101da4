"""What a masker would find in a whole file is readable in no lines that git prints of it, and in no
rows of a database."""

import sqlite3
import subprocess
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from masking import build_default_masker
from ops.executors.scripts import run_script
from safety.commands import Finished, Screen, run_proven
from safety.commands import screen as screen_module
from safety.commands.proof import prove
from tests.safety.commands.samples import lines
from tests.safety.commands.test_hostile_repository import Elsewhere
from tests.safety.commands.test_screen import FILES, find_leaks, run_screened

pytestmark = pytest.mark.slow

Run = Callable[..., Awaitable[Finished]]
OF_GIT = """
    show
    show HEAD:f.txt
    show HEAD:./f.txt
    show -U0
    log -p
    log -p -U1 -n 1
    log -p --graph --oneline
    log -p -S Hunter
    log -p -G value
    log -L2,2:f.txt
    log -L3,4:f.txt HEAD
    show -L3,3:f.txt HEAD
    diff
    diff -U0
    diff HEAD~1
    diff HEAD~1 -- f.txt
    diff --check HEAD~1
    diff-tree -p HEAD
    diff-index -p HEAD~1
    blame f.txt
    blame HEAD f.txt
    blame -s f.txt
    blame -L 2,3 f.txt
    blame -L 3,3 HEAD -- f.txt
    blame -c -L 3,3 HEAD~1..HEAD f.txt
    blame f.txt HEAD
    cat-file -p HEAD:f.txt
    grep -n value
    grep -h Hunter -- f.txt
    grep -v name HEAD
    grep -n -e DB --or -e val
    grep -A1 name
    grep -m 1 H
    grep -h value | cut -c10-
    grep -h H | rev
    blame -s f.txt | cut -c25-
    diff -U0 | xxd
    show HEAD:f.txt | tail -n 3 | cut -c 6-
    cat-file -p HEAD:f.txt | base64
"""
PRINT_NOTHING = ["blame f.txt HEAD"]
"""That one is a file and the other a revision is not said by the command."""
ROWS = [
    ("host", "db-1", "note"),
    ("smtp", "Hunter2-Secret-99x", "mail"),
    ("port", "5432", "note"),
]
QUESTIONS = """
    "select * from users"
    -column "select * from users"
    -csv "select * from users"
    -json "select * from users"
    -line "select * from users"
    -markdown "select * from users"
    -table "select * from users"
    -separator , "select u.* from users u"
    "with x as (select * from users) select * from x"
    "select count(*), max(length(password)) from users"
    "select name, kind from users where password is not null"
"""


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One repository for each of the files, each with a change that is not committed."""
    root = tmp_path_factory.mktemp("repositories")
    for name, text in FILES.items():
        place = root / name.replace(".", "_")
        place.mkdir()
        _git(place, "init", "-q")
        for version in ("nothing\n", f"{text}tail\n", f"{text.replace('port', 'Port')}more\n"):
            (place / "f.txt").write_text(version)
            if "more" not in version:
                _git(place, "add", ".")
                _git(place, "commit", "-qm", "a change")
    return root


def _git(where: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("name", FILES)
async def test_no_piece_of_a_secret_is_readable_in_what_git_prints(repositories: Path, name: str):
    place = repositories / name.replace(".", "_")

    leaks = {}
    for arguments in lines(OF_GIT):
        output = await run_screened(f"git -C {place} {arguments}")
        if output is not None and (found := find_leaks(output, name)):
            leaks[arguments] = (found[:3], output[:200])

    assert leaks == {}


async def test_git_goes_on_printing_what_surrounds_a_secret(repositories: Path):
    failed = []
    for arguments in lines(OF_GIT):
        proof = prove(f"git -C {repositories / 'pod_yaml'} {arguments}")
        assert proof.script is not None, proof.reason
        screen = Screen(build_default_masker())
        finished = await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen)
        if finished.exit_code or (not finished.stdout and "--check" not in arguments):
            failed.append(arguments)

    assert failed == PRINT_NOTHING


@pytest.mark.parametrize("arguments", ["grep -h value", "blame -L 3,3 HEAD f.txt", "diff"])
async def test_elsewhere_the_lines_of_git_are_looked_at_as_well(repositories: Path, arguments: str):
    proof = prove(f"git -C {repositories / 'pod_yaml'} {arguments}")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    there = await run_script(Elsewhere(), proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert b"value: [MASKED" in there.stdout
    assert find_leaks(there.stdout.decode(), "pod.yaml") == []


@pytest.mark.parametrize("run", [run_proven, partial(run_script, Elsewhere())])
async def test_lines_with_too_much_around_them_are_printed_and_that_is_told(
    tmp_path: Path, run: Run
):
    _git(tmp_path, "init", "-q")
    (tmp_path / "f.txt").write_text("a line like any other\n" * 60_000 + "password: Hunter2-x9\n")
    _git(tmp_path, "add", ".")
    proof = prove(f"git -C {tmp_path} grep -h password")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    finished = await run(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert finished.stdout == b"password: Hunter2-x9\n"
    assert screen.unseen == {"git"}


@pytest.mark.parametrize("run", [run_proven, partial(run_script, Elsewhere())])
async def test_lines_are_printed_though_there_is_no_time_to_look_around_them(
    repositories: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(screen_module, "AROUND_SECONDS", -1.0)
    proof = prove(f"git -C {repositories / 'pod_yaml'} grep -h value")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    finished = await run(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert b"value:" in finished.stdout
    assert screen.unseen == {"git"}


async def test_lines_with_all_around_them_looked_at_need_no_word_of_it(repositories: Path):
    proof = prove(f"git -C {repositories / 'pod_yaml'} grep -h value")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert screen.unseen == set()


async def test_a_whole_that_cannot_be_printed_says_why_and_nothing_else_is(tmp_path: Path):
    proof = prove(f"git -C {tmp_path} grep value")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    finished = await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert finished.exit_code == 128
    assert b"not a git repository" in finished.stderr


@pytest.mark.parametrize("run", [run_proven, partial(run_script, Elsewhere())])
@pytest.mark.parametrize("arguments", ["grep -n nowhere", "grep -n value nope 2>/dev/null"])
async def test_what_counts_lines_counts_none_where_there_are_none(
    repositories: Path, run: Run, arguments: str
):
    proof = prove(f"git -C {repositories / 'pod_yaml'} {arguments} | wc -l")
    assert proof.script is not None

    screen = Screen(build_default_masker())
    finished = await run(proof.script, seconds=20, max_bytes=60_000, screen=screen)

    assert (finished.exit_code, finished.stdout.strip(), finished.stderr) == (0, b"0", b"")


class Answering:
    """The way to another machine, which answers in this order."""

    def __init__(self, *answers: Finished) -> None:
        self._answers = list(answers)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        return self._answers.pop(0)


OF_AN_OBJECT = "docker inspect -f {{.Name}} web"


async def test_what_a_look_prints_elsewhere_takes_no_room_from_what_is_printed():
    script = prove(OF_AN_OBJECT).script
    assert script is not None
    there = Answering(Finished(0, b"{}", b"warning: " * 20), Finished(0, b"short", b""))

    screen = Screen(build_default_masker())
    finished = await run_script(there, script, seconds=20, max_bytes=100, screen=screen)

    assert (finished.exit_code, finished.stdout, finished.stderr) == (0, b"short", b"")
    assert not finished.cut


async def test_a_look_that_takes_all_the_time_elsewhere_is_not_printed():
    script = prove(OF_AN_OBJECT).script
    assert script is not None
    there = Answering(Finished(None, b'{"token": "Hunter2', b"slow", timed_out=True))

    screen = Screen(build_default_masker())
    finished = await run_script(there, script, seconds=20, max_bytes=1_000, screen=screen)

    assert finished.timed_out
    assert (finished.stdout, finished.stderr) == (b"", b"")


@pytest.mark.parametrize("question", lines(QUESTIONS))
async def test_the_rows_of_a_database_are_printed_under_names_that_tell(
    tmp_path: Path, question: str
):
    options, _, statement = question.partition('"')
    with sqlite3.connect(tmp_path / "app.db") as database:
        database.execute("create table users (name text, password text, kind text)")
        database.executemany("insert into users values (?, ?, ?)", ROWS)

    output = await run_screened(f'sqlite3 {options}{tmp_path}/app.db "{statement}')

    assert output
    assert "Hunter2" not in output
