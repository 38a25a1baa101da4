"""The one way to a tool. Every call of every agent passes through `ToolExecutor.execute`.

In this order: name, allow-list, control level, arguments, schema, gate, call, text, mask, cut. What
goes wrong on the way is a result the model can read, with what was asked and what came back; a
refusal of the gate is an envelope of facts.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.ports import ReportProgress
from agents.types import JSON, ToolCall, ToolResult, ToolTarget
from mcp_bridge.arguments import WRAPPING_KEY, ParsedArguments, parse_arguments
from mcp_bridge.catalogue import Catalogue, KnownTool
from mcp_bridge.content import MAX_RESULT_BYTES, ResultText, read_result
from mcp_bridge.failures import (
    SERVER_FAILURES,
    CallNotSent,
    ConnectionLost,
    describe_failure,
    is_timeout,
)
from mcp_bridge.gate import Gate, Pass
from mcp_bridge.limits import STORED_BYTES, SUMMARIZED_BYTES, cut_text
from mcp_bridge.masking import PLACEHOLDER, MaskedText, Masker, TooMuchToMask
from mcp_bridge.safety.evidence import Outcome, judge_outcome
from mcp_bridge.safety.refusals import Refusal
from mcp_bridge.server_words import show_line
from mcp_bridge.visible_text import clean_line, clean_text

logger = logging.getLogger(__name__)

# Masking this much holds the event loop for about a millisecond; more goes to a thread.
INLINE_MASKING_CHARACTERS = 8_000
SHOWN_REASON = 4_000
SHOWN_NAME = 200
SHOWN_ARGUMENTS = 500
MASKING_DEADLINE = 10.0
"""Seconds; masking a megabyte takes a tenth of one."""
_GO_ON = "Use another tool, or go on without it and say so in the report."
WITHHELD = "[withheld: masking this result failed, so none of it is shown]"
WITHHELD_AS_TOO_MUCH = (
    "[withheld: this result holds more that looks like secrets than can be masked, so none of it "
    "is shown; ask for less of it]"
)


@dataclass(frozen=True)
class Limits:
    """Bytes of a result that are read at all, kept by history, given to the agent, summarized."""

    result_bytes: int = MAX_RESULT_BYTES
    stored_bytes: int = STORED_BYTES
    content_bytes: int = STORED_BYTES
    summarized_bytes: int = SUMMARIZED_BYTES


class ToolExecutor:
    """Runs the tool calls of one execution."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        gate: Gate,
        masker: Masker,
        call_deadline: float = 60.0,
        limits: Limits = Limits(),
    ) -> None:
        self._catalogue = catalogue
        self._gate = gate
        self._masker = masker
        self._call_deadline = call_deadline
        self._limits = limits

    def identify(self, call: ToolCall) -> ToolTarget:
        """What a call means, fit to show and store: names cleaned, arguments masked."""
        found = self._catalogue.find(call.name)
        parsed = parse_arguments(call.arguments)
        if found is None:
            name = show_line(self._masker, call.name, SHOWN_NAME)
            return ToolTarget("", name, self._show_arguments(parsed, self._masker))
        shown = self._show_arguments(parsed, found.server.masker)
        return ToolTarget(found.name.server, found.name.tool, shown)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        """Run a proposed call if the code allows it. Never raises but for cancellation."""
        started = time.monotonic()
        try:
            result = await self._execute(call, report_progress)
        except Exception:
            logger.exception("the call of %s failed in our own code", clean_line(call.name, 80))
            result = await self._fail(
                call, self._masker, "An internal error of this system stopped the call. It is "
                "logged. Do not repeat the call; go on without it and say so in the report.",
            )  # fmt: skip
        return replace(result, duration_ms=round((time.monotonic() - started) * 1000))

    async def _execute(self, call: ToolCall, report_progress: ReportProgress) -> ToolResult:
        tool = self._catalogue.find(call.name)
        if tool is None:
            reason = self._catalogue.explain_unknown(show_line(self._masker, call.name, SHOWN_NAME))
            return await self._fail(call, self._masker, reason)
        masker = tool.server.masker
        if not tool.is_selected:
            reason = f"{tool.name} is not among the tools selected for this investigation."
            return await self._fail(call, masker, reason)
        parsed = parse_arguments(call.arguments)
        if placeholder := PLACEHOLDER.search(json.dumps(parsed.values)):
            return await self._fail(call, masker, _explain_placeholder(placeholder[0]))
        request = tool.request(call.id, parsed.values)
        if refusal := self._gate.screen(request):
            return await self._refuse(masker, refusal)
        if faults := tool.check.find_faults(parsed.values):
            return await self._fail(call, masker, _explain_faults(faults, parsed))
        passed = await self._gate.admit(request)
        if isinstance(passed, Refusal):
            return await self._refuse(masker, passed)
        return await self._call_and_settle(call, tool, parsed, passed, report_progress)

    async def _call_and_settle(
        self,
        call: ToolCall,
        tool: KnownTool,
        parsed: ParsedArguments,
        passed: Pass,
        report_progress: ReportProgress,
    ) -> ToolResult:
        """The gate hears of every end, also of one that was cut short: it may have taken effect."""
        outcome: Outcome = "unknown"
        text = ""
        try:
            result = await self._call(call, tool, parsed, passed, report_progress)
            text = result.whole or result.stored
            outcome = judge_outcome(text, is_error=result.is_error)
            return result
        finally:
            self._gate.settle(passed, outcome, text)

    async def _call(
        self,
        call: ToolCall,
        tool: KnownTool,
        parsed: ParsedArguments,
        passed: Pass,
        report_progress: ReportProgress,
    ) -> ToolResult:
        def report(text: str) -> None:
            # Masked before it is cut: half a secret is one that no pattern knows.
            report_progress(clean_line(tool.server.masker.mask(text).text, 300))

        may_repeat = passed.request.tool_class != "write"
        try:
            answer = await tool.server.connection.call(
                tool.tool.name, parsed.values, report_progress=report, may_repeat=may_repeat
            )
        except CallNotSent as error:
            reason = f"{tool.name} was not called: {error}. {_GO_ON}"
            return await self._fail(call, tool.server.masker, reason)
        except ConnectionLost as error:
            reason = f"The connection to {tool.name.server} was lost: {error}."
            return await self._fail(call, tool.server.masker, reason + _outcome(may_repeat))
        except SERVER_FAILURES as error:
            if is_timeout(error):
                reason = f"{tool.name} did not answer within {self._call_deadline:g} s."
                return await self._fail(call, tool.server.masker, reason + _outcome(may_repeat))
            reason = f"{tool.name} failed: {describe_failure(error)}."
            return await self._fail(call, tool.server.masker, reason)
        text = await asyncio.to_thread(read_result, answer, self._limits.result_bytes)
        return await self._finish(call, tool, text)

    async def _finish(self, call: ToolCall, tool: KnownTool, text: ResultText) -> ToolResult:
        masked = await self._mask(tool.server.masker, text.text or "(the tool returned no text)")
        if isinstance(masked, str):
            return ToolResult(masked, masked, is_error=True, size_bytes=text.size_bytes)
        if text.is_error:
            return await self._fail(
                call, tool.server.masker, f"{tool.name} reported an error.", masked, text
            )
        whole = text.size_bytes if text.cut else None
        stored, is_cut = cut_text(masked.text, self._limits.stored_bytes, whole_bytes=whole)
        return ToolResult(
            content=cut_text(masked.text, self._limits.content_bytes, whole_bytes=whole)[0],
            stored=stored,
            size_bytes=text.size_bytes,
            truncated=is_cut,
            masked=masked.count,
            whole=cut_text(masked.text, self._limits.summarized_bytes, whole_bytes=whole)[0],
        )

    async def _refuse(self, masker: Masker, refusal: Refusal) -> ToolResult:
        """A refusal as the model gets it: nothing but the envelope."""
        told = await self._mask(masker, refusal.to_text())
        text = told if isinstance(told, str) else told.text
        return ToolResult(text, text, is_error=True, size_bytes=len(text.encode()))

    async def _fail(
        self,
        call: ToolCall,
        masker: Masker,
        reason: str,
        said: MaskedText | None = None,
        text: ResultText | None = None,
    ) -> ToolResult:
        """An error the model can act on: what it asked for, and what came back."""
        told = await self._tell(call, masker, reason)
        if isinstance(told, str):
            return ToolResult(told, told, is_error=True)
        message = told.text if said is None else f"{told.text}\nIt answered:\n{said.text}"
        whole = text.size_bytes + len(told.text) if text is not None and text.cut else None
        stored, is_cut = cut_text(message, self._limits.stored_bytes, whole_bytes=whole)
        content, _ = cut_text(message, self._limits.content_bytes, whole_bytes=whole)
        return ToolResult(
            content=content, stored=stored, is_error=True, truncated=is_cut,
            size_bytes=text.size_bytes if text is not None else len(message.encode()),
            masked=told.count + (said.count if said is not None else 0),
        )  # fmt: skip

    async def _tell(self, call: ToolCall, masker: Masker, reason: str) -> MaskedText | str:
        """Why a call failed and what it was, or what stands for both where they cannot be masked.

        Each is masked before it is cut, and once more as they stand together.
        """
        why = await self._mask(masker, clean_text(reason))
        if isinstance(why, str):
            return why
        arguments = await self._mask(masker, call.arguments)
        if isinstance(arguments, str):
            return arguments
        name = show_line(masker, call.name, SHOWN_NAME)
        asked = f"{name} {clean_line(arguments.text, SHOWN_ARGUMENTS)}".strip()
        shown = why.text if len(why.text) <= SHOWN_REASON else f"{why.text[:SHOWN_REASON]}…"
        told = await self._mask(masker, f"{shown}\nYou asked: {asked}")
        if isinstance(told, str):
            return told
        return MaskedText(told.text, why.count + arguments.count + told.count)

    async def _mask(self, masker: Masker, text: str) -> MaskedText | str:
        """Mask, or say what stands for the text: what could not be masked is shown to nobody."""
        try:
            if len(text) <= INLINE_MASKING_CHARACTERS:
                return masker.mask(text)
            async with asyncio.timeout(MASKING_DEADLINE):
                return await asyncio.to_thread(masker.mask, text)
        except TooMuchToMask as reason:
            logger.warning("a tool result is withheld: %s", reason)
            return WITHHELD_AS_TOO_MUCH
        except Exception:
            logger.exception("masking a tool result failed; the result is withheld")
            return WITHHELD

    def _show_arguments(self, parsed: ParsedArguments, masker: Masker) -> Mapping[str, JSON]:
        values: dict[str, JSON] = parsed.values
        if parsed.form == "raw":
            values = {"raw": parsed.values[WRAPPING_KEY]}
        try:
            masked = masker.mask_json(_clean_values(values))
        except Exception:
            logger.exception("masking a call's arguments failed; they are withheld")
            return {"raw": WITHHELD}
        return masked if isinstance(masked, dict) else {"raw": json.dumps(masked)}


def _explain_placeholder(placeholder: str) -> str:
    return (
        f"Refused: the arguments contain {placeholder}. It stands for a secret that was taken out "
        "before you saw it; nobody can put it back, so no tool is called with it. Do it without "
        "the secret, or say in the report what a person has to do by hand."
    )


def _outcome(may_repeat: bool) -> str:
    if may_repeat:
        return " Nothing came back; narrow the question or use another tool."
    return " Whether it took effect is unknown: verify with a tool that reads before going on."


def _explain_faults(faults: str, parsed: ParsedArguments) -> str:
    advice = "Send a JSON object that matches the tool's schema."
    if parsed.form in ("raw", "json"):
        return f"The arguments were no JSON object. {faults}. {advice}"
    return f"The arguments do not match the tool's schema: {faults}. {advice}"


def _clean_values(value: JSON) -> JSON:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_values(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean_values(item) for key, item in value.items()}
    return value
