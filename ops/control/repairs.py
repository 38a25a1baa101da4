"""Repairs: what the operator has declared to be done where a service is in trouble."""

import subprocess
from functools import partial

from ops.bounded import Deadline, run_in_thread
from ops.control.actions import Change
from ops.control.refusals import failed, wrong
from ops.envelope import Json
from ops.services.declaration import DeclaredService, Repair
from ops.services.running import changing, read_state, start, stop
from safety.commands.running import plain_environment

_MAX_OUTPUT = 4000


async def repair_declared(service: DeclaredService, name: str, runs: str) -> Change:
    """Carry one repair out. `runs` is what whoever asked for it has seen that it runs."""
    repair = next((each for each in service.repairs if each.name == name), None)
    if repair is None:
        known: list[Json] = [each.name for each in service.repairs]
        raise wrong(
            f"{service.name} has no repair '{name[:80]}'; it has "
            f"{', '.join(map(str, known)) or 'none'}.",
            repairs=known,
        )
    if runs != repair.runs:
        raise wrong(
            f"'runs' is not what {name} runs; that is: {repair.runs}", repair=name, runs=repair.runs
        )
    seconds = repair.seconds + 2 * service.stop_seconds + 20
    return await run_in_thread(partial(_repair, service, repair), seconds)


def _repair(service: DeclaredService, repair: Repair, _: Deadline) -> Change:
    with changing(service):
        before = read_state(service).to_json()
        said = _run(service, repair, before)
        if repair.restarts:
            stop(service)
            start(service)
        after = read_state(service).to_json()
    return Change(f"{repair.name} of {service.name}: {said}", before, after)


def _run(service: DeclaredService, repair: Repair, before: dict[str, Json]) -> str:
    """What it said. Raises `ToolFailure` where it did not end well."""
    try:
        finished = subprocess.run(
            repair.argv,
            cwd=service.directory,
            env={**plain_environment(), **dict(service.environment)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=repair.seconds,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise failed(f"{repair.name} could not be carried out: {error}", before, None) from error
    said = finished.stdout[-_MAX_OUTPUT:].decode("utf-8", "replace").strip()
    if finished.returncode:
        errors = finished.stderr[-_MAX_OUTPUT:].decode("utf-8", "replace").strip()
        raise failed(
            f"{repair.name} ended with exit code {finished.returncode}: "
            f"{errors or said or 'it gave no reason'}",
            before,
            read_state(service).to_json(),
        )
    return said or "done"
