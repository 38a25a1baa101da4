"""The Docker API on a unix socket: bounded in time and bytes."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import httpx

from ops.envelope import Json, JsonObject, ToolFailure
from ops.executors.names import CONTAINER
from ops.settings import OpsSettings

_SECONDS = 10.0
_MAX_REPLY_BYTES = 8 << 20


class DockerApi:
    """Speaks with the first Docker or Podman socket of this machine that exists."""

    def __init__(self, settings: OpsSettings) -> None:
        self._sockets = settings.docker_sockets
        self._host = settings.host

    def socket(self) -> Path | None:
        return next((path for path in self._sockets if path.is_socket()), None)

    def name_of(self, container: str) -> str:
        """The name or id in what a call gave, which may be an id of `query`; nothing else."""
        name = container.removeprefix(f"container:{self._host}:")
        if CONTAINER.fullmatch(name):
            return name
        raise ToolFailure(
            "INVALID_INPUT",
            "'container' must be a container's name or id, as action 'list' gives it.",
        )

    async def get_json(
        self, path: str, params: Mapping[str, str] | None = None, *, name: str = ""
    ) -> Json:
        """The decoded reply. `name` is the thing asked for, in case there is none."""
        body = await self.get(path, params, name=name)
        try:
            return cast(Json, json.loads(body))
        except ValueError as error:
            raise unexpected() from error

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, name: str = ""
    ) -> bytes:
        return (await self._request("GET", path, params or {}, name, _SECONDS))[1]

    async def post(self, path: str, params: Mapping[str, str], *, name: str, seconds: float) -> int:
        """Asks for a change and gives the status, which is one of success."""
        return (await self._request("POST", path, params, name, seconds))[0]

    async def _request(
        self, method: str, path: str, params: Mapping[str, str], name: str, seconds: float
    ) -> tuple[int, bytes]:
        socket = self.socket()
        if socket is None:
            raise self._unavailable("no socket exists")
        try:
            with anyio.fail_after(seconds):
                async with (
                    _open(socket) as client,
                    client.stream(method, path, params=params) as reply,
                ):
                    body = await _read_capped(reply)
        except TimeoutError as error:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"Docker did not answer within {seconds:.0f} s at {socket}.",
                retryable=method == "GET",
            ) from error
        except httpx.HTTPError as error:
            raise self._unavailable(f"{socket} does not answer: {error}") from error
        # 304: it is already as it was asked to be.
        if reply.is_success or reply.status_code == 304:
            return reply.status_code, body
        if reply.status_code == 404 and name:
            raise ToolFailure("NOT_FOUND", f"Docker knows no '{name}'.", details={"name": name})
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"Docker answered {reply.status_code}: {body[:300].decode('utf-8', 'replace')}",
            retryable=method == "GET" and reply.status_code >= 500,
        )

    def _unavailable(self, why: str) -> ToolFailure:
        places: list[Json] = [str(path) for path in self._sockets]
        return ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"No Docker answers on {self._host} ({why}). Looked at {', '.join(map(str, places))}. "
            "Use 'query' for processes and services of this host instead.",
            details={"target_host": self._host, "transport": "none", "sockets": places},
        )


def as_object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def unexpected() -> ToolFailure:
    return ToolFailure("EXECUTION_FAILED", "The Docker socket answered something that is no JSON.")


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
