"""Secrets that come in anywhere come out nowhere: one whole run, and every place it wrote to."""

import asyncio
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import redis
import websockets
import yaml
from django.conf import settings
from django.db import connection

import config
from investigations.models import AlertSession, MCPInteraction, Stage
from tests.e2e.canaries import Canary, find_escaped, make_canaries
from tests.e2e.conftest import CONFIG_DIR, Play, SharedWorker, wait_until_ended
from tests.processes import ROOT, Process, find_free_port, start_web, start_worker, wait_for

pytestmark = pytest.mark.worker

CANARIES = make_canaries()
PLACES = ("alert", "result", "error", "description", "schema", "arguments", "text", "thinking",
          "question", "runbook")  # fmt: skip


def planted(place: str) -> list[Canary]:
    """The canaries of one place: six, of six different kinds."""
    return CANARIES[PLACES.index(place) :: len(PLACES)]


def said(place: str) -> str:
    return "\n\n".join(canary.text for canary in planted(place))


@pytest.fixture(scope="module")
def config_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("config")
    shutil.copytree(CONFIG_DIR, folder, dirs_exist_ok=True)
    words = folder / "said.json"
    words.write_text(
        json.dumps({name: said(name) for name in ("description", "schema", "result", "error")})
    )
    changed = yaml.safe_load((folder / "tarsy.yaml").read_text(encoding="utf-8"))
    server = ROOT / "tests" / "mcp_bridge" / "servers" / "leaky_server.py"
    transport = {"type": "stdio", "command": sys.executable, "args": [str(server), str(words)]}
    changed["mcp_servers"]["leaky"] = {"transport": transport}
    changed["agents"]["Alpha"]["mcp_servers"] = ["leaky"]
    changed["defaults"]["runbook"] = said("runbook")
    (folder / "tarsy.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    return folder


@pytest.fixture
def processes(
    live_db: None,
    shared_worker: SharedWorker,
    product_environment: dict[str, str],
    config_dir: Path,
) -> Iterator[tuple[Process, Process, int]]:
    """A worker and a web server that say everything they do, and its port."""
    shared_worker.stop()
    config.configure(config_dir)
    told = {"CONFIG_DIR": str(config_dir), "LOG_FORMAT": "json"}
    environment = product_environment | told
    port = find_free_port()
    worker = start_worker(**environment, LOG_LEVEL="DEBUG")
    web = start_web(port, **environment)
    try:
        worker.wait_until_ready()
        web.wait_until_ready()
        yield worker, web, port
    finally:
        worker.stop()
        web.stop()


SCRIPT = {
    "rules": [
        {"when": {"agent": "^ExecSummaryAgent"}, "reply": {"text": said("text")}},
        {
            "when": {"turn": 0},
            "reply": {
                "thinking": said("thinking"),
                "text": said("text"),
                "tool_calls": [
                    {"name": "leaky__read", "arguments": {"note": "all of it"}},
                    {"name": "leaky__fail", "arguments": {"note": said("arguments")}},
                    {"name": "leaky__echo", "arguments": {"note": said("arguments")}},
                ],
            },
        },
        {"when": {"turn": "1+"}, "reply": {"text": f"## Conclusion\n{said('text')}\n[T1]"}},
    ]
}


@contextmanager
def recorded_redis() -> Iterator[list[str]]:
    """Every command that anybody sends to Redis, published messages included."""
    commands: list[str] = []
    client = redis.Redis.from_url(settings.REDIS_URL)
    stopped = threading.Event()
    ready = threading.Event()

    def listen() -> None:
        with client.monitor() as monitor:
            ready.set()
            while not stopped.is_set():
                commands.append(monitor.next_command()["command"])

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield commands
    finally:
        stopped.set()
        client.ping()
        redis.Redis.from_url(settings.REDIS_URL).ping()
        thread.join(10)


@contextmanager
def recorded_frames(port: int, session: str) -> Iterator[list[str]]:
    """Every frame that a browser on the session's page gets."""
    frames: list[str] = []
    subscribed = threading.Event()
    stopped = threading.Event()

    async def follow() -> None:
        async with websockets.connect(f"ws://127.0.0.1:{port}/api/v1/ws") as socket:
            channel = {"action": "subscribe", "channel": f"session:{session}", "last_event_id": 0}
            await socket.send(json.dumps(channel))
            while not stopped.is_set():
                try:
                    frames.append(str(await asyncio.wait_for(socket.recv(), 0.5)))
                except TimeoutError:
                    continue
                if "subscription.confirmed" in frames[-1]:
                    subscribed.set()

    thread = threading.Thread(target=lambda: asyncio.run(follow()), daemon=True)
    thread.start()
    assert subscribed.wait(20)
    try:
        yield frames
    finally:
        stopped.set()
        thread.join(10)


def dump_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name)"
            " FROM information_schema.tables WHERE table_schema = 'public'"
        )
        tables = [name for (name,) in cursor.fetchall()]
        rows: list[str] = []
        for table in tables:
            cursor.execute(f"SELECT whole::text FROM {table} AS whole")
            rows += [f"{table} {row}" for (row,) in cursor.fetchall()]
    return "\n".join(rows)


def dump_redis() -> str:
    client = redis.Redis.from_url(settings.REDIS_URL)
    values: list[str] = []
    for key in client.scan_iter():
        kind = client.type(key)
        match kind:
            case b"hash":
                value: object = client.hgetall(key)
            case b"list":
                value = client.lrange(key, 0, -1)
            case b"set":
                value = client.smembers(key)
            case b"zset":
                value = client.zrange(key, 0, -1)
            case _:
                value = client.get(key)
        values.append(f"{key!r} {value!r}")
    return "\n".join(values)


def test_no_secret_that_comes_in_comes_out(processes: tuple[Process, Process, int], play: Play):
    worker, web, port = processes
    rehearsal = play(yaml.safe_dump(SCRIPT), pace=400)
    with recorded_redis() as commands:
        body = {"alert_type": "single", "data": said("alert")}
        answer = httpx.post(f"http://127.0.0.1:{port}/api/v1/alerts", json=body, timeout=60)
        assert answer.status_code == 202, answer.text
        session = AlertSession.objects.get(pk=answer.json()["session_id"])
        with recorded_frames(port, str(session.pk)) as frames:
            session = wait_until_ended(session)
            chat = f"http://127.0.0.1:{port}/api/v1/sessions/{session.pk}/chat/messages"
            asked = httpx.post(chat, json={"content": said("question")}, timeout=60)
            assert asked.status_code == 202, asked.text
            wait_for(
                lambda: Stage.objects.filter(
                    session=session, stage_type="chat", status="completed"
                ).exists(),
                what="the answer",
            )
            page = httpx.get(f"http://127.0.0.1:{port}/sessions/{session.pk}/", timeout=60).text
    session.refresh_from_db()
    assert (session.status, session.error_message) == ("completed", "")

    sinks = {
        "database": dump_database(),
        "redis": dump_redis(),
        "redis commands": "\n".join(commands).replace("\\\\", "\\").replace('\\"', '"'),
        "frames": "\n".join(frames),
        "requests": json.dumps([r.body for r in rehearsal.requests], ensure_ascii=False),
        "worker's log": worker.output,
        "web's log": web.output,
        "page": page,
    }
    escaped = {name: find_escaped(CANARIES, sink) for name, sink in sinks.items()}
    assert escaped == {name: [] for name in sinks}

    # The run did what it was made for, and each sink saw what surrounds the secrets.
    assert len(CANARIES) == 60
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert calls.count() == 6
    for name in ("database", "redis commands", "frames", "requests", "page"):
        assert "[MASKED:" in sinks[name]
    assert "stream.chunk" in sinks["frames"]
