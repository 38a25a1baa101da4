"""Swarm services and their tasks, and which containers run an image that was replaced."""

import json
from urllib.parse import quote

from ops.docker_api import DockerApi, as_list, as_object
from ops.envelope import Answer, Json, JsonObject, ToolFailure

_MAX_ERROR_CHARS = 500
_STACK_LABEL = "com.docker.stack.namespace"


class SwarmReader:
    """Looks at the swarm that an engine belongs to, and at its images."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api

    async def swarm(self) -> Answer:
        """Whether this engine is part of a swarm; on a manager, its nodes."""
        swarm = await self._state()
        nodes: list[Json] = []
        if swarm.get("ControlAvailable"):
            nodes = [_node(as_object(item)) for item in as_list(await self._api.get_json("/nodes"))]
        return Answer(
            {
                "state": swarm.get("LocalNodeState"),
                "node_id": swarm.get("NodeID"),
                "is_manager": bool(swarm.get("ControlAvailable")),
                "error": swarm.get("Error") or None,
                "nodes": nodes,
            }
        )

    async def services(self, stack: str, limit: int) -> Answer:
        """Every service with how many of its tasks run."""
        await self._need_manager()
        params = {"status": "true"}
        if stack:
            params["filters"] = json.dumps({"label": [f"{_STACK_LABEL}={stack}"]})
        found = as_list(await self._api.get_json("/services", params))
        rows: list[Json] = [_service(as_object(item)) for item in found]
        return Answer({"services": rows[:limit], "total": len(rows)}, _cut("services", rows, limit))

    async def tasks(self, service: str, limit: int) -> Answer:
        """The tasks of a service, or all, newest first, with what went wrong."""
        await self._need_manager()
        params = {"filters": json.dumps({"service": [service]})} if service else {}
        found = [as_object(item) for item in as_list(await self._api.get_json("/tasks", params))]
        found.sort(key=lambda item: str(item.get("UpdatedAt")), reverse=True)
        rows: list[Json] = [_task(item) for item in found]
        return Answer({"tasks": rows[:limit], "total": len(rows)}, _cut("tasks", rows, limit))

    async def updates(self, limit: int) -> Answer:
        """Containers whose image name means another image by now. No registry is asked."""
        rows: list[Json] = []
        newest: dict[str, str | None] = {}
        for item in as_list(await self._api.get_json("/containers/json", {"all": "1"})):
            container = as_object(item)
            image = str(container.get("Image") or "")
            if image not in newest:
                newest[image] = await self._image_id(image)
            running = str(container.get("ImageID") or "")
            names = [str(name).lstrip("/") for name in as_list(container.get("Names"))]
            rows.append(
                {
                    "container": names[0] if names else str(container.get("Id") or "")[:12],
                    "image": image,
                    "image_id": running[:19],
                    "newest_local_image_id": (newest[image] or "")[:19] or None,
                    "is_outdated": newest[image] not in (None, running),
                }
            )
        return Answer({"containers": rows[:limit], "total": len(rows)}, _cut("rows", rows, limit))

    async def _image_id(self, image: str) -> str | None:
        try:
            path = f"/images/{quote(image, safe='/:@')}/json"
            return str(as_object(await self._api.get_json(path, name=image)).get("Id") or "")
        except ToolFailure as failure:
            if failure.code == "NOT_FOUND":
                return None
            raise

    async def _state(self) -> JsonObject:
        return as_object(as_object(await self._api.get_json("/info")).get("Swarm"))

    async def _need_manager(self) -> None:
        swarm = await self._state()
        if not swarm.get("ControlAvailable"):
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                "This engine is no manager of a swarm, so it knows no services and no tasks.",
                details={"state": swarm.get("LocalNodeState")},
            )


def _node(item: JsonObject) -> Json:
    description, status = as_object(item.get("Description")), as_object(item.get("Status"))
    spec = as_object(item.get("Spec"))
    return {
        "id": item.get("ID"),
        "hostname": description.get("Hostname"),
        "role": spec.get("Role"),
        "availability": spec.get("Availability"),
        "state": status.get("State"),
        "message": status.get("Message"),
    }


def _service(item: JsonObject) -> Json:
    spec, counts = as_object(item.get("Spec")), as_object(item.get("ServiceStatus"))
    update = as_object(item.get("UpdateStatus"))
    template = as_object(spec.get("TaskTemplate"))
    labels = as_object(spec.get("Labels"))
    return {
        "id": item.get("ID"),
        "name": spec.get("Name"),
        "stack": labels.get(_STACK_LABEL),
        "image": as_object(template.get("ContainerSpec")).get("Image"),
        "mode": next(iter(as_object(spec.get("Mode"))), None),
        "running_tasks": counts.get("RunningTasks"),
        "desired_tasks": counts.get("DesiredTasks"),
        "update_state": update.get("State"),
        "update_message": update.get("Message"),
    }


def _task(item: JsonObject) -> Json:
    status = as_object(item.get("Status"))
    return {
        "id": item.get("ID"),
        "service_id": item.get("ServiceID"),
        "node_id": item.get("NodeID"),
        "slot": item.get("Slot"),
        "desired_state": item.get("DesiredState"),
        "state": status.get("State"),
        "message": status.get("Message"),
        "error": str(status.get("Err") or "")[:_MAX_ERROR_CHARS] or None,
        "exit_code": as_object(status.get("ContainerStatus")).get("ExitCode"),
        "updated": item.get("UpdatedAt"),
    }


def _cut(what: str, rows: list[Json], limit: int) -> tuple[str, ...]:
    is_cut = len(rows) > limit
    return (f"{what}: the first {limit} of {len(rows)}; raise 'lines'",) if is_cut else ()
