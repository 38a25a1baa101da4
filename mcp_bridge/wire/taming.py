"""Makes of what servers really send what the SDK can read, and notices what it does not tell.

The SDK gives up a whole result for one block it does not know, and a text for structured content
that contradicts its schema. An investigation is better served by the rest.
"""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import ContentBlock, JSONRPCNotification, JSONRPCResponse
from pydantic import TypeAdapter, ValidationError

from agents.types import JSON
from masking.visible_text import clean_line
from mcp_bridge.wire.stderr import StderrTail

_TOOLS_CHANGED = "notifications/tools/list_changed"
_BLOCK: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)


@dataclass
class Wire:
    """What is known of one connection to a server beyond what it answers."""

    stderr: StderrTail = field(default_factory=StderrTail)
    end_reason: str = ""
    """Why we ended it, where it was us."""
    is_ended: bool = False
    tools_changed: bool = False
    """It said that its tools are others now, and nobody has looked since."""
    writes_under_way: int = 0
    """Calls that may change something and have not been answered."""


class TamedStream:
    """A transport's messages, repaired; wraps what the SDK would read directly."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    @property
    def last_context(self) -> object:
        """The sender's context, which the SDK asks for where a stream carries it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._tame(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return self._tame(await self._inner.__anext__())
        except StopAsyncIteration:
            self._wire.is_ended = True
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._wire.is_ended = True
        return await self._inner.__aexit__(kind, error, trace)

    def _tame(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            return item
        message = item.message
        if isinstance(message, JSONRPCNotification) and message.method == _TOOLS_CHANGED:
            self._wire.tools_changed = True
        if isinstance(message, JSONRPCResponse):
            repair_result(message.result)
        return item


def repair_result(result: dict[str, JSON]) -> None:
    """Change a result in place so that one odd part does not cost the whole."""
    tools = result.get("tools")
    if isinstance(tools, list):
        result["tools"] = [tool for tool in map(_repair_tool, tools) if tool is not None]
    content = result.get("content")
    if isinstance(content, list):
        result["content"] = [_repair_block(block) for block in content]
    elif content is None and isinstance(result.get("structuredContent"), dict):
        result["content"] = []


def _repair_tool(tool: JSON) -> JSON:
    """A tool without what we do not use, or None for something that is no tool at all."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return None
    # The SDK would refuse results for it; models read text and never see the schema.
    kept = {key: value for key, value in tool.items() if key not in ("outputSchema", "icons")}
    if not isinstance(kept.get("inputSchema"), dict):
        kept["inputSchema"] = {"type": "object"}
    for name, kind in (("description", str), ("title", str), ("annotations", dict)):
        if not isinstance(kept.get(name), kind):
            kept.pop(name, None)
    return kept


def _repair_block(block: JSON) -> JSON:
    try:
        _BLOCK.validate_python(block, by_name=False)
    except (ValidationError, RecursionError):
        return {"type": "text", "text": _describe_odd(block)}
    return block


def _describe_odd(block: JSON) -> str:
    if not isinstance(block, dict):
        return f"[content that is no MCP block: {clean_line(repr(block), 200)}]"
    if isinstance(text := block.get("text"), str):
        return text
    return f"[content of a kind that cannot be shown: {clean_line(str(block.get('type')), 80)}]"
