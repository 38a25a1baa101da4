"""Tool servers without a wire, for tests of the executor with the real gate before it.

Every write that reaches one is remembered, and how a call ends is up to the test.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mcp_types import CallToolResult, TextContent, Tool

from agents.types import JSON, PastCall, ToolCall, ToolCheck, ToolResult
from masking import build_masker
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.call_failures import CallFailed
from mcp_bridge.catalogue import Catalogue, ConnectedServer, KnownTool
from mcp_bridge.executor import ToolExecutor
from mcp_bridge.names import ToolName
from mcp_bridge.past_calls import settle_past_calls
from safety.gate.safety_gate import SafetyGate
from safety.tool_rules import ClassRule
from tests.safety.gate.calls import envelope, row
from tests.server_plans import ExpectPlan, ServerPlan, TransportPlan, VerifyPlan

How = Literal["answers", "errs", "loses", "refuses", "hangs", "lies"]
"""`loses`: takes effect and never answers. `refuses`: nothing is sent. `hangs`: takes effect and
does not end. `lies`: says that it is done and does nothing."""

ANY: dict[str, JSON] = {"type": "object"}
SCHEMAS: dict[str, dict[str, JSON]] = {
    "control": {
        "type": "object",
        "properties": {
            "action": {"enum": ["start", "stop", "restart"]},
            "resource_id": {"type": "string"},
        },
    }
}
DEPLOYER = ServerPlan(
    TransportPlan("http", url="http://127.0.0.1:9/mcp"),
    tools={
        "list": ClassRule("resolve"),
        "status": ClassRule("read"),
        "scale": ClassRule(
            "write",
            identifies=("app",),
            verify=VerifyPlan("status", {"app": "$app"}, ExpectPlan("replicas", "$replicas")),
        ),
        "purge": ClassRule("write", identifies=("app",)),
        "tidy": ClassRule(
            "write", verify=VerifyPlan("purge", {"app": "$app"}, ExpectPlan("", "", "x"))
        ),
    },
)
SERVERS = {"ops": ServerPlan(TransportPlan("in_process")), "deployer": DEPLOYER}
TOOLS = {
    "ops": ("query", "metrics", "control"),
    "deployer": ("list", "status", "scale", "purge", "tidy"),
}


@dataclass
class World:
    """Services and applications, and everything that was done to them."""

    services: dict[str, str] = field(default_factory=dict)
    replicas: dict[str, int] = field(default_factory=dict)
    how: How = "answers"
    reads_fail: bool = False
    executed: list[tuple[str, dict[str, JSON]]] = field(default_factory=list)
    """Every write that reached a server, with its arguments."""
    found: list[str] = field(default_factory=list)
    """How the target of each of them was when it got there."""
    looks: int = 0
    """Reads that reached a server and succeeded, since the last write reached one."""
    overlapped: bool = False
    """Whether a write reached a server before anybody had looked at the one before it."""
    kept: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, server: str, tool: str, values: dict[str, JSON]) -> CallToolResult:
        if f"{server}.{tool}" in WRITES:
            return await self._write(f"{server}.{tool}", values)
        await asyncio.sleep(0)
        if self.reads_fail:
            return _result("it is away", is_error=True)
        self.looks += 1
        return _result(self._read(server, tool, values))

    async def _write(self, name: str, values: dict[str, JSON]) -> CallToolResult:
        how = self.how
        if how == "refuses":
            raise CallFailed("the tool has changed", "not carried out", "tool")
        self.overlapped |= bool(self.executed) and self.looks == 0
        self.executed.append((name, values))
        self.found.append(self._state_of(name, values))
        self.looks = 0
        if how not in ("errs", "lies"):
            self._take_effect(name, values)
        await asyncio.sleep(0)
        if how == "loses":
            raise CallFailed("the connection is gone", "unknown", "lost")
        if how == "hangs":
            await self.kept.wait()
        return _result(envelope({"done": name}) if how != "errs" else "no", is_error=how == "errs")

    def _state_of(self, name: str, values: dict[str, JSON]) -> str:
        if name == "ops.control":
            return self.services.get(str(values["resource_id"]), "unknown")
        return str(self.replicas.get(str(values.get("app")), 0))

    def _take_effect(self, name: str, values: dict[str, JSON]) -> None:
        match name:
            case "ops.control":
                is_running = values["action"] != "stop"
                self.services[str(values["resource_id"])] = "running" if is_running else "stopped"
            case "deployer.scale":
                self.replicas[str(values["app"])] = int(str(values["replicas"]))

    def _read(self, server: str, tool: str, values: dict[str, JSON]) -> str:
        match f"{server}.{tool}", values.get("action"):
            case "ops.query", "get":
                name = str(values["resource_id"])
                return envelope(row(name, status=self.services.get(name, "unknown")))
            case "ops.query", _:
                return envelope({"resources": [row(name) for name in self.services]})
            case "deployer.list", _:
                return json.dumps([{"name": name} for name in self.replicas])
            case "deployer.status", _:
                return json.dumps({"replicas": self.replicas.get(str(values["app"]), 0)})
        return envelope({"cpu": 3})


WRITES = {"ops.control", "deployer.scale", "deployer.purge", "deployer.tidy"}


@dataclass
class Connection:
    """What the executor holds in place of a connection."""

    server: str
    world: World

    def find_fault(self, tool: str) -> str | None:
        return None

    async def call(self, tool: str, values: dict[str, JSON], **_: object) -> CallToolResult:
        return await self.world.call(self.server, tool, values)


def make_catalogue(world: World, selected: Sequence[str] | None = None) -> Catalogue:
    known = []
    for server_id, plan in SERVERS.items():
        connection = Connection(server_id, world)
        server = ConnectedServer(server_id, plan, connection, build_masker())  # type: ignore[arg-type]
        for name in TOOLS[server_id]:
            schema = SCHEMAS.get(name, ANY)
            known.append(
                KnownTool(
                    name=ToolName(server_id, name),
                    server=server,
                    tool=Tool(name=name, input_schema=schema),
                    check=ArgumentCheck(schema),
                    is_selected=selected is None or f"{server_id}.{name}" in selected,
                )
            )
    catalogue = Catalogue(offers_writes=True)
    catalogue.update(known)
    return catalogue


@dataclass
class Stored:
    """A proposed call as the database has it: with what became of it, or open."""

    call: ToolCall
    batch: int
    result: ToolResult | None = None

    def past(self) -> PastCall:
        """As it is read back: the check stands beside the result."""
        if self.result is None:
            return PastCall(self.call, self.batch)
        kept = ToolResult(self.result.stored, self.result.stored, is_error=self.result.is_error)
        return PastCall(self.call, self.batch, kept, _kept(self.result.check))


def _kept(check: ToolCheck | None) -> ToolCheck | None:
    if check is None:
        return None
    stored = check.result.stored
    result = ToolResult(stored, stored, is_error=check.result.is_error)
    return ToolCheck(check.target, check.status, check.reason, result)


@dataclass
class Agent:
    """An execution: its gate and executor die in a crash, what is stored does not."""

    world: World
    gate: SafetyGate
    stored: list[Stored] = field(default_factory=list)
    selected: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        catalogue = make_catalogue(self.world, self.selected)
        past = [each.past() for each in self.stored]
        if past:
            self.gate.recall(*settle_past_calls(past, catalogue, may_have_written=True))
        self.executor = ToolExecutor(catalogue, gate=self.gate, masker=build_masker())

    async def run(self, name: str, arguments: Mapping[str, JSON], call_id: str = "") -> ToolResult:
        """Propose one call and wait for what becomes of it."""
        number = len(self.stored) + 1
        call = ToolCall(call_id or f"c{number}", name, json.dumps(dict(arguments)))
        self.stored.append(Stored(call, number))
        return await self.execute(self.stored[-1])

    async def execute(self, stored: Stored) -> ToolResult:
        result = await self.executor.execute(stored.call, report_progress=lambda _: None)
        stored.result = result
        return result


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
