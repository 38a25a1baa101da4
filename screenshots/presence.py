"""Workers and tool servers as they tell of themselves: nothing of the kind runs for a picture."""

import json
import time
from dataclasses import asdict

from config import get_config
from config.usage import servers_in_use
from investigations.selectors.system.tool_servers import HEALTH_KEY, TOOLS_KEY, ServerHealth
from investigations.selectors.system.workers import WORKERS_KEY, client
from screenshots.teller import WORKER

AWAY = "argocd"
"""The server that does not answer."""
_LATENCIES = {"github": 112, "kubernetes": 38, "ops": 1, "prometheus": 24}
_WORKERS = {WORKER: 4, "worker-2": 2}


def tell_presence() -> None:
    """What is there was seen just now; it would be disbelieved after a minute."""
    now = time.time()
    servers = [asdict(_see(name, now)) for name in servers_in_use(get_config())]
    report = {"worker_id": WORKER, "reported_at": now, "servers": servers}
    workers = {
        name: json.dumps({"seen_at": now - 1, "active": active})
        for name, active in _WORKERS.items()
    }
    client().set(HEALTH_KEY, json.dumps(report))
    client().set(TOOLS_KEY, json.dumps(_list_tools()))
    client().delete(WORKERS_KEY)  # The worker of what was played is gone, and nobody misses it.
    client().hset(WORKERS_KEY, mapping=workers)  # type: ignore[arg-type]  # redis wants bytes too


def _see(name: str, now: float) -> ServerHealth:
    if name == AWAY:
        return ServerHealth(
            name, False, now - 1260, now - 6, "HTTP 503 from mcp.example.com: no healthy upstream"
        )
    return ServerHealth(
        name, True, now - 93_000, now - 6, latency_ms=_LATENCIES.get(name, 30),
        protocol_version="2025-11-25",
    )  # fmt: skip


def _list_tools() -> dict[str, list[dict[str, object]]]:
    """Those that the configuration names; of the product's own server what it is known for."""
    own = ("query", "read", "metrics", "storage", "file_edit", "control")
    named = {name: tuple(server.tools) for name, server in get_config().mcp_servers.items()}
    return {
        name: [
            {"name": tool, "description": "", "classes": {"": "read"}, "schema_hash": ""}
            for tool in tools
        ]
        for name, tools in {**named, "ops": own}.items()
    }
