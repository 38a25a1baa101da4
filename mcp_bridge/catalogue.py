"""The tools of one execution: what may be called, under which names, and how each is offered."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from mcp_types import Tool

from agents.types import CHANGES_SOMETHING, JSON, HiddenWhy, ToolSpec
from masking import Masker
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.connection import ServerConnection
from mcp_bridge.names import ToolName, ToolNames, explain_unknown
from mcp_bridge.schemas import sanitize_schema
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_words import show_schema, show_text
from safety.gate.approval.desk import hash_definition
from safety.gate.approval.without_a_person import license_call
from safety.gate.policy import (
    class_of_call,
    find_rule,
    is_classed,
    is_own_server,
    may_read,
    rule_of,
    without_writes,
)
from safety.gate_port import GateRequest
from safety.tool_rules import ToolClass

MAX_DESCRIPTION = 4_000


@dataclass(frozen=True)
class ConnectedServer:
    """A server that is up, with everything needed to call it and to mask what it says."""

    server_id: str
    config: ServerConfig
    connection: ServerConnection
    masker: Masker


@dataclass(frozen=True)
class KnownTool:
    """A tool that exists on a connected server. Not every one is offered or may be called."""

    name: ToolName
    server: ConnectedServer
    tool: Tool
    check: ArgumentCheck
    is_selected: bool
    """The agent's or the alert's selection includes it."""

    def class_of(self, arguments: Mapping[str, JSON]) -> ToolClass:
        return class_of_call(self.server.server_id, self.server.config, self.tool, arguments)

    @property
    def may_read(self) -> bool:
        return may_read(self.server.server_id, self.server.config, self.tool)

    @property
    def is_classed(self) -> bool:
        return is_classed(self.server.server_id, self.server.config, self.tool)

    def why_hidden(self, *, offers_writes: bool) -> HiddenWhy | None:
        """Why it is not offered; None where it is, as long as its server is there."""
        if not self.is_selected:
            return "not_selected"
        if fault := self.server.connection.find_fault(self.tool.name):
            return fault
        if offers_writes or self.may_read:
            return None
        return "write" if self.is_classed else "unclassed"

    def for_reading(self) -> "KnownTool":
        """The same as it is offered where nothing may be written."""
        rule = rule_of(self.server.server_id, self.server.config, self.tool)
        schema = without_writes(rule, self.tool.input_schema)
        return replace(self, tool=self.tool.model_copy(update={"input_schema": schema}))

    @property
    def is_own_server(self) -> bool:
        return is_own_server(self.server.server_id, self.server.config)

    def request(self, call_id: str, arguments: Mapping[str, JSON]) -> GateRequest:
        """What the gate has to know of a call."""
        rule = find_rule(self.server.server_id, self.server.config, self.tool.name)
        schema = cast(dict[str, JSON], self.tool.input_schema)
        return GateRequest(
            server=self.name.server,
            tool=self.name.tool,
            tool_class=self.class_of(arguments),
            is_classed=self.is_classed,
            arguments=arguments,
            call_id=call_id,
            is_own_server=self.is_own_server,
            identifies=tuple(rule.identifies) if rule is not None else (),
            schema=schema,
            verify=rule.verify if rule is not None else None,
            licence=license_call(self.server.server_id, self.server.config, self.tool, arguments),
            definition_hash=hash_definition(str(self.name), self.tool.description or "", schema),
        )


class Catalogue:
    """Finds tools by the names models use and lists those to offer."""

    def __init__(self, *, offers_writes: bool) -> None:
        self._offers_writes = offers_writes
        self._tools: dict[ToolName, KnownTool] = {}
        self._names = ToolNames(())
        self.specs: tuple[ToolSpec, ...] = ()

    def update(self, tools: Iterable[KnownTool], away: Collection[str] = ()) -> None:
        """Know these tools from now on. Those of servers that are away are found, so that a call
        is told why it fails, and not offered."""
        self._tools = {tool.name: tool for tool in tools}
        self._names = ToolNames(self._tools)
        self.specs = tuple(
            _spec(tool if self._offers_writes else tool.for_reading(), self._names.wire(name))
            for name, tool in sorted(self._tools.items(), key=lambda item: str(item[0]))
            if name.server not in away and self._names.knows(name) and self.why_hidden(tool) is None
        )

    def why_hidden(self, tool: KnownTool) -> HiddenWhy | None:
        return tool.why_hidden(offers_writes=self._offers_writes)

    def find(self, name: str) -> KnownTool | None:
        found = self._names.resolve(name)
        return self._tools[found] if found else None

    def explain_unknown(self, name: str) -> str:
        """What to tell a model that used a name nothing has."""
        return explain_unknown(name, [spec.wire_name for spec in self.specs])


def _spec(known: KnownTool, wire_name: str) -> ToolSpec:
    masker = known.server.masker
    said = known.tool.description or known.tool.title or ""
    text = show_text(masker, said, MAX_DESCRIPTION) or f"The tool {known.name}."
    schema = cast(dict[str, JSON], known.tool.input_schema)
    return ToolSpec(
        name=str(known.name),
        wire_name=wire_name,
        description=f"{text}{_say_changes(known)}",
        # Masked twice: making it fit shortens what it says, and puts together what was apart.
        input_schema=show_schema(masker, sanitize_schema(show_schema(masker, schema))),
    )


def _say_changes(known: KnownTool) -> str:
    """A line of ours on a tool that writes, or does so where an argument may be left out."""
    if not known.may_read:
        return f"\n{CHANGES_SOMETHING}."
    rule = rule_of(known.server.server_id, known.server.config, known.tool)
    required = known.tool.input_schema.get("required") or ()
    if rule.argument and rule.argument not in required and known.class_of({}) == "write":
        return f"\n{CHANGES_SOMETHING} unless its arguments name an act that reads."
    return ""
