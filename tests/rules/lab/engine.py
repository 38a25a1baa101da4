# ruff: noqa: E501  # a scene is as long as it is
"""A container engine that tells of containers; its answers have the form of Docker's API."""

import asyncio
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.ops.fake_docker import FakeDocker, frame, run_fake_docker
from tests.rules.lab.machine import Machine

_NEVER = "0001-01-01T00:00:00Z"
_SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True)
class Container:
    name: str
    image: str = "registry.example/shop/checkout:1.4.2"
    state: str = "running"
    code: int = 0
    error: str = ""
    killed_for_memory: bool = False
    restarts: int = 0
    policy: str = "unless-stopped"
    started: float = 60 * 24 * 6
    """Minutes ago; less than nothing where it never was."""
    ended: float = -1
    health: str = ""
    streak: int = 0
    check: str = ""
    """What its last checks of health printed."""
    log: str = ""
    memory: int = 0
    ports: tuple[tuple[int, int], ...] = ()
    command: tuple[str, ...] = ("/app/server",)
    network: str = "shop_default"
    project: str = "shop"
    mounts: tuple[tuple[str, str], ...] = ()

    @property
    def identity(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()


def run_engine(*containers: Container) -> None:
    """Answers for them until the machine ends."""
    ready = threading.Event()

    async def serve() -> None:
        async with run_fake_docker(_SOCKET) as docker:
            _fill(docker, containers)
            ready.set()
            await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    ready.wait()


def engine_of(*containers: Container) -> Any:
    """What a scene sets off."""
    return lambda machine: _run(machine, containers)


def _run(_: Machine, containers: tuple[Container, ...]) -> None:
    run_engine(*containers)


def _fill(docker: FakeDocker, containers: tuple[Container, ...]) -> None:
    docker.answer("/containers/json", [_row(each) for each in containers])
    for each in containers:
        for key in (each.name, each.identity, each.identity[:12]):
            docker.answer(f"/containers/{key}/json", _whole(each))
            docker.answer(f"/containers/{key}/logs", _frames(each))
    docker.answer("/info", {"Swarm": {"LocalNodeState": "inactive"}, "ServerVersion": "26.1.4"})


def _moment(minutes: float) -> str:
    if minutes < 0:
        return _NEVER
    return (datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")


def _age(minutes: float) -> str:
    for size, word in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= 2 * size:
            return f"{minutes // size:.0f} {word}s"
    return f"{max(minutes * 60, 1):.0f} seconds"


def _row(each: Container) -> Mapping[str, Any]:
    health = f" ({each.health})" if each.health else ""
    health = health.replace("starting", "health: starting")
    status = {
        "running": f"Up {_age(each.started)}{health}",
        "restarting": f"Restarting ({each.code}) {_age(max(each.ended, 0.05))} ago",
        "created": "Created",
        "paused": f"Up {_age(each.started)} (Paused)",
        "dead": "Dead",
    }.get(each.state, f"Exited ({each.code}) {_age(max(each.ended, 0.05))} ago")
    made = datetime.now(UTC) - timedelta(minutes=max(each.started, 5) + 2)
    return {
        "Id": each.identity, "Names": [f"/{each.name}"], "Image": each.image, "State": each.state,
        "Status": status, "Created": int(made.timestamp()),
        "Ports": [{"IP": "0.0.0.0", "PrivatePort": inner, "PublicPort": outer, "Type": "tcp"}
                  for outer, inner in each.ports if each.state == "running"],
        "Labels": {"com.docker.compose.project": each.project},
    }  # fmt: skip


def _whole(each: Container) -> Mapping[str, Any]:
    state: dict[str, Any] = {
        "Status": each.state, "Running": each.state in ("running", "restarting", "paused"),
        "Paused": each.state == "paused", "Restarting": each.state == "restarting",
        "OOMKilled": each.killed_for_memory, "Dead": each.state == "dead",
        "Pid": 4711 if each.state == "running" else 0, "ExitCode": each.code, "Error": each.error,
        "StartedAt": _moment(each.started), "FinishedAt": _moment(each.ended),
    }  # fmt: skip
    if each.health:
        checks = [{"ExitCode": 0 if each.health == "healthy" else 1, "Output": each.check,
                   "Start": _moment(n * 0.5), "End": _moment(n * 0.5)} for n in (3, 2, 1)]  # fmt: skip
        state["Health"] = {"Status": each.health, "FailingStreak": each.streak, "Log": checks}
    return {
        "Id": each.identity, "Name": f"/{each.name}", "Created": _moment(max(each.started, 5) + 2),
        "RestartCount": each.restarts, "State": state, "Image": f"sha256:{each.identity}",
        "Config": {"Image": each.image, "Tty": False, "Cmd": list(each.command), "User": "",
                   "Env": ["MODE=live"], "Labels": {"com.docker.compose.project": each.project}},
        "HostConfig": {"Memory": each.memory, "RestartPolicy": {"Name": each.policy, "MaximumRetryCount": 0},
                       "LogConfig": {"Type": "json-file"}},
        "NetworkSettings": {"Networks": {each.network: {"IPAddress": "172.18.0.4" if each.state == "running" else "", "Gateway": "172.18.0.1"}}},
        "Mounts": [{"Type": "bind", "Source": source, "Destination": target, "Mode": "", "RW": True}
                   for source, target in each.mounts],
    }  # fmt: skip


def _frames(each: Container) -> bytes:
    lines = each.log.splitlines()
    ended = each.ended if each.ended >= 0 else 1.0
    return b"".join(
        frame(2, f"{_moment(ended + 0.05 * (len(lines) - n))} {line}\n".encode())
        for n, line in enumerate(lines)
    )
