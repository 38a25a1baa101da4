"""Looks at one resource, with fixed commands that only read, each of them bounded.

A version comes from the package or the image that brought a program. The program itself is never
run to ask for it: what it would do is not known.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ops.bounded import Deadline, run_in_thread
from ops.discovery.findings import (
    Findings,
    Service,
    services_of,
    with_places,
    with_version,
)
from ops.discovery.known_services import known_program
from ops.discovery.programs import Program, local_programs, read_ps
from ops.discovery.sockets import Listener, local_listeners, read_proc_net, read_ss
from ops.executors.base import Executor
from ops.place_programs import PlacePrograms

_SECONDS = 8.0
_SS = ("ss", "-H", "-l", "-n", "-t", "-u", "-p")
_PS = ("ps", "-ww", "-eo", "pid=,comm=,args=")
_PROC_NET = ("cat", "/proc/net/tcp", "/proc/net/tcp6")
_PACKAGES = (
    ("dpkg-query", "-W", "-f", "${Package} ${Version}\\n", "--"),
    ("rpm", "-q", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\\n", "--"),
)


async def look_here(executor: Executor, pids: Sequence[int] | None) -> Findings:
    """At this machine, or at some of its processes."""
    listeners, programs = await run_in_thread(lambda left: _local(pids, left), _SECONDS)
    unknown = ("listening: the system does not say",) if listeners is None else ()
    services = services_of(programs, listeners or [])
    services = await _add_versions(executor, services)
    places = frozenset(
        path for each in services if each.known for path in each.known.paths if _exists(path)
    )
    found = [with_places(each, places) for each in services]
    return Findings(found, listeners or [], unknown=unknown)


async def look_through(executor: Executor) -> Findings:
    """At another host or a guest, through the way into it."""
    place = PlacePrograms(executor, "there")
    sockets, processes = await asyncio.gather(place.ask(*_SS), place.ask(*_PS))
    unknown = []
    if sockets is None:
        sockets_of_kernel = await place.ask(*_PROC_NET)
        listeners = read_proc_net(sockets_of_kernel or "")
        unknown.append("which program listens: ss gave no answer there")
    else:
        listeners = read_ss(sockets)
    if processes is None:
        unknown.append("programs: ps gave no answer there")
    programs = [
        each for each in read_ps(processes or "")
        if known_program(each.name) or any(each.name == found.program for found in listeners)
    ]  # fmt: skip
    services = await _add_versions(executor, services_of(programs, listeners))
    services = await add_places(executor, services)
    return Findings(services, listeners, unknown=unknown)


async def listeners_within(executor: Executor) -> list[Listener] | None:
    """The ports of a container, which may have no program but its own."""
    said = await PlacePrograms(executor, "there").ask(*_PROC_NET, takes_part=True)
    return read_proc_net(said) if said is not None else None


async def add_places(executor: Executor, services: Sequence[Service]) -> list[Service]:
    """The usual places of their files that are there."""
    paths = sorted({path for each in services if each.known for path in each.known.paths})
    if not paths:
        return list(services)
    # It names those that exist and fails for the others.
    said = await PlacePrograms(executor, "there").ask("ls", "-d", "--", *paths, takes_part=True)
    existing = frozenset((said or "").splitlines())
    return [with_places(each, existing) for each in services]


async def _add_versions(executor: Executor, services: Sequence[Service]) -> list[Service]:
    wanted = sorted({name for each in services if each.known for name in each.known.packages})
    if not wanted:
        return list(services)
    for program in _PACKAGES:
        said = await PlacePrograms(executor, "there").ask(*program, *wanted, takes_part=True)
        pairs = (line.split() for line in (said or "").splitlines())
        if packages := {pair[0]: pair[1] for pair in pairs if len(pair) == 2}:
            return [with_version(each, packages) for each in services]
    return list(services)


def _local(
    pids: Sequence[int] | None, deadline: Deadline
) -> tuple[list[Listener] | None, list[Program]]:
    listeners = local_listeners()
    listening = {each.pid for each in listeners or ()}

    def is_wanted(name: str, pid: int) -> bool:
        return pids is not None or pid in listening or known_program(name) is not None

    programs = local_programs(pids, is_wanted, deadline)
    if pids is None or listeners is None:
        return listeners, programs
    return [each for each in listeners if each.pid in pids], programs


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return False
