"""Changes of declared services: releases put in force, files written, processes started."""

from collections.abc import Iterator
from pathlib import Path

import psutil

from ops.changes.change import Change, ChangeKind, moment
from ops.services.declaration import DeclaredService
from ops.services.running import read_state

CURRENT = "current"
_CERTIFICATES = (".pem", ".crt", ".cer")
_MOST_RELEASES = 200


def find_service_changes(service: DeclaredService) -> Iterator[Change]:
    """What its files and its process tell; what cannot be read is left out."""
    yield from _find_releases(service)
    for path in service.files:
        if (at := _changed_at(path)) is not None:
            kind: ChangeKind = "certificate" if path.suffix in _CERTIFICATES else "file"
            yield Change(moment(at), kind, str(path), f"{path.name} was written", "file times",
                         service.name)  # fmt: skip
    process = read_state(service).process
    if process is not None:
        try:
            at = psutil.Process(process.pid).create_time()
        except (psutil.Error, OSError):
            return
        yield Change(moment(at), "service", service.name, f"{service.name} was started",
                     "process times", service.name)  # fmt: skip


def _find_releases(service: DeclaredService) -> Iterator[Change]:
    """The release in force, since when it is, and which one came before it."""
    if service.releases is None:
        return
    link = service.releases / CURRENT
    try:
        current, at = link.readlink(), link.lstat().st_mtime
        others = sorted(
            (each.lstat().st_mtime, each.name)
            for each, _ in zip(service.releases.iterdir(), range(_MOST_RELEASES), strict=False)
            if each.is_dir() and not each.is_symlink() and each.name != current.name
        )
    except OSError:
        return
    name = current.name
    before = (
        f"; laid down before it: {', '.join(each for _, each in others[-3:])}" if others else ""
    )
    yield Change(moment(at), "release", f"{service.name} {name}",
                 f"release {name} of {service.name} was put in force{before}", "release link",
                 service.name)  # fmt: skip


def _changed_at(path: Path) -> float | None:
    try:
        return path.lstat().st_mtime
    except OSError:
        return None
