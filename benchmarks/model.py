"""The rehearsal server in a process of its own, watched: when was it asked, what did it send when.

`GET /benchmark/log` answers with the times of all requests so far, and the largest of them.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.rehearsal.loading import load_script
from agents.rehearsal.server import RehearsalServer, build_app, listen

STAMP = "T################"
"""In a script's text this is replaced, as it is sent, by `T` and the time in microseconds."""
READY = "model is ready"


class WatchedModel:
    """An ASGI application around the rehearsal's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._arrivals: list[float] = []
        self._endings: list[float] = []
        self._open = self._most_open = 0
        self._largest = b"{}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/benchmark/log":
            await self._answer_log(send)
            return
        if scope["path"] != "/v1/chat/completions":
            await self._app(scope, receive, send)
            return
        self._arrivals.append(time.time())
        self._open += 1
        self._most_open = max(self._most_open, self._open)
        try:
            await self._app(scope, self._keep_largest(receive), _stamp(send))
        finally:
            self._open -= 1
            self._endings.append(time.time())

    def _keep_largest(self, receive: Receive) -> Receive:
        body = b""

        async def read() -> Message:
            nonlocal body
            message = await receive()
            body += message.get("body", b"")
            if len(body) > len(self._largest) and not message.get("more_body"):
                self._largest = body
            return message

        return read

    async def _answer_log(self, send: Send) -> None:
        log: dict[str, Any] = {
            "arrivals": self._arrivals,
            "endings": self._endings,
            "open": self._open,
            "most_open": self._most_open,
            "largest": json.loads(self._largest),
        }
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(log).encode()})


def _stamp(send: Send) -> Send:
    mark = STAMP.encode()

    async def stamped(message: Message) -> None:
        body = message.get("body", b"")
        if mark in body:
            now = f"T{int(time.time() * 1e6):016d}".encode()
            message = {**message, "body": body.replace(mark, now)}
        await send(message)

    return stamped


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    server = RehearsalServer(build_app(load_script(options.script)), lambda: print(READY))
    server.config.app = WatchedModel(server.config.app)  # type: ignore[arg-type]
    with listen("127.0.0.1", options.port) as listener:
        asyncio.run(server.serve([listener]))


if __name__ == "__main__":
    main()
