"""Enough of the Docker API on a unix socket to hold the client to its wire format."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class FakeDocker:
    """Replies by path; `requests` are the targets that were asked for, in order, those that would
    change something with their method in front."""

    replies: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    moods: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """Replies that depend on what has happened by the time they are asked for."""

    def answer(self, path: str, body: Any, status: int = 200) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.replies[path] = (status, raw)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        asked = target if method == "GET" else f"{method} {target}"
        self.requests.append(asked)
        path = asked.partition("?")[0]
        if path in self.moods:
            self.answer(path, self.moods[path]())
        missing = (404, b'{"message": "no such container"}')
        status, body = self.replies.get(path, missing)
        if status in (204, 304):
            writer.write(f"HTTP/1.1 {status} X\r\n\r\n".encode())
            await writer.drain()
            writer.close()
            return
        writer.write(f"HTTP/1.1 {status} X\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for start in range(0, len(body), 7):  # Odd sizes: frames must not need to be aligned.
            piece = body[start : start + 7]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def run_fake_docker(socket: Path) -> AsyncIterator[FakeDocker]:
    docker = FakeDocker()
    server = await asyncio.start_unix_server(docker.serve, socket)
    try:
        yield docker
    finally:
        server.close()
        await server.wait_closed()


def frame(stream: int, text: bytes) -> bytes:
    """One piece of output as Docker multiplexes it: 1 is standard output, 2 standard error."""
    return bytes([stream, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
