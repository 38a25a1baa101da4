"""Containers, over the Docker API on a unix socket. Reads only."""

import re
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import anyio
import httpx

from mcp_bridge.ops.envelope import Answer, Json, JsonObject, ToolFailure, snake_case
from mcp_bridge.ops.line_filter import LineFilter
from mcp_bridge.ops.redaction import show_command
from mcp_bridge.ops.settings import OpsSettings

_SECONDS = 10.0
_MAX_REPLY_BYTES = 8 << 20
_MAX_LOG_BYTES = 120_000
_MAX_LINE_CHARS = 4_000
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")
_FRAME_HEADER = struct.Struct(">BxxxI")


class DockerReader:
    """Reads from the first Docker or Podman socket of this machine that answers."""

    def __init__(self, settings: OpsSettings) -> None:
        self._sockets = settings.docker_sockets
        self._host = settings.host

    def socket(self) -> Path | None:
        return next((path for path in self._sockets if path.is_socket()), None)

    async def containers(self) -> list[dict[str, Json]]:
        """Every container, running or not."""
        reply = await self._get_json("/containers/json", {"all": "1"})
        if not isinstance(reply, list):
            raise _unexpected()
        return [_container_row(_object(item)) for item in reply]

    async def list(self, *, limit: int) -> Answer:
        rows = await self.containers()
        states = Counter(str(row["state"]) for row in rows)
        cuts = (f"containers: the first {limit} of {len(rows)}",) if len(rows) > limit else ()
        data = {"containers": rows[:limit], "total": len(rows), "by_state": states}
        return Answer(cast(JsonObject, data), cuts)

    async def inspect(self, container: str) -> Answer:
        """State, limits, mounts and networks of a container. Of its environment, names only."""
        return Answer(_inspection(_object(await self._inspect(container))))

    async def logs(
        self, container: str, *, lines: int, since: datetime | None, accepts: LineFilter | None
    ) -> Answer:
        """The last lines of a container's output; a filter looks at its last 5000."""
        settings = _object(_object(await self._inspect(container)).get("Config"))
        window = 5000 if accepts else lines
        params = {"stdout": "1", "stderr": "1", "timestamps": "1", "tail": str(window)}
        if since is not None:
            params["since"] = str(int(since.astimezone(UTC).timestamp()))
        raw = await self._get(f"/containers/{container}/logs", params, container)
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
        if not _NAME.match(container):
            raise ToolFailure(
                "INVALID_INPUT",
                "'container' must be a container's name or id, as action 'list' gives it.",
            )
        return await self._get_json(f"/containers/{container}/json", {}, container)

    async def _get_json(
        self, path: str, params: dict[str, str], container: str | None = None
    ) -> Json:
        body = await self._get(path, params, container)
        try:
            return cast(Json, httpx.Response(200, content=body).json())
        except ValueError as error:
            raise _unexpected() from error

    async def _get(self, path: str, params: dict[str, str], container: str | None) -> bytes:
        socket = self.socket()
        if socket is None:
            raise self._unavailable("no socket exists")
        try:
            with anyio.fail_after(_SECONDS):
                async with (
                    _open(socket) as client,
                    client.stream("GET", path, params=params) as reply,
                ):
                    body = await _read_capped(reply)
        except TimeoutError as error:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"Docker did not answer within {_SECONDS:.0f} s at {socket}.",
                retryable=True,
            ) from error
        except httpx.HTTPError as error:
            raise self._unavailable(f"{socket} does not answer: {error}") from error
        if reply.is_success:
            return body
        if reply.status_code == 404 and container:
            raise await self._no_such(container)
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"Docker answered {reply.status_code}: {body[:300].decode('utf-8', 'replace')}",
            retryable=reply.status_code >= 500,
        )

    async def _no_such(self, container: str) -> ToolFailure:
        names: list[Json] = [row["name"] for row in await self.containers()]
        known = ", ".join(map(str, names[:20]))
        return ToolFailure(
            "NOT_FOUND",
            f"There is no container '{container}'. Existing: {known or 'none'}.",
            details={"container": container, "containers": names[:50]},
        )

    def _unavailable(self, why: str) -> ToolFailure:
        places: list[Json] = [str(path) for path in self._sockets]
        return ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"No Docker answers on {self._host} ({why}). Looked at {', '.join(map(str, places))}. "
            "Use 'query' for processes and services of this host instead.",
            details={"target_host": self._host, "transport": "none", "sockets": places},
        )


@asynccontextmanager
async def _open(socket: Path) -> AsyncIterator[httpx.AsyncClient]:
    # A socket file speaks no TLS; reading all certificate authorities for it would hold the loop.
    transport = httpx.AsyncHTTPTransport(uds=str(socket), verify=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://docker", timeout=None, trust_env=False
    ) as client:
        yield client


async def _read_capped(reply: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in reply.aiter_bytes():
        body += chunk
        if len(body) > _MAX_REPLY_BYTES:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"Docker's reply is larger than {_MAX_REPLY_BYTES >> 20} MiB; ask for fewer lines.",
            )
    return bytes(body)


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
    names = [str(name).lstrip("/") for name in _list(item.get("Names"))]
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
        "ports": [_port(_object(port)) for port in _list(item.get("Ports"))],
    }


def _inspection(item: JsonObject) -> dict[str, Json]:
    state, config = _object(item.get("State")), _object(item.get("Config"))
    limits, network = _object(item.get("HostConfig")), _object(item.get("NetworkSettings"))
    command = [str(part) for part in [*_list(config.get("Entrypoint")), *_list(config.get("Cmd"))]]
    return {
        "id": str(item.get("Id") or "")[:12],
        "name": str(item.get("Name") or "").lstrip("/"),
        "image": config.get("Image"),
        "created": item.get("Created"),
        "state": _pick(state, "Status ExitCode Error OOMKilled Pid StartedAt FinishedAt"),
        "health": _health(_object(state.get("Health"))),
        "restart_count": item.get("RestartCount"),
        "restart_policy": _pick(_object(limits.get("RestartPolicy")), "Name MaximumRetryCount"),
        "limits": _pick(limits, "Memory MemorySwap NanoCpus CpuShares CpuQuota PidsLimit"),
        "privileged": limits.get("Privileged"),
        "command": show_command(command),
        "user": config.get("User"),
        "working_directory": config.get("WorkingDir"),
        "environment_names": [str(pair).partition("=")[0] for pair in _list(config.get("Env"))],
        "label_names": list(_object(config.get("Labels"))),
        "mounts": [
            _pick(_object(mount), "Type Source Destination Mode RW")
            for mount in _list(item.get("Mounts"))
        ],
        "networks": {
            name: _pick(_object(settings), "IPAddress Gateway")
            for name, settings in _object(network.get("Networks")).items()
        },
        "log_driver": _object(limits.get("LogConfig")).get("Type"),
    }


def _health(health: JsonObject) -> Json:
    if not health:
        return None
    checks = [_object(check) for check in _list(health.get("Log"))[-3:]]
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


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _unexpected() -> ToolFailure:
    return ToolFailure("EXECUTION_FAILED", "The Docker socket answered something that is no JSON.")
