"""Checks what `control` is asked for, finds the one resource, and has it changed."""

from dataclasses import dataclass
from typing import cast

from ops import systemd
from ops.control.actions import COMMAND, REPAIR, Change, ControlAction, ControlType
from ops.control.commands import read_argv, run_command
from ops.control.containers import change_container
from ops.control.guests import GUEST_PROGRAMS, GuestControl
from ops.control.processes import choose_signal, signal_process
from ops.control.refusals import wrong
from ops.control.repairs import repair_declared
from ops.control.services import UnitControl, change_declared
from ops.docker_api import DockerApi
from ops.envelope import Answer, Json, ToolFailure
from ops.process_identity import ProcessIdentity
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.routes import Routes
from ops.settings import OpsSettings
from safety.paths.sensitive_paths import SensitivePaths


@dataclass(frozen=True)
class ControlRequest:
    """One call of `control`, as it was made."""

    type: ControlType
    action: ControlAction
    resource_id: str
    signal: str = ""
    pid: int = 0
    start_ticks: int = -1
    command: str = ""
    seconds: float = 30.0
    repair: str = ""
    runs: str = ""


class Controller:
    """Changes resources. Whether a change may be made at all, others have decided."""

    def __init__(
        self, settings: OpsSettings, resources: ResourceQuery, docker: DockerApi, routes: Routes
    ) -> None:
        self._settings = settings
        self._resources = resources
        self._docker = docker
        self._routes = routes
        self._sensitive = SensitivePaths(settings.protected, settings.open_files)

    async def change(self, request: ControlRequest) -> Answer:
        """Do what is asked to exactly that resource, or say why not."""
        _check_arguments(request)
        resource = await self._resources.resolve(request.resource_id)
        _check_fit(resource, request)
        what: dict[str, Json] = {
            "resource_id": resource.resource_id,
            "type": request.type,
            "action": request.action,
        }
        if request.type == "command":
            argv = read_argv(request.command, self._sensitive)
            answer = await run_command(await self._routes.into(resource), argv, request.seconds)
            return Answer({**what, **answer.data}, answer.cuts)
        return (await self._change(resource, request)).to_answer(what)

    async def _change(self, resource: Resource, request: ControlRequest) -> Change:
        action = request.action
        match request.type:
            case "service" if resource.declared is not None and action == REPAIR:
                return await repair_declared(resource.declared, request.repair, request.runs)
            case "service" if resource.declared is not None:
                return await change_declared(resource.declared, action)
            case "service":
                if not systemd.answers(self._settings):
                    raise ToolFailure(
                        "EXECUTION_CONTEXT_UNAVAILABLE", "systemd does not run this machine."
                    )
                units = UnitControl(self._settings.systemctl, self._routes.local)
                return await units.change(resource.uid, action)
            case "container":
                return await change_container(self._docker, resource.uid, action)
            case "guest":
                guests = GuestControl(self._routes.to_host(resource.host))
                return await guests.change(resource, action)
            case _:
                identity = ProcessIdentity(request.pid, request.start_ticks)
                sent = choose_signal(action, request.signal)
                return await signal_process(identity, resource.uid, sent)


def _check_arguments(request: ControlRequest) -> None:
    """What belongs to another type is no slip: the call means something else than it says."""
    is_process, is_command = request.type == "process", request.type == "command"
    if is_process and (request.pid <= 0 or request.start_ticks < 0):
        raise wrong(
            "type=process needs 'pid' and 'start_ticks', as query action=config gives them: the "
            "number alone may be another process's by now."
        )
    if not is_process and (request.pid or request.signal or request.start_ticks >= 0):
        raise wrong("'pid', 'start_ticks' and 'signal' belong to type=process.")
    if is_process:
        choose_signal(request.action, request.signal)
    if (request.action == REPAIR) != bool(request.repair and request.runs):
        raise wrong(
            "'repair' and 'runs' belong to action=repair, which needs both, as query action=get "
            "gives them for the service."
        )
    if is_command and not request.command.strip():
        raise wrong("type=command needs 'command'.")
    if not is_command and request.command:
        raise wrong("'command' belongs to type=command.")


def _check_fit(resource: Resource, request: ControlRequest) -> None:
    """A call is for exactly this resource, of its own type, and for what may be done to it."""
    if resource.resource_id != request.resource_id:
        raise wrong(
            f"'{request.resource_id}' is no id; the id is {resource.resource_id}.",
            resource_id=resource.resource_id,
        )
    kind = "guest" if resource.kind in GUEST_PROGRAMS else resource.kind
    fits = request.type == "command" or request.type == kind
    is_command = request.type == "command"
    allowed = resource.allowed_actions
    if fits and request.action in allowed and is_command == (request.action == COMMAND):
        return
    details: dict[str, Json] = {
        "resource_id": resource.resource_id,
        "type": kind,
        "action": request.action,
        "allowed_actions": cast(list[Json], allowed),
    }
    raise ToolFailure(
        "ACTION_NOT_ALLOWED",
        f"{request.action} cannot be done to {resource.resource_id} by type={request.type}.",
        details=details,
    )
