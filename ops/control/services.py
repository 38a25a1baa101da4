"""Services: units of systemd, and those that the operator declares."""

import re
from dataclasses import dataclass
from functools import partial

from ops.bounded import Deadline, run_in_thread
from ops.control.actions import Change, ControlAction
from ops.control.own_processes import find_reason_to_spare, find_vital_reason
from ops.control.refusals import failed, refuse, refuse_unfinished, wrong
from ops.envelope import Json, ToolFailure, snake_case
from ops.executors.base import Executor
from ops.services.declaration import DeclaredService
from ops.services.running import changing, read_state, start, stop
from ops.systemd import check_unit_name

PAST = {"start": "started", "stop": "stopped", "restart": "restarted", "reload": "reloaded"}
_UNIT_SECONDS = 30.0
_LOOK_SECONDS = 5.0
_MAX_BYTES = 20_000
_SHOWN = "LoadState,ActiveState,SubState,Result,MainPID,NRestarts,ActiveEnterTimestamp"
# Starting one of these ends the machine, or everything that runs on it.
_MACHINE_UNIT = re.compile(
    r"(?:systemd-(?:poweroff|reboot|soft-reboot|halt|kexec|exit|suspend|hibernate|hybrid-sleep|"
    r"suspend-then-hibernate)|emergency|rescue|initrd-[a-z-]+|plymouth-[a-z-]+)\.service"
)


async def change_declared(service: DeclaredService, action: ControlAction) -> Change:
    """Start, stop or restart a declared service, one change at a time."""
    seconds = 2 * service.stop_seconds + 20
    return await run_in_thread(partial(_change_declared, service, action), seconds)


def _change_declared(service: DeclaredService, action: ControlAction, _: Deadline) -> Change:
    with changing(service):
        before = read_state(service)
        is_running = before.process is not None
        if before.process is not None and (reason := find_vital_reason(before.process.pid)):
            raise refuse(f"{service.name} is not touched: {reason}.", pid=before.process.pid)
        if action == "start" and is_running:
            return _unchanged(f"{service.name} was running already", before.to_json())
        try:
            after = stop(service) if action in ("stop", "restart") else before
            after = start(service) if action in ("start", "restart") else after
        except ToolFailure as error:
            now = read_state(service).to_json()
            raise failed(error.message, before.to_json(), now, **error.details) from error
        if action == "stop" and not is_running:
            return _unchanged(f"{service.name} was stopped already", before.to_json())
        return Change(f"{PAST[action]} {service.name}", before.to_json(), after.to_json())


def _unchanged(done: str, state: dict[str, Json]) -> Change:
    return Change(done, state, state, changed=False)


@dataclass(frozen=True)
class UnitControl:
    """`systemctl` on one machine."""

    systemctl: str
    executor: Executor

    async def change(self, unit: str, action: ControlAction) -> Change:
        """Change a service unit and say how it stood before and stands now."""
        check_unit_name(unit)
        if not unit.endswith(".service"):
            raise wrong(f"{unit[:80]} is no service unit.")
        before = await self._look(unit)
        if _MACHINE_UNIT.fullmatch(unit):
            raise refuse(f"{unit} ends the machine or all that runs on it.", unit=unit)
        pid = int(str(before.get("main_pid") or 0))
        if pid and (reason := find_reason_to_spare(pid)):
            raise refuse(f"{unit} is not touched: {reason}.", unit=unit, pid=pid)
        finished = await self.executor.run(
            (self.systemctl, "--no-ask-password", "--no-pager", action, "--", unit),
            seconds=_UNIT_SECONDS,
            max_bytes=_MAX_BYTES,
        )
        after = await self._look(unit)
        refuse_unfinished(finished, f"systemctl {action} {unit}", before, after)
        return Change(f"{PAST[action]} {unit}", before, after)

    async def _look(self, unit: str) -> dict[str, Json]:
        finished = await self.executor.run(
            (self.systemctl, "show", "--no-pager", f"--property={_SHOWN}", "--", unit),
            seconds=_LOOK_SECONDS,
            max_bytes=_MAX_BYTES,
        )
        if finished.exit_code != 0:
            said = finished.stderr.decode("utf-8", "replace").strip()[:300]
            raise ToolFailure("EXECUTION_FAILED", f"systemctl could not show {unit}: {said}")
        lines = finished.stdout.decode("utf-8", "replace").splitlines()
        pairs = (line.partition("=") for line in lines)
        shown = {key: value for key, equals, value in pairs if equals}
        state: dict[str, Json] = {"status": shown.get("ActiveState", "unknown")}
        return state | {_key(name): value for name, value in shown.items()}


def _key(name: str) -> str:
    return "main_pid" if name == "MainPID" else snake_case(name)
