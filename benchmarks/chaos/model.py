"""The rehearsal server in a process of its own that keeps what it was asked and how that ended.

`GET /chaos/log` answers with a list of all requests so far, in the order in which they came.
"""

import argparse
import asyncio
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.rehearsal.conversation import read_conversation
from agents.rehearsal.loading import load_script
from agents.rehearsal.server import RehearsalServer, build_app, listen
from benchmarks.chaos.workload import MARK

LOG_PATH = "/chaos/log"
READY = "model is ready"


@dataclass
class ModelRequest:
    """One request: about which alert, by whom, at which turn, and what came of it."""

    mark: str
    agent: str
    turn: int
    arrived: float
    ended: float | None = None
    status: int = 0
    is_whole: bool = False
    """Everything of the answer was sent."""


class LoggingModel:
    """An ASGI application around the rehearsal's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._log: list[ModelRequest] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == LOG_PATH:
            await self._answer_log(send)
            return
        if scope["path"] != "/v1/chat/completions":
            await self._app(scope, receive, send)
            return
        arrived = time.time()
        body = await _read_body(receive)
        conversation = read_conversation(json.loads(body))
        mark = MARK.search(conversation.whole)
        request = ModelRequest(
            mark[0] if mark else "", conversation.agent, conversation.turn, arrived
        )
        self._log.append(request)
        try:
            await self._app(scope, _give_back(body, receive), _watch(request, send))
        finally:
            request.ended = time.time()

    async def _answer_log(self, send: Send) -> None:
        body = json.dumps([asdict(request) for request in self._log]).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _read_body(receive: Receive) -> bytes:
    body = b""
    has_more = True
    while has_more:
        message = await receive()
        body += message.get("body", b"")
        has_more = bool(message.get("more_body"))
    return body


def _give_back(body: bytes, receive: Receive) -> Receive:
    """The body once more, then whatever comes after it, such as the client's leaving."""
    given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return given.pop() if given else await receive()

    return read


def _watch(request: ModelRequest, send: Send) -> Send:
    async def watched(message: Message) -> None:
        await send(message)
        if message["type"] == "http.response.start":
            request.status = message["status"]
        elif not message.get("more_body"):
            request.is_whole = True

    return watched


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    server = RehearsalServer(build_app(load_script(options.script)), lambda: print(READY))
    server.config.app = LoggingModel(server.config.app)  # type: ignore[arg-type]
    with listen("127.0.0.1", options.port) as listener:
        asyncio.run(server.serve([listener]))


if __name__ == "__main__":
    main()
