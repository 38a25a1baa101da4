"""Tool servers at an operator's hand: look at them, and call one tool as an agent would."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from agents.ports import ReportProgress
from agents.types import ToolCall, ToolResult
from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.known_servers import find_known_rules
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_status import ServerStatus, ask_status, connect, explain_error
from mcp_bridge.suggestions import Suggestion, suggest
from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.transports import InProcessFactories
from mcp_bridge.wire.http import HttpClients
from safety.gate.safety_gate import SafetyGate, say_class
from safety.gate_port import GateRequest, Look, Pass, look_at_nothing
from safety.refusals import Refusal

USUAL = Deadlines()


@dataclass(frozen=True)
class Inspection:
    """A server as it is this moment, and the classes its tools seem to have."""

    status: ServerStatus
    suggestions: tuple[Suggestion, ...] = ()


async def inspect_servers(
    servers: Mapping[str, ServerConfig],
    *,
    in_process: InProcessFactories,
    deadlines: Deadlines = USUAL,
) -> tuple[Inspection, ...]:
    """Start all of them at once, ask for their tools and close them, in the order given."""
    async with HttpClients() as http_clients:
        open_one = partial(connect, http_clients=http_clients, in_process=in_process)
        looks = (
            _inspect(name, config, open_one(name, config, deadlines))
            for name, config in servers.items()
        )
        return tuple(await asyncio.gather(*looks))


async def call_tool(
    server_id: str,
    config: ServerConfig,
    call: ToolCall,
    *,
    in_process: InProcessFactories,
    allow_writes: bool,
    report_progress: ReportProgress,
) -> ToolResult:
    """One call through the executor of the agents: its checks, its masking, its limits.

    Raises `ServerUnavailable`. A write is refused unless it is allowed here and now.
    """
    gate = _OperatorGate(allow_writes=allow_writes)
    async with open_toolbox({server_id: config}, gate=gate, in_process=in_process) as toolbox:
        if reason := toolbox.unavailable.get(server_id):
            raise ServerUnavailable(reason)
        return await toolbox.execute(call, report_progress=report_progress)


class _OperatorGate(SafetyGate):
    """A person at a terminal answers for a write, once for each command."""

    def __init__(self, *, allow_writes: bool) -> None:
        super().__init__()
        self._allow_writes = allow_writes

    @property
    @override
    def offers_writes(self) -> bool:
        return True

    @override
    def screen(self, request: GateRequest) -> Refusal | None:
        may_write = self._allow_writes and not request.is_check
        if may_write or request.tool_class != "write":
            return None
        return Refusal(
            "POLICY_BLOCKED",
            f"{request.name} {say_class(request)}. Nothing was sent. With --allow-write it is.",
            {"tool": request.name},
            rule="by_hand",
        )

    @override
    async def admit(self, request: GateRequest, look: Look = look_at_nothing) -> Pass | Refusal:
        return self.screen(request) or Pass(request, 0)


async def _inspect(
    server_id: str, config: ServerConfig, connection: ServerConnection
) -> Inspection:
    started = time.monotonic()
    try:
        await connection.start()
        status, listed = await ask_status(server_id, config, connection, started)
        known = find_known_rules(*connection.identity, listed)
    except ServerUnavailable as error:
        return Inspection(ServerStatus(server_id, explain_error(error, config)))
    finally:
        await connection.close()
    return Inspection(status, suggest(config, listed, known))
