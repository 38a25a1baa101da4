"""What the model and people get of a call: every part masked first and cut then.

What goes wrong is a result the model can read: an envelope that says what was asked and why nothing
came of it, and what a tool itself reports, as it said it.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.types import JSON, ToolCall, ToolResult, ToolTarget
from masking import MaskedText, Masker, TooMuchToMask
from masking.visible_text import clean_line, clean_text
from mcp_bridge.admission import Rejected
from mcp_bridge.arguments import WRAPPING_KEY, ParsedArguments, parse_arguments
from mcp_bridge.catalogue import Catalogue, KnownTool
from mcp_bridge.content import MAX_RESULT_BYTES, ResultText
from mcp_bridge.limits import BYTES_PER_TOKEN, STORED_BYTES, cut_text
from mcp_bridge.server_words import SHOWN_NAME, show_line
from safety.refusals import Refusal, report_failure

logger = logging.getLogger(__name__)

# Masking this much holds the event loop for about a millisecond; more goes to a thread.
INLINE_MASKING_CHARACTERS = 8_000
SHOWN_REASON = 4_000
SHOWN_ARGUMENTS = 500
MASKING_DEADLINE = 10.0
"""Seconds; masking a megabyte takes a tenth of one."""
WITHHELD = "[withheld: masking this result failed, so none of it is shown]"
WITHHELD_AS_TOO_MUCH = (
    "[withheld: this result holds more that looks like secrets than can be masked, so none of it "
    "is shown; ask for less of it]"
)


@dataclass(frozen=True)
class Limits:
    """Bytes of a result that are read at all, and shown by a page. What an agent is given stands
    in the configuration of each server."""

    result_bytes: int = MAX_RESULT_BYTES
    stored_bytes: int = STORED_BYTES


class ResultWriter:
    """Writes the results of one execution, with the masker of each call's server."""

    def __init__(self, catalogue: Catalogue, masker: Masker, stored_bytes: int) -> None:
        self._catalogue = catalogue
        self._masker = masker
        self._stored_bytes = stored_bytes

    def identify(self, call: ToolCall) -> ToolTarget:
        """What a call means, fit to show and store: names cleaned, arguments masked."""
        found = self._catalogue.find(call.name)
        parsed = parse_arguments(call.arguments)
        if found is None:
            name = show_line(self._masker, call.name, SHOWN_NAME)
            return ToolTarget("", name, _show_arguments(parsed, self._masker))
        shown = _in_order(found, _show_arguments(parsed, found.server.masker))
        kind = found.class_of(parsed.values)
        return ToolTarget(
            found.name.server, found.name.tool, shown,
            may_write=kind == "write", resolves=kind == "resolve" and found.is_own_server,
        )  # fmt: skip

    async def write_answer(
        self, call: ToolCall, tool: KnownTool, answer: ResultText | Refusal
    ) -> ToolResult:
        """What a server answered, or why it did not."""
        masker = tool.server.masker
        if isinstance(answer, Refusal):
            return await _refuse_call(call, masker, answer)
        masked = await _mask(masker, answer.text or "(the tool returned no text)")
        if isinstance(masked, str):
            result = await _refuse(masker, report_failure(masked))
            return replace(result, size_bytes=answer.size_bytes)
        if answer.is_error:
            return await self._write_error(call, tool, masked, answer)
        whole = answer.size_bytes if answer.cut else None
        stored, is_cut = await _cut_result(masked.text, self._stored_bytes, whole)
        given, _ = await _cut_result(masked.text, _given_bytes(tool), whole)
        return ToolResult(
            content=given,
            stored=stored,
            size_bytes=answer.size_bytes,
            truncated=is_cut,
            masked=masked.count,
        )

    async def write_rejection(self, call: ToolCall, rejected: Rejected) -> ToolResult:
        """Why a call did not run. What the gate says is whole; ours is told with what was asked."""
        masker = self._masker_of(call)
        if rejected.by_gate:
            return await _refuse(masker, rejected.refusal)
        return await _refuse_call(call, masker, rejected.refusal)

    async def write_own_failure(self, call: ToolCall) -> ToolResult:
        """That our own code failed. It asks nothing of what may have failed."""
        internal = report_failure(
            "An internal error of this system stopped the call. It is logged. Do not repeat "
            "the call; go on without it and say so in the report."
        )
        return await _refuse_call(call, self._masker, internal)

    async def write_reason(self, call: ToolCall, reason: str) -> str:
        """A clause about a call on one line, or what stands for it where it cannot be masked."""
        masked = await _mask(self._masker_of(call), reason)
        return masked if isinstance(masked, str) else clean_line(masked.text, 300)

    async def _write_error(
        self, call: ToolCall, tool: KnownTool, said: MaskedText, answer: ResultText
    ) -> ToolResult:
        """What a tool itself reports, behind a line of ours: what a server says begins no error."""
        told = await _tell(call, tool.server.masker, f"{tool.name} reported an error.")
        if isinstance(told, str):
            return await _refuse(tool.server.masker, report_failure(told))
        message = f"{told.text}\nIt answered:\n{said.text}"
        whole = answer.size_bytes + len(told.text) if answer.cut else None
        stored, is_cut = cut_text(message, self._stored_bytes, whole_bytes=whole)
        content, _ = cut_text(message, _given_bytes(tool), whole_bytes=whole)
        return ToolResult(
            content=content, stored=stored, is_error=True, truncated=is_cut,
            size_bytes=answer.size_bytes, masked=told.count + said.count,
        )  # fmt: skip

    def _masker_of(self, call: ToolCall) -> Masker:
        tool = self._catalogue.find(call.name)
        return tool.server.masker if tool is not None else self._masker


async def _refuse(masker: Masker, refusal: Refusal) -> ToolResult:
    """A refusal as the model gets it: nothing but the envelope."""
    told = await _mask(masker, refusal.to_text())
    # What stands for a text that could not be masked holds no word of it.
    text = report_failure(told).to_text() if isinstance(told, str) else told.text
    return ToolResult(text, text, is_error=True, size_bytes=len(text.encode()))


async def _refuse_call(call: ToolCall, masker: Masker, refusal: Refusal) -> ToolResult:
    """A refusal of ours with what was asked. Each part is masked before it is cut."""
    why = await _mask(masker, clean_text(refusal.message))
    arguments = await _mask(masker, call.arguments)
    message = why if isinstance(why, str) else why.text
    asked = arguments if isinstance(arguments, str) else arguments.text
    count = sum(each.count for each in (why, arguments) if isinstance(each, MaskedText))
    details: dict[str, JSON] = {
        "tool": show_line(masker, call.name, SHOWN_NAME),
        "arguments": clean_line(asked, SHOWN_ARGUMENTS),
        **refusal.details,
    }
    result = await _refuse(masker, replace(refusal, message=_cut(message), details=details))
    return replace(result, masked=count)


async def _tell(call: ToolCall, masker: Masker, reason: str) -> MaskedText | str:
    """Why a call failed and what it was, or what stands for both where they cannot be masked.

    Each is masked before it is cut, and once more as they stand together.
    """
    why = await _mask(masker, clean_text(reason))
    if isinstance(why, str):
        return why
    arguments = await _mask(masker, call.arguments)
    if isinstance(arguments, str):
        return arguments
    name = show_line(masker, call.name, SHOWN_NAME)
    asked = f"{name} {clean_line(arguments.text, SHOWN_ARGUMENTS)}".strip()
    told = await _mask(masker, f"{_cut(why.text)}\nYou asked: {asked}")
    if isinstance(told, str):
        return told
    return MaskedText(told.text, why.count + arguments.count + told.count)


async def _mask(masker: Masker, text: str) -> MaskedText | str:
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


async def _cut_result(text: str, max_bytes: int, whole_bytes: int | None) -> tuple[str, bool]:
    """JSON is read and written anew for it, so a long one is cut in a thread."""
    if len(text) <= max_bytes // BYTES_PER_TOKEN:
        return cut_text(text, max_bytes, whole_bytes=whole_bytes)
    return await asyncio.to_thread(cut_text, text, max_bytes, whole_bytes=whole_bytes)


def _cut(reason: str) -> str:
    return reason if len(reason) <= SHOWN_REASON else f"{reason[:SHOWN_REASON]}…"


def _given_bytes(tool: KnownTool) -> int:
    return tool.server.config.max_result_tokens * BYTES_PER_TOKEN


def _show_arguments(parsed: ParsedArguments, masker: Masker) -> Mapping[str, JSON]:
    values: dict[str, JSON] = parsed.values
    if parsed.form == "raw":
        values = {"raw": parsed.values[WRAPPING_KEY]}
    try:
        masked = masker.mask_json(_clean_values(values))
    except Exception:
        logger.exception("masking a call's arguments failed; they are withheld")
        return {"raw": WITHHELD}
    return masked if isinstance(masked, dict) else {"raw": json.dumps(masked)}


def _in_order(tool: KnownTool, given: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Arguments in the order of the tool's schema, which begins with what a call is about."""
    schema = tool.tool.input_schema.get("properties")
    named = [name for name in schema if name in given] if isinstance(schema, dict) else []
    return {name: given[name] for name in dict.fromkeys((*named, *given))}


def _clean_values(value: JSON) -> JSON:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_values(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean_values(item) for key, item in value.items()}
    return value
