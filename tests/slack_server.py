"""A server on this machine that speaks the two Slack methods the product uses."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "xoxb-invented"
CHANNEL = "C0ALERTS"


@dataclass
class SlackServer:
    """`history` is the channel, newest first; `posts` is what was posted."""

    url: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)
    posts: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    answers: dict[str, list[tuple[int, Any, dict[str, str]]]] = field(default_factory=dict)
    """What to answer instead, by method, used up in order."""
    hangs: set[str] = field(default_factory=set)
    """Methods that are never answered."""
    gone: threading.Event = field(default_factory=threading.Event)

    def add(self, text: str, *, hours_ago: float = 0.1, **fields: Any) -> str:
        """Put a message into the channel; returns its timestamp."""
        ts = f"{time.time() - hours_ago * 3600:.6f}"
        self.history.append({"type": "message", "text": text, "ts": ts, **fields})
        self.history.sort(key=lambda message: message["ts"], reverse=True)
        return ts

    def answer(
        self, method: str, token: str, query: dict[str, str], body: dict[str, Any]
    ) -> dict[str, Any]:
        if token != TOKEN:
            return {"ok": False, "error": "invalid_auth"}
        if {**query, **body}.get("channel") != CHANNEL:
            return {"ok": False, "error": "channel_not_found"}
        if method == "chat.postMessage":
            self.posts.append(body)
            return {"ok": True, "ts": f"{time.time():.6f}"}
        if method != "conversations.history":
            return {"ok": False, "error": "unknown_method"}
        self.asked.append(query)
        recent = [each for each in self.history if each["ts"] >= query["oldest"]]
        start, limit = int(query.get("cursor", "0")), int(query["limit"])
        following = str(start + limit) if start + limit < len(recent) else ""
        return {
            "ok": True,
            "messages": recent[start : start + limit],
            "response_metadata": {"next_cursor": following},
        }


class _Handler(BaseHTTPRequestHandler):
    slack: SlackServer

    def do_GET(self) -> None:
        self._reply({})

    def do_POST(self) -> None:
        self._reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _reply(self, body: dict[str, Any]) -> None:
        parts = urlsplit(self.path)
        method = parts.path.rpartition("/")[2]
        if method in self.slack.hangs:
            self.slack.gone.wait(60)
            return
        if queued := self.slack.answers.get(method):
            status, answer, headers = queued.pop(0)
        else:
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            token = self.headers.get("authorization", "").removeprefix("Bearer ")
            status, headers = 200, {}
            answer = self.slack.answer(method, token, query, body)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def run_slack_server() -> Iterator[SlackServer]:
    slack = SlackServer()
    handler = type("Handler", (_Handler,), {"slack": slack})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        slack.url = f"http://127.0.0.1:{server.server_port}/api/"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        try:
            yield slack
        finally:
            slack.gone.set()
            server.shutdown()
            serving.join()
