"""An MCP server whose every reply, good or bad, is an envelope."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp_types import CallToolResult, InputRequiredResult, Tool
from pydantic import ValidationError
from typing_extensions import override

from masking import Masker
from ops.envelope import (
    Answer,
    Envelope,
    Json,
    Place,
    ToolFailure,
    render_answer,
    render_failure,
    to_result,
)

logger = logging.getLogger(__name__)

MASKING_SECONDS = 10.0

IsWrite = Callable[[str, Mapping[str, Any] | None], bool]
"""Whether a call of a tool changes something; without arguments, whether each one does."""


class EnvelopeServer(MCPServer[None]):
    """An MCP server whose failures are envelopes too, never bare text or a traceback.

    Where nobody stands between it and its client, `masker` masks what it says, and what `is_write`
    calls a write is neither offered nor done.
    """

    def __init__(
        self,
        name: str,
        *,
        host: str,
        place: Place = "host",
        title: str,
        version: str,
        instructions: str,
        masker: Masker | None = None,
        is_write: IsWrite | None = None,
        tools: Sequence[ServedTool] = (),
    ) -> None:
        super().__init__(
            name,
            title=title,
            instructions=instructions,
            version=version,
            tools=list(tools),
            log_level="WARNING",
        )
        self._host = host
        self._place: Place = place
        self._masker = masker
        self._is_write = is_write

    async def deliver(self, work: Awaitable[Answer]) -> CallToolResult:
        """Waits for an answer and wraps it; what fails on the way is wrapped by `call_tool`."""
        taken_at, started = datetime.now(UTC), time.monotonic()
        answer = await work
        seconds = time.monotonic() - started
        envelope = render_answer(
            answer, host=self._host, place=self._place, taken_at=taken_at, seconds=seconds
        )
        return to_result(await self._mask(envelope))

    @override
    async def list_tools(self) -> list[Tool]:
        tools = await super().list_tools()
        if self._is_write is None:
            return tools
        return [tool for tool in tools if not self._is_write(tool.name, None)]

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        taken_at, started = datetime.now(UTC), time.monotonic()
        # Models write null for what they leave out.
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            await self._refuse_unknown(name, given)
            self._refuse_write(name, given)
            return await super().call_tool(name, given, context)
        except ToolFailure as error:
            failure = error
        except ToolError as error:
            failure = await self._explain(name, error)
        seconds = time.monotonic() - started
        envelope = render_failure(
            failure, host=self._host, place=self._place, taken_at=taken_at, seconds=seconds
        )
        return to_result(await self._mask(envelope))

    async def _mask(self, envelope: Envelope) -> Envelope:
        """The envelope without secrets; what cannot be masked is withheld as a whole."""
        if self._masker is None:
            return envelope
        plain = envelope.model_dump(mode="json")
        try:
            async with asyncio.timeout(MASKING_SECONDS):
                masked = await asyncio.to_thread(self._masker.mask_json, plain)
            return Envelope.model_validate(masked)
        except Exception:
            logger.exception("masking a reply failed; it is withheld")
        return render_failure(
            ToolFailure("EXECUTION_FAILED", "The reply is withheld: masking it failed."),
            host=self._host,
            place=self._place,
            taken_at=datetime.now(UTC),
            seconds=0,
        )

    def _refuse_write(self, name: str, arguments: Mapping[str, Any]) -> None:
        if self._is_write is not None and self._is_write(name, arguments):
            raise ToolFailure(
                "POLICY_BLOCKED",
                f"{name} with these arguments changes something, and this server only reads.",
                details={"tool": name},
                rule="only_reads",
            )

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
