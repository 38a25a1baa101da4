"""Running programs as discovery sees them: a name, and the places their command lines speak of."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import psutil

from ops.bounded import Deadline

_PATH = re.compile(r"/[\w.+@:/-]{1,250}", re.ASCII)
_CONFIG = re.compile(r"\.(?:conf|cfg|cnf|ini|ya?ml|toml|json|properties)$|/etc/", re.IGNORECASE)
_LOG = re.compile(r"\.log$|/logs?(?:/|$)", re.IGNORECASE)
_CONFIG_OPTION = re.compile(r"conf|^-c$|^-f$", re.IGNORECASE)
_DATA_OPTION = re.compile(r"data|stor|^-D$|\bdir\b|\.path", re.IGNORECASE)
_LOG_OPTION = re.compile(r"log", re.IGNORECASE)
MAX_PATHS = 12


@dataclass(frozen=True)
class Paths:
    """Where a program's files are."""

    config: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()

    def joined(self, other: "Paths") -> "Paths":
        return Paths(
            _some(self.config, other.config),
            _some(self.logs, other.logs),
            _some(self.data, other.data),
        )


@dataclass(frozen=True)
class Program:
    """Every process of one name and one file; which file, is not always known."""

    name: str
    pids: tuple[int, ...] = ()
    executable: str = ""
    paths: Paths = field(default_factory=Paths)


def local_programs(
    pids: Iterable[int] | None, is_wanted: Callable[[str, int], bool], deadline: Deadline
) -> list[Program]:
    """Programs of this machine, or of these processes, with the logs they hold open.

    `is_wanted` is asked with name and number before anything that takes time.
    """
    found: list[Program] = []
    for process in psutil.process_iter() if pids is None else _processes(pids):
        if deadline.passed:
            break
        try:
            with process.oneshot():
                if not is_wanted(process.name(), process.pid):
                    continue
                paths = paths_in(process.cmdline()).joined(Paths(logs=_open_logs(process)))
                found.append(Program(process.name(), (process.pid,), _file_of(process), paths))
        except (psutil.Error, OSError):
            continue
    return joined(found)


def read_ps(output: str) -> list[Program]:
    """The lines of `ps -ww -eo pid=,comm=,args=`; of the command lines only paths are kept."""
    found = []
    for line in output.splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[0].isdecimal() and not words[2].startswith("["):
            found.append(Program(words[1], (int(words[0]),), paths=paths_in(words[2].split())))
    return joined(found)


def with_children(pids: Iterable[int]) -> list[int]:
    """Processes and all that they started, and those started."""
    found: dict[int, None] = {}
    for process in _processes(pids):
        found[process.pid] = None
        try:
            found.update((each.pid, None) for each in process.children(recursive=True))
        except (psutil.Error, OSError):
            continue
    return list(found)


def joined(programs: Iterable[Program]) -> list[Program]:
    """One for each name and file, in the order they came."""
    found: dict[tuple[str, str], Program] = {}
    for each in programs:
        key = (each.name, each.executable)
        if (known := found.get(key)) is not None:
            paths = known.paths.joined(each.paths)
            each = replace(each, pids=(*known.pids, *each.pids), paths=paths)
        found[key] = each
    return list(found.values())


def paths_in(argv: Sequence[str]) -> Paths:
    """The absolute paths among a program's arguments, by what their options say they are."""
    config: list[str] = []
    logs: list[str] = []
    data: list[str] = []
    for before, word in pairwise(argv):
        option, equals, value = word.partition("=") if word.startswith("-") else (before, "", word)
        path = value if equals else word
        if not _PATH.fullmatch(path):
            continue
        option = option if option.startswith("-") else ""
        if _LOG_OPTION.search(option) or _LOG.search(path):
            logs.append(path)
        elif _CONFIG_OPTION.search(option) or _CONFIG.search(path):
            config.append(path)
        elif _DATA_OPTION.search(option):
            data.append(path)
    return Paths(_some(config), _some(logs), _some(data))


def _file_of(process: psutil.Process) -> str:
    try:
        return process.exe()
    except (psutil.Error, OSError):
        return ""


def _open_logs(process: psutil.Process) -> tuple[str, ...]:
    try:
        return _some(each.path for each in process.open_files() if _LOG.search(each.path))
    except (psutil.Error, OSError):
        return ()


def _processes(pids: Iterable[int]) -> Iterable[psutil.Process]:
    for pid in pids:
        try:
            yield psutil.Process(pid)
        except psutil.Error:
            continue


def _some(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for part in parts for path in part))[:MAX_PATHS]
