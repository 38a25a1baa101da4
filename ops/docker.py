"""Containers, over the Docker API on a unix socket. Reads only."""

import struct
from collections import Counter
from datetime import UTC, datetime
from typing import cast

from ops.docker_api import DockerApi, as_list, as_object, unexpected
from ops.docker_images import read_digests
from ops.envelope import Answer, Json, JsonObject, ToolFailure, snake_case
from ops.line_filter import LineFilter
from ops.redaction import show_command

_MAX_LOG_BYTES = 120_000
_MAX_LINE_CHARS = 4_000
_FRAME_HEADER = struct.Struct(">BxxxI")


class DockerReader:
    """Looks at the containers of one engine."""

    def __init__(self, api: DockerApi) -> None:
        self.api = api

    async def containers(self) -> list[dict[str, Json]]:
        """Every container, running or not."""
        reply = await self.api.get_json("/containers/json", {"all": "1"})
        if not isinstance(reply, list):
            raise unexpected()
        return [_container_row(as_object(item)) for item in reply]

    async def list(self, *, limit: int) -> Answer:
        rows = await self.containers()
        states = Counter(str(row["state"]) for row in rows)
        cuts = (f"containers: the first {limit} of {len(rows)}",) if len(rows) > limit else ()
        data = {"containers": rows[:limit], "total": len(rows), "by_state": states}
        return Answer(cast(JsonObject, data), cuts)

    async def inspect(self, container: str) -> Answer:
        """State, limits, mounts and networks of a container. Of its environment, names only."""
        whole = as_object(await self._inspect(self.api.name_of(container)))
        return Answer(
            {**_inspection(whole), "image_digests": [*await read_digests(self.api, whole)]}
        )

    async def logs(
        self, container: str, *, lines: int, since: datetime | None, accepts: LineFilter | None
    ) -> Answer:
        """The last lines of a container's output; a filter looks at its last 5000."""
        container = self.api.name_of(container)
        settings = as_object(as_object(await self._inspect(container)).get("Config"))
        window = 5000 if accepts else lines
        params = {"stdout": "1", "stderr": "1", "timestamps": "1", "tail": str(window)}
        if since is not None:
            params["since"] = str(int(since.astimezone(UTC).timestamp()))
        raw = await self.api.get(f"/containers/{container}/logs", params, name=container)
        output = raw if settings.get("Tty") else _unframe(raw)
        found = [line for line in output.splitlines() if accepts is None or accepts(line)]
        kept, size = [], 0
        for line in reversed(found[-lines:]):
            text = line.decode("utf-8", "replace")[:_MAX_LINE_CHARS]
            size += len(text)
            if size > _MAX_LOG_BYTES:
                break
            kept.append(text)
        data: dict[str, Json] = {
            "container": container,
            "lines": len(kept),
            "content": "\n".join(reversed(kept)),
        }
        cuts = (f"content: the last {len(kept)} lines",) if len(found) > len(kept) else ()
        return Answer(data, cuts)

    async def _inspect(self, container: str) -> Json:
        try:
            return await self.api.get_json(f"/containers/{container}/json", name=container)
        except ToolFailure as failure:
            if failure.code == "NOT_FOUND":
                raise await self._no_such(container) from failure
            raise

    async def _no_such(self, container: str) -> ToolFailure:
        names: list[Json] = [row["name"] for row in await self.containers()]
        known = ", ".join(map(str, names[:20]))
        return ToolFailure(
            "NOT_FOUND",
            f"There is no container '{container}'. Existing: {known or 'none'}.",
            details={"container": container, "containers": names[:50]},
        )


def _unframe(raw: bytes) -> bytes:
    """Joins the frames in which Docker interleaves standard output and standard error."""
    parts, at = [], 0
    while at + _FRAME_HEADER.size <= len(raw):
        stream, length = _FRAME_HEADER.unpack_from(raw, at)
        if stream > 2:
            return raw
        at += _FRAME_HEADER.size
        parts.append(raw[at : at + length])
        at += length
    return b"".join(parts)


def _container_row(item: JsonObject) -> dict[str, Json]:
    names = [str(name).lstrip("/") for name in as_list(item.get("Names"))]
    identity = str(item.get("Id") or "")
    created = item.get("Created")
    return {
        "id": identity[:12],
        "name": names[0] if names else identity[:12],
        "image": item.get("Image"),
        "state": item.get("State"),
        "status": item.get("Status"),
        "created": datetime.fromtimestamp(created, UTC).isoformat()
        if isinstance(created, int)
        else None,
        "ports": [_port(as_object(port)) for port in as_list(item.get("Ports"))],
    }


def _inspection(item: JsonObject) -> dict[str, Json]:
    state, config = as_object(item.get("State")), as_object(item.get("Config"))
    limits, network = as_object(item.get("HostConfig")), as_object(item.get("NetworkSettings"))
    command = [
        str(part) for part in [*as_list(config.get("Entrypoint")), *as_list(config.get("Cmd"))]
    ]
    return {
        "id": str(item.get("Id") or "")[:12],
        "name": str(item.get("Name") or "").lstrip("/"),
        "image": config.get("Image"),
        "created": item.get("Created"),
        "state": _pick(state, "Status ExitCode Error OOMKilled Pid StartedAt FinishedAt"),
        "health": _health(as_object(state.get("Health"))),
        "is_well": _is_well(state),
        "restart_count": item.get("RestartCount"),
        "restart_policy": _pick(as_object(limits.get("RestartPolicy")), "Name MaximumRetryCount"),
        "limits": _pick(limits, "Memory MemorySwap NanoCpus CpuShares CpuQuota PidsLimit"),
        "privileged": limits.get("Privileged"),
        "command": show_command(command),
        "user": config.get("User"),
        "working_directory": config.get("WorkingDir"),
        "environment_names": [str(pair).partition("=")[0] for pair in as_list(config.get("Env"))],
        "label_names": list(as_object(config.get("Labels"))),
        "mounts": [
            _pick(as_object(mount), "Type Source Destination Mode RW")
            for mount in as_list(item.get("Mounts"))
        ],
        "networks": {
            name: _pick(as_object(settings), "IPAddress Gateway")
            for name, settings in as_object(network.get("Networks")).items()
        },
        "log_driver": as_object(limits.get("LogConfig")).get("Type"),
    }


def _is_well(state: JsonObject) -> bool:
    """Whether it runs, and does what its health check asks of it, where it has one."""
    health = as_object(state.get("Health")).get("Status")
    return state.get("Status") == "running" and health in (None, "", "none", "healthy")


def _health(health: JsonObject) -> Json:
    if not health:
        return None
    checks = [as_object(check) for check in as_list(health.get("Log"))[-3:]]
    return {
        "status": health.get("Status"),
        "failing_streak": health.get("FailingStreak"),
        "last_checks": [
            {"exit_code": check.get("ExitCode"), "output": str(check.get("Output") or "")[:500]}
            for check in checks
        ],
    }


def _port(port: JsonObject) -> str:
    inner = f"{port.get('PrivatePort')}/{port.get('Type')}"
    return (
        f"{port.get('IP', '')}:{port['PublicPort']}->{inner}" if port.get("PublicPort") else inner
    )


def _pick(item: JsonObject, names: str) -> dict[str, Json]:
    return {snake_case(name): item.get(name) for name in names.split() if name in item}
