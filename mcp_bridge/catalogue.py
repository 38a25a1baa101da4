"""The tools of one execution: what may be called, under which names, and how each is offered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from mcp_types import Tool

from agents.types import JSON, ToolSpec
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.connection import ServerConnection
from mcp_bridge.masking import Masker
from mcp_bridge.names import ToolName, ToolNames, explain_unknown
from mcp_bridge.schemas import Schema, sanitize_schema
from mcp_bridge.server_config import ServerConfig, ToolClass
from mcp_bridge.tool_classes import class_of_call, may_read
from mcp_bridge.visible_text import clean_text

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
        return class_of_call(self.server.config, self.tool, arguments)

    @property
    def may_read(self) -> bool:
        return may_read(self.server.config, self.tool)


class Catalogue:
    """Finds tools by the names models use and lists those to offer."""

    def __init__(self, tools: list[KnownTool], *, offers_writes: bool) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._names = ToolNames(self._tools)
        self.specs = tuple(
            _spec(tool, self._names.wire(name))
            for name, tool in sorted(self._tools.items(), key=lambda item: str(item[0]))
            if tool.is_selected and self._names.knows(name) and (offers_writes or tool.may_read)
        )

    def find(self, name: str) -> KnownTool | None:
        found = self._names.resolve(name)
        return self._tools[found] if found else None

    def explain_unknown(self, name: str) -> str:
        """What to tell a model that used a name nothing has."""
        return explain_unknown(name, [spec.wire_name for spec in self.specs])


def _spec(known: KnownTool, wire_name: str) -> ToolSpec:
    text = clean_text(known.tool.description or known.tool.title or "").strip()
    if len(text) > MAX_DESCRIPTION:
        text = f"{text[:MAX_DESCRIPTION]}…"
    schema = sanitize_schema(cast(dict[str, JSON], known.tool.input_schema))
    return ToolSpec(
        name=str(known.name),
        wire_name=wire_name,
        description=known.server.masker.mask(text).text or f"The tool {known.name}.",
        input_schema=_mask_descriptions(schema, known.server.masker),
    )


def _mask_descriptions(schema: Schema, masker: Masker) -> Schema:
    """Servers write examples into them, and some of those are real."""
    masked = dict(schema)
    if isinstance(description := masked.get("description"), str):
        masked["description"] = masker.mask(description).text
    if isinstance(items := masked.get("items"), dict):
        masked["items"] = _mask_descriptions(items, masker)
    if isinstance(properties := masked.get("properties"), dict):
        masked["properties"] = {
            name: _mask_descriptions(inner, masker) if isinstance(inner, dict) else inner
            for name, inner in properties.items()
        }
    return masked
