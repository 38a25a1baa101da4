"""A tiny HTTP server that plays provider answers on the real wire, whole or broken."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Play = Callable[["Wire"], Coroutine[None, None, None]]


@dataclass
class Wire:
    """One response under way."""

    writer: asyncio.StreamWriter

    async def send_head(
        self, status: int = 200, kind: str = "text/event-stream", **headers: str
    ) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write(("\r\n".join([*lines, "connection: close"]) + "\r\n\r\n").encode())
        await self.writer.drain()

    async def send(self, text: str) -> None:
        data = text.encode()
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def send_event(self, data: Mapping[str, Any] | str) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        await self.send(f"data: {text}\n\n")

    async def end(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


@dataclass
class WireServer:
    """`base_url` to point a client at; `requests` as they came; plays are used up in order."""

    base_url: str = ""
    plays: list[Play] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected.set()
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:] if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.paths.append(head[0].split(" ")[1])
            self.headers.append(headers)
            self.requests.append(json.loads(body))
            play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
            playing = asyncio.create_task(play(Wire(writer)))
            await self._watch(reader, playing)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _watch(self, reader: asyncio.StreamReader, playing: asyncio.Task[None]) -> None:
        """Let the play run, and stop it when the client hangs up."""
        gone = asyncio.create_task(reader.read())
        try:
            await asyncio.wait({playing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                self.hung_up.set()
                playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
        finally:
            gone.cancel()
            playing.cancel()
            await asyncio.gather(gone, playing, return_exceptions=True)


@asynccontextmanager
async def run_wire_server() -> AsyncIterator[WireServer]:
    wire = WireServer()
    serving: set[asyncio.Task[None]] = set()
    server = await asyncio.start_server(
        lambda reader, writer: serving.add(asyncio.create_task(wire.serve(reader, writer))),
        "127.0.0.1",
        0,
    )
    port = server.sockets[0].getsockname()[1]
    wire.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield wire
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await server.wait_closed()


# Plays


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
    }


def usage_chunk(prompt: int, completion: int, reasoning: int) -> dict[str, Any]:
    return chunk({}) | {
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    }


def fragment(index: int, arguments: str, *, call_id: str = "", name: str = "") -> dict[str, Any]:
    first = {"id": call_id, "type": "function"} if call_id else {}
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"tool_calls": [{"index": index, **first, "function": function}]}


def stream(*events: Mapping[str, Any] | str) -> Play:
    """A whole stream, ended as it should be."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        for event in events:
            await wire.send_event(event)
        await wire.send_event("[DONE]")
        await wire.end()

    return play


def cut(*events: Mapping[str, Any] | str) -> Play:
    """A stream whose connection breaks."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        for event in events:
            await wire.send_event(event)
        wire.writer.transport.abort()

    return play


def end_early(*events: Mapping[str, Any] | str) -> Play:
    """A stream that ends politely but never said that the answer is complete."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        for event in events:
            await wire.send_event(event)
        await wire.end()

    return play


def fall_silent(*events: Mapping[str, Any] | str) -> Play:
    async def play(wire: Wire) -> None:
        if events:
            await wire.send_head()
        for event in events:
            await wire.send_event(event)
        await asyncio.Event().wait()

    return play


def drip(event: Mapping[str, Any]) -> Play:
    """A stream that is never silent and never ends."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        while True:
            await wire.send_event(event)
            await asyncio.sleep(0.02)

    return play


def keep_alive(beats: int, *events: Mapping[str, Any], between: float = 0.05) -> Play:
    """A stream with so many comments before each event, and then its end."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        for event in events:
            for _ in range(beats):
                await wire.send(": still here\n\n")
                await asyncio.sleep(between)
            await wire.send_event(event)
        await wire.send_event("[DONE]")
        await wire.end()

    return play


def refuse(status: int, body: Mapping[str, Any] | str, **headers: str) -> Play:
    async def play(wire: Wire) -> None:
        await wire.send_head(status, "application/json", **headers)
        await wire.send(body if isinstance(body, str) else json.dumps(body))
        await wire.end()

    return play


def named_events(*events: Mapping[str, Any]) -> Play:
    """A stream of events whose SSE name is their type, as Anthropic sends them."""

    async def play(wire: Wire) -> None:
        await wire.send_head()
        for event in events:
            await wire.send(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")
        await wire.end()

    return play
