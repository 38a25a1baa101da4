"""Containers and virtual machines of Proxmox nodes, as `pct` and `qm` list them."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ops.envelope import Json, ToolFailure
from ops.executors.base import Executor
from ops.executors.names import GUEST, check_name

GuestKind = Literal["lxc", "vm"]

_SECONDS = 10.0
_MAX_BYTES = 1 << 20
_PROGRAMS: Mapping[GuestKind, str] = {"lxc": "pct", "vm": "qm"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")
_SECRET_OPTION = re.compile(r"(?i)password|sshkeys")


@dataclass(frozen=True)
class Guest:
    kind: GuestKind
    node: str
    vmid: str
    name: str
    status: str


def runs_guests(path: str) -> bool:
    """Whether this machine is a Proxmox node."""
    return any(shutil.which(program, path=path) for program in _PROGRAMS.values())


async def list_guests(node: str, executor: Executor) -> list[Guest]:
    """The guests of one node. Raises `ToolFailure` where neither program answers."""
    found: list[Guest] = []
    failures: list[str] = []
    for kind, program in _PROGRAMS.items():
        finished = await executor.run((program, "list"), seconds=_SECONDS, max_bytes=_MAX_BYTES)
        if finished.exit_code != 0:
            failures.append(finished.stderr.decode("utf-8", "replace").strip()[:200])
            continue
        lines = finished.stdout.decode("utf-8", "replace").splitlines()
        read = _read_container if kind == "lxc" else _read_machine
        found += [guest for line in lines if (guest := read(node, line)) is not None]
    if len(failures) == len(_PROGRAMS):
        raise ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"The node {node} does not list its guests: {failures[0]}",
            details={"target_host": node, "transport": "none"},
        )
    return found


async def read_guest_config(executor: Executor, kind: GuestKind, vmid: str) -> dict[str, Json]:
    """How a guest is set up, by the names that Proxmox gives to its options."""
    argv = (_PROGRAMS[kind], "config", check_name("guest", vmid, GUEST))
    finished = await executor.run(argv, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    if finished.exit_code != 0:
        said = finished.stderr.decode("utf-8", "replace").strip()[:300]
        raise ToolFailure("EXECUTION_FAILED", f"{argv[0]} config failed: {said}", retryable=True)
    pairs = (
        line.partition(": ") for line in finished.stdout.decode("utf-8", "replace").splitlines()
    )
    return {
        key: "***" if _SECRET_OPTION.search(key) else value.strip()
        for key, colon, value in pairs
        if colon
    }


def _read_container(node: str, line: str) -> Guest | None:
    """`VMID Status [Lock] Name`"""
    words = line.split()
    if len(words) < 3 or not GUEST.fullmatch(words[0]) or not _NAME.fullmatch(words[-1]):
        return None
    return Guest("lxc", node, words[0], words[-1], words[1])


def _read_machine(node: str, line: str) -> Guest | None:
    """`VMID NAME STATUS MEM(MB) BOOTDISK(GB) PID`"""
    words = line.split()
    if len(words) < 3 or not GUEST.fullmatch(words[0]) or not _NAME.fullmatch(words[1]):
        return None
    return Guest("vm", node, words[0], words[1], words[2])
