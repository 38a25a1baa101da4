"""How the tool servers are, as the one process that watches them tells Redis."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, cast

import redis
from django.conf import settings

from config import environment, get_config
from config.programs import missing_program
from config.usage import servers_in_use
from investigations.selectors.system.trials import Trial, read_trials
from investigations.selectors.system.workers import client

HEALTH_KEY = "tarsy:tool_servers"
"""Redis text: JSON of a report without tools."""
TOOLS_KEY = "tarsy:tool_servers:tools"
"""Redis text: JSON, server id -> its tools."""
KEPT_SECONDS = 7 * 24 * 3600
"""A report is believed for a minute and kept for longer, to say since when there is none."""

UNWATCHED = (
    "it is not watched: no chain of this configuration and not the chain of alerts without a type "
    "uses it"
)

State = Literal["healthy", "unhealthy", "checking", "unwatched", "unknown"]


@dataclass(frozen=True)
class ServerHealth:
    """A server as it was last seen. Moments are seconds of the system clock."""

    id: str
    healthy: bool
    since: float
    """When it became what it is."""
    checked_at: float
    error: str = ""
    latency_ms: int | None = None
    protocol_version: str = ""
    left_out: Sequence[str] = ()
    """What it lists and cannot be offered, or not as it was meant."""


@dataclass(frozen=True)
class HealthReport:
    """Everything the watching process last said."""

    worker_id: str
    reported_at: float
    servers: Mapping[str, ServerHealth]

    @property
    def is_current(self) -> bool:
        return time.time() - self.reported_at <= believed_seconds()


@dataclass(frozen=True)
class ToolServer:
    """A configured server as people may see it, its tools included."""

    id: str
    state: State
    error: str = ""
    last_check: datetime | None = None
    since: datetime | None = None
    latency_ms: int | None = None
    protocol_version: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    left_out: Sequence[str] = ()

    @property
    def healthy(self) -> bool:
        return self.state == "healthy"

    @property
    def reason(self) -> str:
        """Why it is not healthy; empty while it is."""
        why = [self.error] if self.error else []
        return "; ".join([*why, UNWATCHED] if self.state == "unwatched" else why)

    @property
    def unclassed(self) -> tuple[str, ...]:
        """Its tools that are held for writes only because nobody has said what they are."""
        return tuple(tool["name"] for tool in self.tools if not tool.get("is_classed", True))

    @property
    def tool_count(self) -> int:
        return len(self.tools)

    def only(self, names: Sequence[str]) -> "ToolServer":
        """The same with no other tools than these."""
        return replace(self, tools=[tool for tool in self.tools if tool["name"] in names])


def believed_seconds() -> float:
    """How long a report is taken to be true: four reports may be lost or late."""
    return settings.MCP_HEALTH_SECONDS * 4.0


def read_health() -> HealthReport | None:
    """The last report, however old; None when there is none or Redis does not answer."""
    try:
        kept = cast(bytes | None, client().get(HEALTH_KEY))
    except redis.RedisError:
        return None
    if kept is None:
        return None
    told = json.loads(kept)
    trials = read_trials()
    seen = [ServerHealth(**each) for each in told["servers"]]
    servers = {each.id: _with_trial(each, trials.get(each.id)) for each in seen}
    return HealthReport(told["worker_id"], told["reported_at"], servers)


def _with_trial(seen: ServerHealth, trial: Trial | None) -> ServerHealth:
    """What the newest look says: a trial may be newer than what the monitor saw."""
    if trial is None or trial.ended_at is None or trial.ended_at <= seen.checked_at:
        return seen
    is_well = not trial.error
    return replace(
        seen,
        healthy=is_well,
        since=seen.since if is_well == seen.healthy else trial.ended_at,
        checked_at=trial.ended_at,
        error=trial.error,
        latency_ms=trial.latency_ms,
    )


def read_tools() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The tools of each watched server as they were last listed."""
    try:
        kept = cast(bytes | None, client().get(TOOLS_KEY))
    except redis.RedisError:
        return {}
    return cast(Mapping[str, Sequence[Mapping[str, Any]]], json.loads(kept) if kept else {})


def list_tool_servers() -> list[ToolServer]:
    """Every configured server, in order of id."""
    config = get_config()
    watched = servers_in_use(config)
    report = read_health()
    tools = read_tools()
    return [
        _describe(name, report, tools.get(name, ()))
        if name in watched
        else describe_unwatched(name)
        for name in sorted(config.mcp_servers)
    ]


def describe_unwatched(name: str) -> ToolServer:
    """A server that no chain in use names. Without its program there is no point in a test."""
    missing = missing_program(get_config().mcp_servers[name].transport, environment())
    return ToolServer(name, "unwatched", f"{missing} is not installed here" if missing else "")


def silence_of(report: HealthReport | None) -> str:
    """A sentence on a report that is missing or old; empty while it is current."""
    if report is None:
        return "the monitor of tool servers has not reported yet"
    if report.is_current:
        return ""
    moment = moment_of(report.reported_at).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"the monitor of tool servers has not reported since {moment}"


def moment_of(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _describe(
    name: str, report: HealthReport | None, tools: Sequence[Mapping[str, Any]]
) -> ToolServer:
    seen = report.servers.get(name) if report else None
    if silence := silence_of(report):
        checked = moment_of(seen.checked_at) if seen else None
        return ToolServer(name, "unknown", silence, last_check=checked, tools=tools)
    if seen is None:
        return ToolServer(name, "checking", "it is being started for its first check")
    return ToolServer(
        name,
        "healthy" if seen.healthy else "unhealthy",
        seen.error,
        moment_of(seen.checked_at),
        moment_of(seen.since),
        seen.latency_ms,
        seen.protocol_version,
        tools,
        seen.left_out,
    )
