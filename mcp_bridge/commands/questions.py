"""What a proven command asks: which things its words name, of which kind, and how it is answered.

A row says it of one program or sub-command. Which of its arguments are words and which belong to an
option is known from the grammar that proved it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from mcp_bridge.commands.grammar import Parsed, parse
from mcp_bridge.commands.languages.find import read_find
from mcp_bridge.commands.policy import Group, Policy
from mcp_bridge.commands.programs import all_programs
from mcp_bridge.commands.programs.requests import CURL, WGET
from mcp_bridge.commands.programs.special import PS
from mcp_bridge.commands.proof import files_of, find_policy
from mcp_bridge.commands.refusal import Refused
from mcp_bridge.commands.script import Command
from mcp_bridge.commands.shapes import Shape
from mcp_bridge.commands.wordlists import words

SERVICE = frozenset({"unit", "service"})
PROCESS = frozenset({"process", "unit", "service"})
CONTAINER = frozenset({"container"})
GUEST = frozenset({"guest"})
FILE = frozenset({"file"})
_ANSWERING = frozenset({"unit", "service", "container", "host"})


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a command names, and what it can be. A scope is a namespace of a cluster."""

    kinds: frozenset[str]
    name: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as its program understands it: the sub-commands, then options and words."""

    program: str
    verbs: tuple[str, ...]
    parsed: Parsed

    @property
    def key(self) -> str:
        return " ".join((self.program, *self.verbs))


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, and which answers tell something.

    `lists`: the kinds of things it prints a row of, each named in one of `columns`. `needs_row`:
    its words only choose among these rows, and may choose others or none. `answers` are the exit
    codes with which it tells how a thing is; `tells_by_code` where it need not print a word.
    `gone`: the exit code that says there is no such thing, with `gone_says` in its errors,
    where `{name}` stands for the thing. `says_name`: its whole answer names the thing.
    """

    named: tuple[Named, ...] = ()
    lists: frozenset[str] = frozenset()
    columns: tuple[int, ...] = ()
    scope: str = ""
    needs_row: bool = False
    answers: frozenset[int] = frozenset({0})
    tells_by_code: bool = False
    gone: int | None = None
    gone_says: str = ""
    says_name: bool = False


Ask = Callable[[Asked], Question | None]


def read_question(command: Command) -> Question | None:
    """What a command asks; None where it asks for the state of nothing."""
    asked = _read(command.runs or command.argv)
    if asked is None:
        return None
    find = _QUESTIONS.get(asked.key) or _QUESTIONS.get(asked.program)
    if find is not None:
        return find(asked)
    # What computes its output may have read nothing.
    is_plain = asked.program in _ABOUT_FILES or command.shape is not Shape.PARTS
    return _ask_files(asked) if is_plain else None


def _read(argv: tuple[str, ...]) -> Asked | None:
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


def _name(kinds: frozenset[str], names: Iterable[str]) -> tuple[Named, ...]:
    return tuple(Named(kinds, name) for name in names)


# ---- Services and processes ----------------------------------------------------------------------

_NO_FILE = "No such file or directory"
_DEAD = frozenset({0, 1, 2, 3})
"""What `systemctl` and programs like it say of services that do not run as well."""


def _ask_unit(asked: Asked) -> Question:
    parsed = asked.parsed
    verb = asked.verbs[-1]
    named = _name(SERVICE, parsed.words)
    if verb == "list-units" or not named:
        return Question(lists=SERVICE, columns=(0, 1), needs_row=True)
    return Question(
        named=named,
        answers=frozenset({0}) if verb == "show" else _DEAD,
        tells_by_code=verb != "show",
        gone=4,
        gone_says=r"Unit {name}(?:\.service)? could not be found",
        says_name=verb == "status",
    )


def _ask_all_units(_: Asked) -> Question:
    return Question(lists=SERVICE, columns=(0, 1), needs_row=True)


def _ask_script(asked: Asked) -> Question:
    return Question(named=_name(SERVICE, asked.parsed.words[:1]), answers=_DEAD)


def _ask_supervisor(asked: Asked) -> Question:
    return Question(
        named=_name(PROCESS, asked.parsed.words),
        lists=PROCESS, columns=(0,), answers=frozenset({0, 3}), needs_row=True,
    )  # fmt: skip


def _ask_pgrep(asked: Asked) -> Question | None:
    parsed = asked.parsed
    if parsed.has("-v", "--inverse"):
        return None
    shows_names = parsed.has("-a", "-l", "--list-name", "--list-full")
    return Question(
        named=_name(PROCESS, map(_plain_pattern, parsed.words)),
        lists=PROCESS, columns=(1,), needs_row=shows_names, gone=1,
    )  # fmt: skip


def _plain_pattern(pattern: str) -> str:
    """The one name that a pattern stands for; `[n]ame` only hides it from itself."""
    plain = pattern.removeprefix("^").removesuffix("$")
    return re.sub(r"^\[(\w)\]", r"\1", plain)


def _ask_pidof(asked: Asked) -> Question:
    return Question(
        named=_name(PROCESS, asked.parsed.words), tells_by_code=asked.parsed.has("-q"), gone=1
    )


_PS_STYLES = ((r"[a-zA-Z]*u[a-zA-Z]*", 10), (r"[a-zA-Z]*[xaA][a-zA-Z]*", 4))


def _ask_ps(asked: Asked) -> Question:
    parsed = asked.parsed
    by_name = [name for text in parsed.values("-C") for name in text.split(",")]
    by_number = ",".join(parsed.values("-p", "--pid", "-q", "--quick-pid")).split(",")
    named = (
        *_name(PROCESS, by_name),
        *_name(frozenset({"process"}), (f"pid {number}" for number in by_number if number)),
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


def _ask_page(asked: Asked) -> Question:
    addresses = (*asked.parsed.words, *asked.parsed.values("--url"))
    hosts = [re.sub(r"^https?://", "", each) for each in addresses]
    return Question(
        named=tuple(_name_host(re.split(r"[:/?]", host)[0]) for host in hosts), tells_by_code=True
    )


def _name_host(host: str) -> Named:
    """The service behind a name of a cluster, or the name itself."""
    first, *rest = host.rstrip(".").split(".")
    if rest[1:2] == ["svc"]:
        return Named(_ANSWERING, first, rest[0])
    return Named(_ANSWERING, host)


def _ask_port(asked: Asked) -> Question:
    return Question(named=_name(_ANSWERING, asked.parsed.words[:1]), tells_by_code=True)


def _ask_machine(asked: Asked) -> Question:
    return Question(named=_name(frozenset({"host", "guest"}), asked.parsed.words[:1]))


# ---- Containers and guests -----------------------------------------------------------------------

_NO_CONTAINER = r"(?i:no such \w+: ?){name}\s*$"
_ROWS_OF = {"ps": (0, -1), "ls": (0, -1), "list": (0, -1), "stats": (0, 1)}


def _ask_container(asked: Asked, kinds: frozenset[str] = CONTAINER) -> Question:
    parsed, verb = asked.parsed, asked.verbs[-1]
    chosen = [
        _plain_pattern(value.partition("=")[2]).removeprefix("/")
        for value in parsed.values("-f", "--filter", "--name", "--id")
        if value.partition("=")[0] in ("name", "id")
    ]
    if verb in ("ps", "ls", "list"):
        is_shaped = parsed.has("--format", "-q", "--quiet")
        return Question(
            named=_name(kinds, chosen) if is_shaped else (),
            lists=kinds, columns=_ROWS_OF[verb], needs_row=not (is_shaped and chosen),
        )  # fmt: skip
    if verb == "stats" and not parsed.words:
        return Question(lists=kinds, columns=_ROWS_OF[verb], needs_row=True)
    typed = parsed.values("--type")
    return Question(
        named=_name(frozenset(typed) or kinds, parsed.words[:1] if verb == "top" else parsed.words),
        gone=1, gone_says=_NO_CONTAINER, tells_by_code=True,
    )  # fmt: skip


def _ask_compose(asked: Asked) -> Question:
    kinds = frozenset({"service", "container"})
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0, 3), needs_row=True)
    return Question(named=_name(kinds, asked.parsed.words))


def _ask_swarm(asked: Asked) -> Question:
    kinds = frozenset({"service"})
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0, 1), needs_row=True)
    return Question(named=_name(kinds, asked.parsed.words), gone=1, gone_says=_NO_CONTAINER)


def _ask_guest(asked: Asked) -> Question:
    return Question(
        named=_name(GUEST, asked.parsed.words[:1]), lists=GUEST, columns=(0, 1, -1),
        needs_row=not asked.parsed.words,
    )  # fmt: skip


# ---- Clusters ------------------------------------------------------------------------------------

_SHORT = {
    "po": "pod", "pods": "pod", "deploy": "deployment", "deployments": "deployment",
    "sts": "statefulset", "statefulsets": "statefulset", "ds": "daemonset",
    "daemonsets": "daemonset", "rs": "replicaset", "replicasets": "replicaset", "svc": "service",
    "services": "service", "no": "node", "nodes": "node", "jobs": "job", "cj": "cronjob",
    "cronjobs": "cronjob", "ns": "namespace", "namespaces": "namespace",
}  # fmt: skip
_NO_OBJECT = r'\(NotFound\): \S+ "{name}" not found'


def _ask_cluster(asked: Asked) -> Question:
    parsed = asked.parsed
    scope = "".join(parsed.values("-n", "--namespace")[-1:])
    kinds, named = _read_objects(parsed.words, _default_kind(asked))
    if named:
        return Question(
            named=tuple(replace(each, scope=scope) for each in named),
            gone=1,
            gone_says=_NO_OBJECT,
            tells_by_code=not parsed.has("--ignore-not-found"),
        )
    is_everywhere = parsed.has("-A", "--all-namespaces")
    return Question(
        lists=kinds, columns=(1,) if is_everywhere else (0,), scope="*" if is_everywhere else scope,
        needs_row=True,
    )  # fmt: skip


def _default_kind(asked: Asked) -> str:
    return asked.verbs[1] if asked.verbs[0] == "top" else ""


def _read_objects(given: tuple[str, ...], kind: str) -> tuple[frozenset[str], tuple[Named, ...]]:
    """`TYPE NAME...`, `TYPE/NAME...` or only types: the kinds, and what is named."""
    if kind:
        kinds = frozenset({_kind(kind)})
        return kinds, _name(kinds, given)
    if any("/" in word for word in given):
        pairs = [word.partition("/") for word in given]
        return frozenset(), tuple(
            Named(frozenset({_kind(kind)}), name) for kind, _, name in pairs if name
        )
    kinds = frozenset(_kind(each) for each in "".join(given[:1]).split(","))
    return kinds, _name(kinds, given[1:])


def _kind(word: str) -> str:
    plain = word.partition(".")[0].lower()
    return _SHORT.get(plain, plain)


def _ask_release(asked: Asked) -> Question:
    kinds = frozenset({"release"})
    scope = "".join(asked.parsed.values("-n", "--namespace")[-1:])
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0,), needs_row=True, scope=scope)
    return Question(named=tuple(Named(kinds, name, scope) for name in asked.parsed.words[:1]))


# ---- Files ---------------------------------------------------------------------------------------

_ABOUT_FILES = frozenset(words("ls dir vdir stat file du df getfacl lsattr namei readlink"))
_STATED = re.compile(r"/proc/(\d+)(?:/[\w/]*)?")
_GONE = {"ls": 2, "dir": 2, "vdir": 2, "grep": 2}


def _ask_files(asked: Asked) -> Question | None:
    entry = all_programs().get(asked.program)
    if not isinstance(entry, Policy):
        return None
    is_about = asked.program in _ABOUT_FILES
    files = asked.parsed.words if is_about else files_of(entry, asked.parsed) or ()
    if not files:
        return None
    numbers = [found for path in files if (found := _STATED.fullmatch(path))]
    return Question(
        named=(
            *_name(FILE, (path for path in files if path.startswith("/"))),
            *_name(frozenset({"process"}), (f"pid {found[1]}" for found in numbers)),
        ),
        lists=PROCESS if len(numbers) == len(files) else frozenset(),
        columns=(1,),
        gone=_GONE.get(asked.program, 1),
        gone_says=rf"{{name}}\W.*{_NO_FILE}",
    )


def _ask_test(asked: Asked) -> Question | None:
    """`test -e PATH`: what is there by its exit code, and what is not."""
    match asked.parsed.words:
        case (("-e" | "-f" | "-d" | "-s"), path):
            return Question(named=_name(FILE, (path,)), tells_by_code=True, gone=1)
    return None


def _ask_find(asked: Asked) -> Question:
    starts, _ = read_find(asked.parsed.words)
    return Question(named=_name(FILE, starts), gone=1, gone_says=rf"{{name}}\W.*{_NO_FILE}")


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
    **{
        f"{program}{group} {verb}": _ask_container
        for program in ("docker", "podman", "nerdctl")
        for group in ("", " container")
        for verb in ("ps", "ls", "list", "inspect", "top", "port", "stats")
    },
    **{f"crictl {verb}": _ask_container for verb in ("ps", "inspect", "stats")},
    **{
        f"{program} {verb}": _ask_compose
        for program in ("docker compose", "docker-compose")
        for verb in ("ps", "top")
    },
    **{f"docker service {verb}": _ask_swarm for verb in ("ls", "ps", "inspect")},
    **{f"{program} {verb}": _ask_guest for program in ("pct", "qm") for verb in ("list", "status")},
    **{f"virsh {verb}": _ask_guest for verb in ("list", "dominfo", "domstate", "domstats")},
    **{
        f"{program} {verb}": _ask_cluster
        for program in ("kubectl", "oc")
        for verb in (
            "get", "describe", "wait", "rollout status",
            *(f"top {kind}" for kind in ("pod", "pods", "po", "node", "nodes", "no")),
        )
    },
    **{f"helm {verb}": _ask_release for verb in ("list", "ls", "status")},
    "test": _ask_test,
    "find": _ask_find,
}  # fmt: skip
