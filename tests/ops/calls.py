"""One call over the SDK's client, checked for what every reply must be."""

import json
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextContent

from ops.envelope import Envelope


async def call_tool(server: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with Client(server) as client:
        return envelope_of(await client.call_tool(tool, arguments))


def envelope_of(result: CallToolResult) -> dict[str, Any]:
    """The envelope, after checking that both forms of it agree and errors are marked."""
    assert result.structured_content is not None
    Envelope.model_validate(result.structured_content, strict=True, extra="forbid")
    [text] = result.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == result.structured_content
    assert result.is_error is (not result.structured_content["ok"])
    assert "Traceback" not in text.text
    return result.structured_content
