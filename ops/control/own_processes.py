"""Which processes are never touched: those of this product, and what the machine rests on."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

from ops.settings import PROJECT_ROOT

T = TypeVar("T")

_OUR_PROGRAM = re.compile(
    r"^(?:(?:tarsy|investigations|agents|mcp_bridge)(?:[.:/]|$)|ops(?:\.|$)|manage\.py$)"
)
_KERNEL_THREADS = 2


def find_vital_reason(pid: int) -> str:
    """Why nothing here could go on without this process; empty where it could."""
    if pid <= 1:
        return "it is the first process of this machine"
    if pid == os.getpid():
        return "it is TARSy itself"
    if any(each.pid == pid for each in psutil.Process().parents()):
        return "TARSy runs in it"
    return ""


def find_reason_to_spare(pid: int) -> str:
    """Why this process must not be touched; empty where it may be."""
    if reason := find_vital_reason(pid):
        return reason
    try:
        process = psutil.Process(pid)
        if pid == _KERNEL_THREADS or process.ppid() == _KERNEL_THREADS:
            return "it is a thread of the kernel"
        above = process.parents()
    except psutil.NoSuchProcess:
        return ""
    except (psutil.Error, OSError):
        return "nothing can be learnt about it"
    if any(_is_ours(each) for each in (process, *above) if each.pid > 1):
        return "it is one of TARSy's own"
    return ""


def _is_ours(process: psutil.Process) -> bool:
    """Whether it runs a program of this product, or one that is installed beside it."""
    nothing: list[str] = []
    program, *words = [*_ask(process.cmdline, nothing), ""]
    # The first words say what is run; what it is told to look for may name us, too.
    given = words[:8]
    named = [word.removeprefix(f"{PROJECT_ROOT}/") for word in given]
    if any(map(_OUR_PROGRAM.match, named)) and (
        named != given
        or Path(program).is_relative_to(sys.prefix)
        or Path(_ask(process.cwd, "/")).is_relative_to(PROJECT_ROOT)
    ):
        return True
    # The servers that come with us, such as our own database, are installed beside us.
    is_apart = sys.prefix != sys.base_prefix
    return is_apart and Path(_ask(process.exe, "/")).is_relative_to(Path(sys.prefix).resolve())


def _ask(question: Callable[[], T], otherwise: T) -> T:
    """What a process says about itself; of somebody else's that may be nothing."""
    try:
        return question()
    except (psutil.Error, OSError):
        return otherwise
