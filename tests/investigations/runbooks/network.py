"""A network in memory: names that resolve as told, and servers that speak real HTTP without TLS."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpcore
import pytest

from investigations.runbooks import fetch
from investigations.runbooks.fetch import Network
from investigations.services import runbooks

PUBLIC = "93.184.215.14"


def reply(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A whole HTTP answer that ends with the connection."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


def redirect(location: str, status: str = "302 Found") -> bytes:
    return reply(b"", status, Location=location)


class Stream(httpcore.AsyncNetworkStream):
    """One connection; `answer` is what the server says to whatever it is asked."""

    def __init__(self, answer: bytes, ask: "Ask", wait: Callable[[], Awaitable[object]] | None):
        self._answer = answer
        self._ask = ask
        self._wait = wait

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._answer and self._wait is not None:
            await self._wait()
        chunk, self._answer = self._answer[:max_bytes], self._answer[max_bytes:]
        return chunk

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._ask.sent += buffer

    async def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> "Stream":
        self._ask.tls_name = server_hostname or ""
        return self

    async def aclose(self) -> None:
        self._ask.is_closed = True

    def get_extra_info(self, info: str) -> Any:
        return None


@dataclass
class Ask:
    """What one connection was made to and asked for."""

    address: str
    sent: bytes = b""
    tls_name: str = ""
    is_closed: bool = False

    @property
    def path(self) -> str:
        return self.sent.split(b" ")[1].decode()

    def header(self, name: str) -> str | None:
        for line in self.sent.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name.lower():
                return value
        return None


@dataclass
class World:
    """Answers in turn, the last one for ever. Each name answers its lists in turn as well."""

    answers: Sequence[bytes] = (reply("# Disk\nLook at the disk."),)
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    dead: frozenset[str] = frozenset()
    wait_at_end: Callable[[], Awaitable[object]] | None = None
    asked: list[Ask] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)

    @property
    def network(self) -> Network:
        return Network(self._resolve, self._connect)

    async def _resolve(self, host: str) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host, [[PUBLIC]])
        return answers[min(self.looked_up.count(host), len(answers)) - 1]

    async def _connect(self, address: str) -> httpcore.AsyncNetworkStream:
        ask = Ask(address)
        self.asked.append(ask)
        if address in self.dead:
            raise httpcore.ConnectError("refused")
        alive = sum(1 for each in self.asked if each.address not in self.dead)
        answer = self.answers[min(alive, len(self.answers)) - 1]
        return Stream(answer, ask, self.wait_at_end)


def put_in_place(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process reach `world` instead of the public network, with nothing remembered."""
    monkeypatch.setattr(fetch, "resolve_name", world.network.resolve)
    monkeypatch.setattr(fetch, "connect_to", world.network.connect)
    runbooks._listing.cache_clear()
