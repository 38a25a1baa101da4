"""An MCP server whose every reply, good or bad, is an envelope."""

import logging
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError
from typing_extensions import override

from mcp_bridge.ops.envelope import (
    Answer,
    Json,
    ToolFailure,
    render_answer,
    render_failure,
    to_result,
)

logger = logging.getLogger(__name__)


class EnvelopeServer(MCPServer[None]):
    """An MCP server whose failures are envelopes too, never bare text or a traceback."""

    def __init__(
        self, name: str, *, host: str, title: str, version: str, instructions: str
    ) -> None:
        super().__init__(
            name, title=title, instructions=instructions, version=version, log_level="WARNING"
        )
        self._host = host

    async def deliver(self, work: Awaitable[Answer]) -> CallToolResult:
        """Waits for an answer and wraps it; what fails on the way is wrapped by `call_tool`."""
        taken_at, started = datetime.now(UTC), time.monotonic()
        answer = await work
        seconds = time.monotonic() - started
        envelope = render_answer(answer, host=self._host, taken_at=taken_at, seconds=seconds)
        return to_result(envelope)

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        taken_at, started = datetime.now(UTC), time.monotonic()
        # Models write null for what they leave out.
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            await self._refuse_unknown(name, given)
            return await super().call_tool(name, given, context)
        except ToolFailure as error:
            failure = error
        except ToolError as error:
            failure = await self._explain(name, error)
        seconds = time.monotonic() - started
        envelope = render_failure(failure, host=self._host, taken_at=taken_at, seconds=seconds)
        return to_result(envelope)

    async def _refuse_unknown(self, name: str, arguments: dict[str, Any]) -> None:
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name not in schemas:
            known: list[Json] = list(schemas)
            raise ToolFailure(
                "INVALID_INPUT",
                f"There is no tool '{name[:80]}'. Tools: {', '.join(map(str, known))}.",
                details={"tools": known},
            )
        accepted: list[Json] = list(schemas[name]["properties"])
        unknown: list[Json] = [argument[:80] for argument in arguments if argument not in accepted]
        if unknown:
            raise ToolFailure(
                "INVALID_INPUT",
                f"{name} takes no {', '.join(map(repr, unknown))}. "
                f"Arguments: {', '.join(map(str, accepted))}.",
                details={"unknown": unknown, "arguments": accepted},
            )

    async def _explain(self, name: str, error: ToolError) -> ToolFailure:
        cause: BaseException | None = error
        while isinstance(cause, ToolError) and cause.__cause__ is not None:
            cause = cause.__cause__
        if isinstance(cause, ToolFailure):
            return cause
        if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
            return await self._explain_arguments(name, cause)
        logger.error("ops tool %s broke", name, exc_info=cause)
        return ToolFailure(
            "EXECUTION_FAILED",
            f"{name} could not be carried out because of a fault in the tool itself "
            f"({type(cause).__name__}). Another tool may show the same.",
            retryable=True,
        )

    async def _explain_arguments(self, name: str, error: ValidationError) -> ToolFailure:
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        properties = schemas[name]["properties"]
        problems: list[Json] = []
        for item in error.errors(include_url=False, include_input=False, include_context=False):
            field = str(item["loc"][0]) if item["loc"] else ""
            valid = properties.get(field, {}).get("enum")
            missing = "is missing; it " if item["type"] == "missing" else ""
            wanted = f"must be one of {', '.join(valid)}" if valid else item["msg"]
            problems.append(f"'{field}' {missing}{wanted}")
        return ToolFailure(
            "INVALID_INPUT",
            f"{name} cannot be called like this. {'. '.join(map(str, problems))}.",
            details={"problems": problems, "arguments": list(properties)},
        )
