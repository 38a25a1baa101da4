"""What to ask for instead of a command that does not end by itself: one proposal, proven again."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from safety.commands.addresses import KnownAddress
from safety.commands.proof import Proof, prove
from safety.commands.refusal import Refused
from safety.commands.script import Command, Pipeline, Sink
from safety.commands.shell import parse_script
from safety.paths.sensitive_paths import SensitivePaths

_Words = tuple[str, ...]
_FOLLOWS = frozenset({"-f", "-F", "--follow", "-w", "--watch", "--follow-new", "--watch-only"})
_TERMINAL = frozenset({"-it", "-ti", "-i", "-t", "--interactive", "--tty"})
_EDITORS = ("vi", "vim", "nvim", "nano", "emacs", "pico", "ed")
_LIVE = ("top", "htop", "atop", "btop", "glances")
# Where a clustered option such as `-fu` ends.
_CLUSTER = re.compile(r"-([A-Za-z]*?)[fFw]([A-Za-z]*)")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A proposal. Only with `is_automatic` may it be tried without asking the model again."""

    command: str
    is_automatic: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """The proof of a command, and if it does not end, the proposal and the proof of that."""

    proof: Proof
    rewrite: Rewrite | None = None
    rewritten: Proof | None = None

    @property
    def to_run(self) -> Proof | None:
        """What may run: the command itself, or its one rewrite."""
        if self.proof.may_run:
            return self.proof
        return self.rewritten if self.rewritten and self.rewritten.may_run else None


def prove_or_rewrite(
    command: str,
    sensitive: SensitivePaths | None = None,
    addresses: tuple[KnownAddress, ...] = (),
) -> Recovery:
    """Proves the command; one that does not end is rewritten once, and the rewrite proven."""
    proof = prove(command, sensitive, addresses)
    if proof.category is None:
        return Recovery(proof)
    rewrite = suggest_rewrite(command)
    if rewrite is None or not rewrite.is_automatic:
        return Recovery(proof, rewrite)
    return Recovery(proof, rewrite, prove(rewrite.command, sensitive, addresses))


def suggest_rewrite(command: str) -> Rewrite | None:
    """The template that fits the first command of a pipeline, or None."""
    try:
        step = parse_script(command)
    except Refused:
        return None
    if not isinstance(step, Pipeline) or step.is_negated:
        return None
    first, *others = step.commands
    name = first.argv[0].rpartition("/")[2]
    template = _TEMPLATES.get(name)
    if first.stdin is not None or template is None:
        return None
    rewrite = template(first.argv[1:])
    if rewrite is None:
        return None
    text = rewrite.command + _redirections(first)
    rest = "".join(f" | {shlex.join(other.argv)}{_redirections(other)}" for other in others)
    return Rewrite(text + rest, rewrite.is_automatic)


def _redirections(command: Command) -> str:
    if command.stdout is not Sink.OUTPUT:
        return ""
    return {Sink.NOWHERE: " 2>/dev/null", Sink.OUTPUT: " 2>&1"}.get(command.stderr, "")


def _without(arguments: _Words, dropped: frozenset[str]) -> _Words:
    """The arguments without the options that follow, also where they are letters of a cluster."""
    kept: list[str] = []
    for argument in arguments:
        if argument in dropped or argument.partition("=")[0] in dropped - {"-w", "-f"}:
            continue
        match = _CLUSTER.fullmatch(argument) if dropped is _FOLLOWS else None
        if match:
            argument = f"-{match[1]}{match[2]}"
            if argument == "-":
                continue
        kept.append(argument)
    return tuple(kept)


def _bounded(arguments: _Words, *names: str) -> bool:
    return any(argument.startswith(names) for argument in arguments)


def _join(*words: str) -> Rewrite:
    return Rewrite(shlex.join(words), is_automatic=True)


def _follow(
    program: str, *, skip: int = 0, adds: _Words, bounds: _Words
) -> Callable[[_Words], Rewrite]:
    """Drops what follows; where no bound was given, adds one behind the first `skip` words."""

    def rewrite(arguments: _Words) -> Rewrite:
        kept = _without(arguments, _FOLLOWS)
        extra = () if _bounded(kept, *bounds) else adds
        return _join(program, *kept[:skip], *extra, *kept[skip:])

    return rewrite


def _page(arguments: _Words) -> Rewrite | None:
    files = [argument for argument in arguments if not argument.startswith(("-", "+"))]
    return Rewrite(f"cat {shlex.join(files)} | head -200", is_automatic=True) if files else None


def _edit(arguments: _Words) -> Rewrite | None:
    files = [argument for argument in arguments if not argument.startswith(("-", "+"))]
    return _join("cat", *files) if files else None


def _fixed(command: str, *, is_automatic: bool = True) -> Callable[[_Words], Rewrite]:
    return lambda arguments: Rewrite(command, is_automatic)


def _watched(arguments: _Words) -> Rewrite | None:
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        place += 2 if arguments[place] in ("-n", "--interval") else 1
    words = arguments[place:]
    return Rewrite(" ".join(words), is_automatic=True) if words else None


def _containers(program: str) -> Callable[[_Words], Rewrite | None]:
    logs = _follow(program, skip=1, adds=("--tail=200",), bounds=("--tail", "-n"))

    def rewrite(arguments: _Words) -> Rewrite | None:
        match arguments[:1]:
            case ("logs",):
                return logs(arguments)
            case ("stats",):
                return _join(program, "stats", "--no-stream", *arguments[1:])
            case ("events",):
                return _join(program, "events", "--since=10m", "--until=0s", *arguments[1:])
            case ("exec",) | ("run",):
                return _join(program, *_without(arguments, _TERMINAL))
        return None

    return rewrite


def _cluster(program: str) -> Callable[[_Words], Rewrite | None]:
    def rewrite(arguments: _Words) -> Rewrite | None:
        if "exec" in arguments:
            return _join(program, *_without(arguments, _TERMINAL))
        if "logs" not in arguments:
            return _join(program, *_without(arguments, _FOLLOWS))
        return _follow(
            program,
            skip=arguments.index("logs") + 1,
            adds=("--tail=200", "--since=10m"),
            bounds=("--tail", "--since"),
        )(arguments)

    return rewrite


def _repeat(program: str, *adds: str) -> Callable[[_Words], Rewrite]:
    """`vmstat 1` with a count."""
    return lambda arguments: _join(program, *arguments, *adds)


def _dmesg(arguments: _Words) -> Rewrite:
    kept = _without(arguments, _FOLLOWS)
    return Rewrite(f"{shlex.join(('dmesg', *kept))} | tail -200", is_automatic=True)


def _free(arguments: _Words) -> Rewrite:
    return _join("free", *arguments, "-c", "1")


_TEMPLATES: dict[str, Callable[[_Words], Rewrite | None]] = {
    **dict.fromkeys(("less", "more", "most"), _page),
    **dict.fromkeys(_EDITORS, _edit),
    **dict.fromkeys(_LIVE, _fixed("ps aux --sort=-%cpu | head -20")),
    "iotop": _fixed("iotop -b -n 1"),
    **dict.fromkeys(("iftop", "nload", "nethogs"), _fixed("ss -s")),
    "watch": _watched,
    "tail": _follow(
        "tail",
        adds=("-n", "200"),
        bounds=("-n", "-c", "--lines", "--bytes", *(f"-{digit}" for digit in "123456789")),
    ),
    "journalctl": _follow(
        "journalctl",
        adds=("-n", "200", "--since", "10 min ago"),
        bounds=("-n", "--lines", "--since", "-S"),
    ),
    "dmesg": _dmesg,
    "docker": _containers("docker"),
    "podman": _containers("podman"),
    "kubectl": _cluster("kubectl"),
    "oc": _cluster("oc"),
    "ping": _repeat("ping", "-c", "4"),
    "vmstat": _repeat("vmstat", "3"),
    "iostat": _repeat("iostat", "3"),
    "mpstat": _repeat("mpstat", "3"),
    "pidstat": _repeat("pidstat", "3"),
    "free": _free,
    "mysql": _fixed('mysql -e "SELECT ..."', is_automatic=False),
    "mariadb": _fixed('mariadb -e "SELECT ..."', is_automatic=False),
    "psql": _fixed('psql -c "SELECT ..."', is_automatic=False),
    "sqlite3": _fixed('sqlite3 DATABASE "SELECT ..."', is_automatic=False),
    "redis-cli": _fixed("redis-cli PING", is_automatic=False),
    "ssh": _fixed('ssh HOST "ls -la"', is_automatic=False),
}
