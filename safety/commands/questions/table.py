"""What a proven command asks: which things its words name, of which kind, and how it is answered.

A row says it of one program or sub-command. Which of its arguments are words and which belong to an
option is known from the grammar that proved it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from safety.commands.grammar import Parsed, parse
from safety.commands.languages.find import read_find
from safety.commands.named_files import files_of
from safety.commands.output_shape import Shape
from safety.commands.policy import Group, Policy
from safety.commands.programs import all_programs
from safety.commands.programs.requests import CURL, WGET
from safety.commands.programs.special import PS
from safety.commands.questions.question import (
    ANSWERING,
    FILE,
    PROCESS,
    SERVICE,
    Ask,
    Asked,
    Named,
    Question,
    name_things,
    plain_pattern,
)
from safety.commands.questions.workloads import WORKLOADS
from safety.commands.refusal import Refused
from safety.commands.script import Command
from safety.commands.subcommands import find_policy
from safety.word_lists import word_set


def read_question(command: Command) -> Question | None:
    """What a command asks; None where it asks for the state of nothing."""
    asked = read_asked(command.runs or command.argv)
    if asked is None:
        return None
    find = _QUESTIONS.get(asked.key) or _QUESTIONS.get(asked.program)
    if find is not None:
        return find(asked)
    # What computes its output may have read nothing.
    is_plain = asked.program in _ABOUT_FILES or command.shape is not Shape.PARTS
    return _ask_files(asked) if is_plain else None


def read_asked(argv: tuple[str, ...]) -> Asked | None:
    """The words and options of a command; None where its program takes no such arguments."""
    name = argv[0].rpartition("/")[2]
    entry = all_programs().get(name)
    try:
        if name in _GRAMMARS:
            return Asked(name, (), parse(argv[1:], _GRAMMARS[name]))
        if not isinstance(entry, Policy | Group):
            return Asked(name, (), Parsed((), argv[1:]))
        policy, before, rest = find_policy(entry, argv[1:])
        front = parse(before, replace(policy.grammar, mixes=True, stops=False))
        parsed = parse(rest, policy.grammar)
    except Refused:
        return None
    return Asked(name, front.words, Parsed((*front.options, *parsed.options), parsed.words))


_GRAMMARS = {"ps": PS, "curl": CURL, "wget": WGET}


# ---- Services and processes ----------------------------------------------------------------------

_NO_FILE = "No such file or directory"
_DEAD = frozenset({0, 1, 2, 3})
"""What `systemctl` and programs like it say of services that do not run as well."""


_ALL_UNITS = Question(lists=SERVICE, columns=(0, 1), needs_row=True)

# What a unit is called, or where its files are, is the same however it runs.
_PROPERTY_OF_STATE = re.compile(
    r"\w+State|\w+PID|Result|NRestarts|ExecMain\w+|Status\w+|\w+Timestamp(?:Monotonic)?|\w+Current"
)


def _ask_unit(asked: Asked) -> Question | None:
    parsed = asked.parsed
    properties = [
        each for text in parsed.values("-p", "--property") for each in text.split(",")
    ]  # fmt: skip
    if parsed.has("--user") or (
        properties and not any(map(_PROPERTY_OF_STATE.fullmatch, properties))
    ):
        return None
    verb = asked.verbs[-1]
    named = name_things(SERVICE, parsed.words)
    if verb == "list-units" or not named:
        return _ALL_UNITS
    return Question(
        named=named,
        answers=frozenset({0}) if verb == "show" else _DEAD,
        tells_by_code=verb != "show",
        gone=4,
        gone_says=r"Unit {name}(?:\.service)? could not be found",
        says_name=verb == "status",
    )


def _ask_all_units(asked: Asked) -> Question | None:
    return None if asked.parsed.has("--user") else _ALL_UNITS


def _ask_script(asked: Asked) -> Question:
    return Question(named=name_things(SERVICE, asked.parsed.words[:1]), answers=_DEAD)


def _ask_supervisor(asked: Asked) -> Question:
    return Question(
        named=name_things(PROCESS, asked.parsed.words),
        lists=PROCESS, columns=(0,), answers=frozenset({0, 3}), needs_row=True,
    )  # fmt: skip


def _ask_pgrep(asked: Asked) -> Question | None:
    parsed = asked.parsed
    if parsed.has("-v", "--inverse"):
        return None
    shows_names = parsed.has("-a", "-l", "--list-name", "--list-full")
    return Question(
        named=name_things(PROCESS, map(plain_pattern, parsed.words)),
        lists=PROCESS, columns=(1,), needs_row=shows_names, gone=1,
    )  # fmt: skip


def _ask_pidof(asked: Asked) -> Question:
    return Question(
        named=name_things(PROCESS, asked.parsed.words), tells_by_code=asked.parsed.has("-q"), gone=1
    )


_PS_STYLES = ((r"[a-zA-Z]*u[a-zA-Z]*", 10), (r"[a-zA-Z]*[xaA][a-zA-Z]*", 4))


def _ask_ps(asked: Asked) -> Question:
    parsed = asked.parsed
    by_name = [name for text in parsed.values("-C") for name in text.split(",")]
    by_number = ",".join(parsed.values("-p", "--pid", "-q", "--quick-pid")).split(",")
    named = (
        *name_things(PROCESS, by_name),
        *name_things(frozenset({"process"}), (f"pid {number}" for number in by_number if number)),
    )
    column = _column_of_command(parsed)
    return Question(
        named=named, lists=PROCESS, columns=() if column is None else (column,),
        needs_row=not named, gone=1 if named else None,
    )  # fmt: skip


def _column_of_command(parsed: Parsed) -> int | None:
    """Where the program stands in a row, counted from its beginning."""
    given = [*parsed.values("-o", "--format")]
    if parsed.words and re.fullmatch(r"\w*[oO]", parsed.words[0]):
        given += parsed.words[1:2]
    fields = [field for text in given for field in re.split(r"[,\s]+", text) if field]
    if fields:
        places = [
            place
            for place, field in enumerate(fields)
            if field in ("cmd", "args", "command", "comm")
        ]
        moved = 4 if "lstart" in fields[: places[0] if places else 0] else 0
        return places[0] + moved if places else None
    if parsed.has("-f", "-F"):
        return 10 if parsed.has("-F") else 7
    for style, column in _PS_STYLES:
        if any(re.fullmatch(style, word) for word in parsed.words):
            return column
    return 3


def _list_processes(*columns: int) -> Ask:
    return lambda _: Question(lists=PROCESS, columns=columns, needs_row=True)


def _ask_page(asked: Asked) -> Question | None:
    """Of a page that says the server failed, `curl` ends well unless it is told not to."""
    parsed = asked.parsed
    hosts = [re.sub(r"^https?://", "", each) for each in (*parsed.words, *parsed.values("--url"))]
    fails = asked.program == "wget" or parsed.has("-f", "--fail", "--fail-with-body")
    shown = parsed.values("-w", "--write-out")
    tells_code = any(re.search(r"%\{(?:http|response)_code\}", text) for text in shown)
    if shown and not (fails or tells_code):
        return None
    return Question(
        named=tuple(_name_host(re.split(r"[:/?]", host)[0]) for host in hosts),
        tells_by_code=fails,
        says_state=not (fails or tells_code),
    )


def _name_host(host: str) -> Named:
    """The service behind a name of a cluster, or the name itself."""
    first, *rest = host.rstrip(".").split(".")
    if rest[1:2] == ["svc"]:
        return Named(ANSWERING, first, rest[0])
    return Named(ANSWERING, host)


def _ask_port(asked: Asked) -> Question:
    return Question(named=name_things(ANSWERING, asked.parsed.words[:1]), tells_by_code=True)


def _ask_machine(asked: Asked) -> Question:
    return Question(named=name_things(frozenset({"host", "guest"}), asked.parsed.words[:1]))


# ---- Files ---------------------------------------------------------------------------------------

_ABOUT_FILES = word_set("ls dir vdir stat file du df getfacl lsattr namei readlink")
_STATED = re.compile(r"/proc/(\d+)(?:/[\w/]*)?")
_DIFFERENT = {"diff": frozenset({0, 1}), "cmp": frozenset({0, 1})}
"""Of these a code says that what was read is not the same."""
_GONE = {"diff": 2, "cmp": 2, "ls": 2, "dir": 2, "vdir": 2, "grep": 2}


def _ask_files(asked: Asked) -> Question | None:
    entry = all_programs().get(asked.program)
    if not isinstance(entry, Policy):
        return None
    if asked.program == "stat" and not _prints_figures(asked.parsed):
        return None
    is_about = asked.program in _ABOUT_FILES
    files = asked.parsed.words if is_about else files_of(entry, asked.parsed) or ()
    if not files:
        return None
    numbers = [found for path in files if (found := _STATED.fullmatch(path))]
    return Question(
        named=(
            *name_things(FILE, (path for path in files if path.startswith("/"))),
            *name_things(frozenset({"process"}), (f"pid {found[1]}" for found in numbers)),
        ),
        lists=PROCESS if len(numbers) == len(files) else frozenset(),
        columns=(1,),
        answers=_DIFFERENT.get(asked.program, frozenset({0})),
        gone=_GONE.get(asked.program, 1),
        gone_says=rf"{{name}}\W.*{_NO_FILE}",
    )


def _prints_figures(parsed: Parsed) -> bool:
    templates = parsed.values("-c", "--format", "--printf")
    return all(re.search(r"%[^%]", text.replace("%%", "")) for text in templates)


def _ask_test(asked: Asked) -> Question | None:
    """`test -e PATH`: what is there by its exit code, and what is not."""
    match asked.parsed.words:
        case (("-e" | "-f" | "-d" | "-s"), path):
            return Question(named=name_things(FILE, (path,)), tells_by_code=True, gone=1)
    return None


def _ask_find(asked: Asked) -> Question:
    starts, _ = read_find(asked.parsed.words)
    return Question(named=name_things(FILE, starts), gone=1, gone_says=rf"{{name}}\W.*{_NO_FILE}")


# ---- The table -----------------------------------------------------------------------------------

_QUESTIONS: Mapping[str, Ask] = {
    **{
        f"systemctl {verb}": _ask_unit
        for verb in ("status", "show", "is-active", "is-failed", "is-enabled", "list-units")
    },
    "systemctl": lambda asked: _ask_all_units(asked) if not asked.verbs else None,
    "service": _ask_script,
    "supervisorctl status": _ask_supervisor,
    "pgrep": _ask_pgrep,
    "pidof": _ask_pidof,
    "ps": _ask_ps,
    **dict.fromkeys(("top", "ss", "netstat"), _list_processes(-1)),
    "lsof": _list_processes(0),
    **dict.fromkeys(("curl", "wget"), _ask_page),
    **dict.fromkeys(("nc", "netcat", "ncat"), _ask_port),
    **dict.fromkeys(("ping", "ping6"), _ask_machine),
    **WORKLOADS,
    "test": _ask_test,
    "find": _ask_find,
}  # fmt: skip
