"""What can be seen of a tool server from outside an investigation: is it well, which tools."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mcp_types import Tool

from masking import Masker, build_server_masker
from masking.visible_text import clean_line
from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.known_servers import with_known_tools
from mcp_bridge.names import ToolName, is_usable
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_words import show_line, show_text
from mcp_bridge.transports import InProcessFactories, open_client
from mcp_bridge.wire.http import HttpClients
from safety.gate.policy import is_classed, rule_of
from safety.tool_rules import ToolClass

MAX_ABOUT = 1_000
MAX_ERROR = 600


@dataclass(frozen=True)
class SeenTool:
    """A tool as people may see it.

    `classes` is its class, or that of each value of one argument, `""` being all other values.
    `schema_hash` is the same as long as its arguments are. One that is not `is_classed` counts as
    a write only because nobody has said what it is.
    """

    name: str
    description: str
    classes: Mapping[str, ToolClass]
    schema_hash: str
    is_classed: bool


@dataclass(frozen=True)
class ServerStatus:
    """What one look at a server found. `error` is masked, and empty where all is well."""

    server_id: str
    error: str = ""
    latency_ms: int | None = None
    """How long it took to answer."""
    protocol_version: str = ""
    tools: tuple[SeenTool, ...] | None = None
    """None where this look did not ask for them."""
    left_out: tuple[str, ...] = ()
    """What it lists and what cannot be offered, or not as it was meant: masked clauses."""


def connect(
    server_id: str,
    config: ServerConfig,
    deadlines: Deadlines,
    *,
    http_clients: HttpClients,
    in_process: InProcessFactories,
) -> ServerConnection:
    """A connection on behalf of nobody's investigation, to be started and closed by the caller."""
    opener = partial(
        open_client,
        server_id,
        config,
        http_clients=http_clients,
        in_process=in_process,
        execution_id="",
    )
    masker = build_server_masker(config.data_masking)
    return ServerConnection(server_id, opener, deadlines.of(config), masker)


async def ask_status(
    server_id: str, config: ServerConfig, connection: ServerConnection, started: float
) -> tuple[ServerStatus, tuple[Tool, ...]]:
    """Ask an open server for its tools; returns also those it listed. Raises `ServerUnavailable`.

    `started` is when, by the monotonic clock, it was first asked for anything.
    """
    listed = _usable(server_id, await connection.list_tools())
    masker = build_server_masker(config.data_masking)
    config = with_known_tools(config, *connection.identity, listed)
    status = ServerStatus(
        server_id,
        latency_ms=round((time.monotonic() - started) * 1000),
        protocol_version=clean_line(connection.protocol_version, 40),
        tools=tuple(_see(server_id, config, tool, masker) for tool in listed),
        left_out=tuple(show_line(masker, told, MAX_ERROR) for told in connection.left_out),
    )
    return status, listed


def explain_error(error: Exception, config: ServerConfig) -> str:
    """Why a server could not be used: one line, fit to show."""
    return show_line(build_server_masker(config.data_masking), str(error), MAX_ERROR)


def _usable(server_id: str, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Those that agents could be offered, in order of name: the first of two with the same one."""
    found: dict[str, Tool] = {}
    for tool in tools:
        if is_usable(ToolName(server_id, tool.name)):
            found.setdefault(tool.name, tool)
    return tuple(tool for _, tool in sorted(found.items()))


def _see(server_id: str, config: ServerConfig, tool: Tool, masker: Masker) -> SeenTool:
    about = show_text(masker, tool.description or tool.title or "", MAX_ABOUT)
    classes = _classes(server_id, config, tool)
    known = is_classed(server_id, config, tool)
    return SeenTool(tool.name, about, classes, _hash(tool), known)


def _classes(server_id: str, config: ServerConfig, tool: Tool) -> dict[str, ToolClass]:
    rule = rule_of(server_id, config, tool)
    return {"": rule.default, **rule.values}


def _hash(tool: Tool) -> str:
    canonical = json.dumps(tool.input_schema, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()[:16]
