"""Guests of a Proxmox node: containers by `pct`, virtual machines by `qm`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ops.control.actions import Change, ControlAction
from ops.control.refusals import refuse_unfinished
from ops.envelope import Json, ToolFailure
from ops.executors.base import Executor
from ops.executors.names import GUEST, check_name
from ops.resources import Resource

GUEST_PROGRAMS: Mapping[str, str] = {"lxc": "pct", "vm": "qm"}
"""By the kind of a guest, the program that changes it."""
_STATUS = re.compile(r"^status: *([a-z-]+)", re.MULTILINE)
_CHANGE_SECONDS = 30.0
_LOOK_SECONDS = 5.0
_MAX_BYTES = 20_000
_PAST = {"start": "started", "stop": "stopped", "shutdown": "shut down", "reboot": "rebooted"}
_ENDS_AS = {"start": "running", "stop": "stopped", "shutdown": "stopped"}


@dataclass(frozen=True)
class GuestControl:
    """The guests of one node; `executor` runs programs on the node."""

    executor: Executor

    async def change(self, guest: Resource, action: ControlAction) -> Change:
        """Start, stop, shut down or reboot a guest; where it stands so already, do nothing."""
        tool, name = GUEST_PROGRAMS[guest.kind], guest.name
        vmid = check_name("guest", guest.uid, GUEST)
        before = await self._look(tool, vmid)
        if before["status"] == _ENDS_AS.get(action):
            return Change(f"{name} was {before['status']} already", before, before, changed=False)
        finished = await self.executor.run(
            (tool, action, vmid), seconds=_CHANGE_SECONDS, max_bytes=_MAX_BYTES
        )
        after = await self._look(tool, vmid)
        refuse_unfinished(finished, f"{tool} {action} {vmid}", before, after)
        return Change(f"{_PAST[action]} {name} ({tool} {vmid})", before, after)

    async def _look(self, tool: str, vmid: str) -> dict[str, Json]:
        finished = await self.executor.run(
            (tool, "status", vmid), seconds=_LOOK_SECONDS, max_bytes=_MAX_BYTES
        )
        found = _STATUS.search(finished.stdout.decode("utf-8", "replace"))
        if finished.exit_code != 0 or found is None:
            said = finished.stderr.decode("utf-8", "replace").strip()[:300]
            raise ToolFailure("EXECUTION_FAILED", f"{tool} status {vmid} gave no answer: {said}")
        return {"status": found[1]}
