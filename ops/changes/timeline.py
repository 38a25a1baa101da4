"""One timeline of what was changed, out of all who keep a record."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from ops.bounded import Deadline, run_in_thread
from ops.changes.change import Change
from ops.changes.of_machine import (
    FoundFiles,
    find_boot,
    find_files,
    find_packages,
    find_rpm_packages,
    find_units,
)
from ops.changes.of_services import find_service_changes
from ops.docker import DockerReader
from ops.envelope import Answer, Json, ToolFailure
from ops.settings import OpsSettings

_SECONDS = 12.0
_DAY = timedelta(days=1)
_AFTER = timedelta(minutes=5)
"""Clocks differ, and what an alert calls its start is when it was noticed."""
_SETTINGS = (Path("/etc"),)

NOTE = "a change before the onset is a candidate to look at, never a cause by its time alone"


class Changes:
    """Looks for changes of one machine, its containers and its declared services."""

    def __init__(self, settings: OpsSettings, docker: DockerReader) -> None:
        self._settings = settings
        self._docker = docker

    async def find(
        self, since: datetime | None, around: datetime | None, service: str, limit: int
    ) -> Answer:
        """The newest changes first. `around` is when the trouble began, where that is known."""
        self._check_service(service)
        start = since or (around or datetime.now(UTC)) - _DAY
        end = around + _AFTER if around is not None else datetime.now(UTC) + _AFTER
        local = await run_in_thread(partial(self._find_local, start), _SECONDS)
        containers = await self._containers()
        kept = sorted(
            {
                each
                for each in (*local.changes, *containers)
                if start <= each.at <= end and service in ("", each.service)
            },
            key=lambda each: (each.at, each.object),
            reverse=True,
        )
        data: dict[str, Json] = {
            "since": start.isoformat(timespec="seconds"),
            "around": around.isoformat(timespec="seconds") if around else None,
            "changes": [each.to_json(around) for each in kept[:limit]],
            "total": len(kept),
            "note": NOTE,
        }
        left = len(kept) - limit
        older = (f"changes: {left} older ones left out",) if left > 0 else ()
        return Answer(data, (*older, *local.cuts))

    def _check_service(self, service: str) -> None:
        known = [each.name for each in self._settings.services]
        if service and service not in known:
            raise ToolFailure(
                "INVALID_INPUT",
                f"'service' must be a declared service: {', '.join(known) or 'there is none'}.",
            )

    def _find_local(self, since: datetime, deadline: Deadline) -> FoundFiles:
        """Changes of the machine and its services, with what was not looked at."""
        others = tuple(self._find_others(since, deadline))
        files = find_files(_SETTINGS, since, deadline)
        return replace(files, changes=(*others, *files.changes))

    def _find_others(self, since: datetime, deadline: Deadline) -> Iterator[Change]:
        for service in self._settings.services:
            yield from find_service_changes(service)
        yield from find_boot()
        yield from find_packages(self._settings.log_directory / "dpkg.log", since)
        yield from find_rpm_packages(since, deadline)
        yield from find_units(self._settings, since, deadline)

    async def _containers(self) -> list[Change]:
        """Containers by when each was made, where an engine answers."""
        try:
            rows = await self._docker.containers()
        except ToolFailure:
            return []
        changes = []
        for row in rows:
            created = row.get("created")
            if isinstance(created, str):
                name, image = str(row["name"]), str(row["image"])
                made = Change(datetime.fromisoformat(created), "container", name,
                              f"{name} was made from {image}", "container engine")  # fmt: skip
                changes.append(made)
        return changes
