"""Changes of the machine: boots, packages, settings, certificates, units."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil

from ops import systemd
from ops.bounded import Deadline, run_process
from ops.changes.change import Change, ChangeKind, moment
from ops.settings import OpsSettings

_PACKAGE_LINE = re.compile(
    r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) (install|upgrade|remove|purge) (\S+) (\S+) (\S+)$"
)
_PAST = {
    "install": "was installed", "upgrade": "was upgraded", "remove": "was removed",
    "purge": "was removed with its settings",
}  # fmt: skip
_PAUSE_WITHIN_A_RUN = timedelta(seconds=30)
_SHOWN_PACKAGES = 8
_TAIL_BYTES = 1_000_000
MOST_FILES = 20_000
_DEEPEST = 4
_NOT_SETTINGS = frozenset({"mtab", "resolv.conf", "ld.so.cache", "adjtime", ".pwd.lock"})
_CERTIFICATES = (".pem", ".crt", ".cer")


def find_boot() -> Iterator[Change]:
    yield Change(moment(psutil.boot_time()), "boot", "host", "the machine was started", "kernel")


def find_packages(log: Path, since: datetime) -> Iterator[Change]:
    """Packages by the log of dpkg, whose times are those of the machine's zone.

    Those of one run are one change: so they were decided.
    """
    lines = sorted(
        (
            (datetime.fromisoformat(found[1]).astimezone(UTC), found)
            for path in (log.with_name(f"{log.name}.1"), log)
            for line in _read_tail(path).splitlines()
            if (found := _PACKAGE_LINE.match(line)) is not None
        ),
        key=lambda each: each[0],
    )
    run: list[tuple[datetime, re.Match[str]]] = []
    for at, found in lines:
        if run and at - run[-1][0] > _PAUSE_WITHIN_A_RUN:
            yield _tell_run(run)
            run = []
        if at >= since:
            run.append((at, found))
    if run:
        yield _tell_run(run)


def _tell_run(run: Sequence[tuple[datetime, re.Match[str]]]) -> Change:
    told = []
    for _, found in run[:_SHOWN_PACKAGES]:
        versions = f"{found[4]} to {found[5]}" if found[2] == "upgrade" else found[5]
        told.append(f"{found[3].partition(':')[0]} {_PAST[found[2]]} ({versions})")
    left = len(run) - len(told)
    more = f", and {left} more" if left else ""
    name = run[0][1][3].partition(":")[0]
    return Change(run[0][0], "package", name, f"{', '.join(told)}{more}", "dpkg.log")


def find_rpm_packages(since: datetime, deadline: Deadline) -> Iterator[Change]:
    """Packages by the database of rpm, where there is one."""
    if shutil.which("rpm") is None or shutil.which("dpkg") is not None:
        return
    asked = ["rpm", "-qa", "--queryformat", "%{INSTALLTIME} %{NAME} %{VERSION}-%{RELEASE}\\n"]
    for line in run_process(asked, deadline).stdout.splitlines():
        words = line.split()
        if len(words) != 3 or not words[0].isdecimal():
            continue
        if (at := moment(int(words[0]))) >= since:
            yield Change(at, "package", words[1], f"{words[1]} is {words[2]} since then", "rpm")


@dataclass(frozen=True)
class FoundFiles:
    """Written files, and in words what was not looked at."""

    changes: tuple[Change, ...]
    cuts: tuple[str, ...] = ()


def find_files(directories: Sequence[Path], since: datetime, deadline: Deadline) -> FoundFiles:
    """Settings and certificates by the time at which each was written last."""
    found: list[Change] = []
    for seen, path in enumerate(_walk(directories)):
        if seen >= MOST_FILES or deadline.passed:
            why = "time ran out" if deadline.passed else "there are more"
            names = ", ".join(map(str, directories))
            cut = f"files of {names}: only the first {seen} were looked at, {why}"
            return FoundFiles(tuple(found), (cut,))
        if path.name in _NOT_SETTINGS or (at := _written_at(path)) is None or at < since:
            continue
        kind: ChangeKind = "certificate" if path.suffix in _CERTIFICATES else "file"
        found.append(Change(at, kind, str(path), f"{path} was written", "file times"))
    return FoundFiles(tuple(found))


def _walk(directories: Sequence[Path]) -> Iterator[Path]:
    for directory in directories:
        for parent, below, names in os.walk(directory):
            if parent.count("/") - str(directory).count("/") >= _DEEPEST:
                below.clear()
            yield from (Path(parent, name) for name in names)


def find_units(settings: OpsSettings, since: datetime, deadline: Deadline) -> Iterator[Change]:
    """Services of systemd by the time at which each was started last."""
    if not systemd.answers(settings):
        return
    asked = [settings.systemctl, "show", "*.service", "--no-pager", "--timestamp=unix",
             "--property=Id,ActiveState,ActiveEnterTimestamp,NRestarts"]  # fmt: skip
    for block in run_process(asked, deadline).stdout.split("\n\n"):
        told = dict(line.partition("=")[::2] for line in block.splitlines())
        stamp = told.get("ActiveEnterTimestamp", "").removeprefix("@")
        if not stamp.isdecimal() or (at := moment(int(stamp))) < since:
            continue
        name = told.get("Id", "")
        again = told.get("NRestarts", "0")
        restarts = f", restarted {again} times by systemd" if again not in ("", "0") else ""
        yield Change(at, "unit", name, f"{name} was started{restarts}", "systemd")


def _read_tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _written_at(path: Path) -> datetime | None:
    try:
        return moment(path.lstat().st_mtime)
    except OSError:
        return None
