"""Containers, over the API of Docker or Podman."""

import socket
from pathlib import Path

from ops.control.actions import Change, ControlAction
from ops.control.own_processes import find_reason_to_spare
from ops.control.refusals import failed, refuse
from ops.control.services import PAST
from ops.docker_api import DockerApi, as_object
from ops.envelope import Json, JsonObject, ToolFailure

_CHANGE_SECONDS = 30.0
_STOP_SECONDS = 10
_PROJECT = "com.docker.compose.project"


async def change_container(docker: DockerApi, uid: str, action: ControlAction) -> Change:
    """Start, stop or restart a container and say how it stood before and stands now."""
    whole = await inspect_container(docker, uid)
    name = str(whole.get("Name") or uid).lstrip("/")
    await refuse_own_container(docker, whole)
    before = state_of(whole)
    params = {} if action == "start" else {"t": str(_STOP_SECONDS)}
    try:
        status = await docker.post(
            f"/containers/{uid}/{action}", params, name=uid, seconds=_CHANGE_SECONDS
        )
        changed = status != 304
    except ToolFailure as error:
        if error.code == "NOT_FOUND":
            raise
        raise failed(error.message, before, await _look_again(docker, uid)) from error
    after = state_of(await inspect_container(docker, uid))
    done = f"{PAST[action]} {name}" if changed else f"{name} was {before['status']} already"
    return Change(done, before, after, changed=changed)


async def refuse_own_container(docker: DockerApi, whole: JsonObject) -> None:
    """Raises `ToolFailure` where TARSy runs in this container, or in one of its project."""
    if reason := await _find_reason_to_spare(docker, whole):
        name = str(whole.get("Name") or "").lstrip("/")
        raise refuse(f"The container {name} is not touched: {reason}.", container=name)


async def inspect_container(docker: DockerApi, uid: str) -> JsonObject:
    """All that the engine tells of a container."""
    return as_object(await docker.get_json(f"/containers/{docker.name_of(uid)}/json", name=uid))


def state_of(whole: JsonObject) -> dict[str, Json]:
    """How a container stands, as an inspection has it."""
    state = as_object(whole.get("State"))
    return {
        "status": state.get("Status"),
        "pid": state.get("Pid"),
        "started": state.get("StartedAt"),
        "finished": state.get("FinishedAt"),
        "exit_code": state.get("ExitCode"),
        "restart_count": whole.get("RestartCount"),
    }


async def _look_again(docker: DockerApi, uid: str) -> dict[str, Json] | None:
    try:
        return state_of(await inspect_container(docker, uid))
    except ToolFailure:
        return None


async def _find_reason_to_spare(docker: DockerApi, whole: JsonObject) -> str:
    identity = str(whole.get("Id") or "")
    if _is_our_container(identity):
        return "TARSy runs in it"
    pid = as_object(whole.get("State")).get("Pid")
    # Seen from within a container, the number means a process of another name space.
    if isinstance(pid, int) and pid > 1 and identity and identity in _text(f"/proc/{pid}/cgroup"):
        return find_reason_to_spare(pid)
    project = _project(whole)
    return "it belongs to TARSy" if project and project == await _our_project(docker) else ""


async def _our_project(docker: DockerApi) -> str:
    try:
        ours = await inspect_container(docker, socket.gethostname())
    except ToolFailure:
        return ""  # We do not run in one of these containers.
    return _project(ours) if _is_our_container(str(ours.get("Id") or "")) else ""


def _is_our_container(identity: str) -> bool:
    """Whether this container's own files are mounted here; its id stands in their paths."""
    if len(identity) < 12:
        return False
    if identity in _text("/proc/self/mountinfo") or identity in _text("/proc/self/cgroup"):
        return True
    return identity.startswith(socket.gethostname()) and len(socket.gethostname()) == 12


def _project(whole: JsonObject) -> str:
    return str(as_object(as_object(whole.get("Config")).get("Labels")).get(_PROJECT) or "")


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
