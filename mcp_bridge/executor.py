"""The one way to a tool. Every call of every agent passes through `ToolExecutor.execute`.

In this order: name, allow-list, control level, arguments, schema, gate, call, text, mask, cut. What
goes wrong on the way is a result the model can read: an envelope that says what was asked and why
nothing came of it, and what a tool itself reports, as it said it. Behind a write goes a check of
our own, the same way.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from mcp_types import CallToolResult

from agents.ports import ReportProgress
from agents.types import JSON, ToolCall, ToolCheck, ToolResult, ToolTarget, WriteReport
from masking import PLACEHOLDER, MaskedText, Masker, TooMuchToMask
from masking.visible_text import clean_line, clean_text
from mcp_bridge.arguments import WRAPPING_KEY, ParsedArguments, parse_arguments
from mcp_bridge.catalogue import Catalogue, KnownTool
from mcp_bridge.content import MAX_RESULT_BYTES, ResultText, read_json, read_result
from mcp_bridge.failures import (
    SERVER_FAILURES,
    CallNotSent,
    ConnectionLost,
    describe_failure,
    is_timeout,
)
from mcp_bridge.limits import BYTES_PER_TOKEN, STORED_BYTES, cut_text
from mcp_bridge.server_words import show_line
from safety.checks import Check, judge_answer
from safety.evidence import Judgement, Outcome, judge_outcome
from safety.refusals import Refusal, RefusalCode, leave_open
from safety.requests import Gate, Pass

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
    """Bytes of a result that are read at all, and shown by a page. What an agent is given stands
    in the configuration of each server."""

    result_bytes: int = MAX_RESULT_BYTES
    stored_bytes: int = STORED_BYTES


@dataclass(frozen=True)
class _Admitted:
    """A call that may run."""

    tool: KnownTool
    parsed: ParsedArguments
    passed: Pass


class ToolExecutor:
    """Runs the tool calls of one execution."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        gate: Gate,
        masker: Masker,
        limits: Limits = Limits(),
    ) -> None:
        self._catalogue = catalogue
        self._gate = gate
        self._masker = masker
        self._limits = limits

    def identify(self, call: ToolCall) -> ToolTarget:
        """What a call means, fit to show and store: names cleaned, arguments masked."""
        found = self._catalogue.find(call.name)
        parsed = parse_arguments(call.arguments)
        if found is None:
            name = show_line(self._masker, call.name, SHOWN_NAME)
            return ToolTarget("", name, self._show_arguments(parsed, self._masker))
        shown = self._show_arguments(parsed, found.server.masker)
        may_write = found.class_of(parsed.values) == "write"
        return ToolTarget(found.name.server, found.name.tool, shown, may_write=may_write)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        """Run a proposed call if the code allows it. Never raises but for cancellation."""
        started = time.monotonic()
        try:
            result = await self._execute(call, report_progress)
        except Exception:
            logger.exception("the call of %s failed in our own code", clean_line(call.name, 80))
            internal = _failed(
                "An internal error of this system stopped the call. It is logged. Do not repeat "
                "the call; go on without it and say so in the report."
            )
            result = await self._refuse_call(call, self._masker, internal)
        return replace(result, duration_ms=round((time.monotonic() - started) * 1000))

    async def _execute(self, call: ToolCall, report_progress: ReportProgress) -> ToolResult:
        admitted = await self._admit(call)
        if isinstance(admitted, ToolResult):
            result = admitted
        else:
            result = await self._call_and_settle(call, admitted, report_progress)
        if check := self._gate.take_check(call.id):
            result = replace(result, check=await self._check(call, check))
        return replace(result, writes=self._report_writes())

    async def _admit(self, call: ToolCall, *, is_check: bool = False) -> _Admitted | ToolResult:
        """Every step before a call, or the result of the one that stopped it."""
        tool = self._catalogue.find(call.name)
        if tool is None:
            reason = self._catalogue.explain_unknown(show_line(self._masker, call.name, SHOWN_NAME))
            return await self._refuse_call(call, self._masker, _blocked("NOT_FOUND", reason))
        masker = tool.server.masker
        if not tool.is_selected:
            reason = f"{tool.name} is not among the tools selected for this investigation."
            return await self._refuse_call(call, masker, _blocked("POLICY_BLOCKED", reason))
        parsed = parse_arguments(call.arguments)
        if placeholder := PLACEHOLDER.search(json.dumps(parsed.values)):
            holds = _blocked("INVALID_INPUT", _explain_placeholder(placeholder[0]))
            return await self._refuse_call(call, masker, holds)
        request = replace(tool.request(call.id, parsed.values), is_check=is_check)
        if refusal := self._gate.screen(request):
            return await self._refuse(masker, refusal)
        if faults := tool.check.find_faults(parsed.values):
            misfit = _blocked("INVALID_INPUT", _explain_faults(faults, parsed))
            return await self._refuse_call(call, masker, misfit)
        passed = await self._gate.admit(request, partial(self._look_for_gate, call))
        if isinstance(passed, Refusal):
            return await self._refuse(masker, passed)
        return _Admitted(tool, parsed, passed)

    async def _call_and_settle(
        self, call: ToolCall, admitted: _Admitted, report_progress: ReportProgress
    ) -> ToolResult:
        """The gate hears of every end, also of one that was cut short: it may have taken effect."""
        outcome: Outcome = "unknown"
        text = ""
        try:
            answer = await self._ask(admitted, report_progress)
            result = await self._finish(call, admitted.tool, answer)
            text = result.content
            outcome = judge_outcome(text, is_error=result.is_error)
            return result
        finally:
            self._gate.settle(admitted.passed, outcome, text)

    async def _ask(
        self, admitted: _Admitted, report_progress: ReportProgress
    ) -> ResultText | Refusal:
        """What the server answers as text, unmasked, or why it did not."""
        answer = await self._send(admitted, report_progress)
        if isinstance(answer, Refusal):
            return answer
        return await asyncio.to_thread(read_result, answer, self._limits.result_bytes)

    async def _send(
        self, admitted: _Admitted, report_progress: ReportProgress
    ) -> CallToolResult | Refusal:
        tool = admitted.tool

        def report(text: str) -> None:
            # Masked before it is cut: half a secret is one that no pattern knows.
            report_progress(clean_line(tool.server.masker.mask(text).text, 300))

        may_repeat = admitted.passed.request.tool_class != "write"
        try:
            return await tool.server.connection.call(
                tool.tool.name, dict(admitted.passed.request.arguments), report_progress=report,
                may_repeat=may_repeat,
            )  # fmt: skip
        except CallNotSent as error:
            return _failed(f"{tool.name} was not called: {error}. {_GO_ON}", outcome="not sent")
        except ConnectionLost as error:
            lost = f"The connection to {tool.name.server} was lost: {error}."
            return _cut_short(lost, may_repeat=may_repeat)
        except SERVER_FAILURES as error:
            if is_timeout(error):
                seconds = f"{tool.server.connection.call_deadline:g} s"
                late = f"{tool.name} did not answer within {seconds}."
                return _cut_short(late, may_repeat=may_repeat)
            return _failed(f"{tool.name} failed: {describe_failure(error)}.")

    # Looks and checks of our own

    async def _look_for_gate(self, write: ToolCall, read: Check) -> JSON:
        """What a read shows before a write is asked for, exactly as the server said it.

        For the gate alone, which has it masked before anybody sees it. No evidence, so unsettled.
        """
        call = ToolCall(write.id, read.name, json.dumps(dict(read.arguments)))
        admitted = await self._admit(call, is_check=True)
        if isinstance(admitted, ToolResult):
            return None
        answer = await self._send(admitted, _tell_nobody)
        return None if isinstance(answer, Refusal) else await asyncio.to_thread(read_json, answer)

    async def _check(self, write: ToolCall, check: Check) -> ToolCheck:
        """Look whether a write took effect: a call of our own, through every step of any other."""
        call = ToolCall(write.id, check.name, json.dumps(dict(check.arguments)))
        started = time.monotonic()
        result, judgement = await self._look(call, check)
        reason = await self._mask(self._masker_of(call), judgement.reason)
        return ToolCheck(
            target=self.identify(call),
            status=judgement.status,
            reason=reason if isinstance(reason, str) else clean_line(reason.text, 300),
            result=replace(result, duration_ms=round((time.monotonic() - started) * 1000)),
        )

    async def _look(self, call: ToolCall, check: Check) -> tuple[ToolResult, Judgement]:
        admitted = await self._admit(call, is_check=True)
        if isinstance(admitted, ToolResult):
            judgement = Judgement("unverified", f"{check.name} could not be asked")
            self._gate.give_up_check(judgement)
            return admitted, judgement
        outcome: Outcome = "unknown"
        judgement, text = Judgement("unverified", f"{check.name} gave no answer"), ""
        try:
            answer, judgement = await self._ask_until_confirmed(admitted, check)
            result = await self._finish(call, admitted.tool, answer)
            text = result.content
            outcome = judge_outcome(text, is_error=result.is_error)
            return result, judgement
        finally:
            self._gate.settle(admitted.passed, outcome, text, judgement)

    async def _ask_until_confirmed(
        self, admitted: _Admitted, check: Check
    ) -> tuple[ResultText | Refusal, Judgement]:
        """Ask as often as the check's patience allows; what was changed may still be coming up."""
        answer: ResultText | Refusal = _failed(f"{check.name} was not asked.")
        judgement = Judgement("unverified", f"{check.name} gave no answer")
        for pause in check.pauses:
            await asyncio.sleep(pause)
            answer = await self._ask(admitted, _tell_nobody)
            if isinstance(answer, Refusal):
                judgement = Judgement("unverified", f"{check.name} could not be asked")
            elif answer.is_error or answer.cut:
                judgement = Judgement("unverified", f"{check.name} gave no whole answer")
            else:
                judgement = judge_answer(check, answer.text)
            if judgement.status == "verified":
                break
        return answer, judgement

    def _report_writes(self) -> WriteReport | None:
        """How the writes stand, fit to show: what they were done to is in the model's words."""
        report = self._gate.report_writes()
        if report is None:
            return None

        def show(text: str) -> str:
            return clean_line(self._masker.mask(text).text, 300)

        shown = [replace(each, target=show(each.target), reason=show(each.reason))
                 for each in report.writes]  # fmt: skip
        return replace(report, writes=tuple(shown))

    def _masker_of(self, call: ToolCall) -> Masker:
        tool = self._catalogue.find(call.name)
        return tool.server.masker if tool is not None else self._masker

    async def _finish(
        self, call: ToolCall, tool: KnownTool, text: ResultText | Refusal
    ) -> ToolResult:
        """An answer, or why there is none, as the model gets it."""
        if isinstance(text, Refusal):
            return await self._refuse_call(call, tool.server.masker, text)
        masked = await self._mask(tool.server.masker, text.text or "(the tool returned no text)")
        if isinstance(masked, str):
            result = await self._refuse(tool.server.masker, _failed(masked))
            return replace(result, size_bytes=text.size_bytes)
        if text.is_error:
            return await self._report_error(call, tool, masked, text)
        whole = text.size_bytes if text.cut else None
        stored, is_cut = cut_text(masked.text, self._limits.stored_bytes, whole_bytes=whole)
        return ToolResult(
            content=cut_text(masked.text, _given_bytes(tool), whole_bytes=whole)[0],
            stored=stored,
            size_bytes=text.size_bytes,
            truncated=is_cut,
            masked=masked.count,
        )

    async def _refuse(self, masker: Masker, refusal: Refusal) -> ToolResult:
        """A refusal as the model gets it: nothing but the envelope."""
        told = await self._mask(masker, refusal.to_text())
        # What stands for a text that could not be masked holds no word of it.
        text = _failed(told).to_text() if isinstance(told, str) else told.text
        return ToolResult(text, text, is_error=True, size_bytes=len(text.encode()))

    async def _refuse_call(self, call: ToolCall, masker: Masker, refusal: Refusal) -> ToolResult:
        """A refusal of ours with what was asked. Each part is masked before it is cut."""
        why = await self._mask(masker, clean_text(refusal.message))
        arguments = await self._mask(masker, call.arguments)
        message = why if isinstance(why, str) else why.text
        asked = arguments if isinstance(arguments, str) else arguments.text
        count = sum(each.count for each in (why, arguments) if isinstance(each, MaskedText))
        details: dict[str, JSON] = {
            "tool": show_line(masker, call.name, SHOWN_NAME),
            "arguments": clean_line(asked, SHOWN_ARGUMENTS),
            **refusal.details,
        }
        cut = message if len(message) <= SHOWN_REASON else f"{message[:SHOWN_REASON]}…"
        result = await self._refuse(masker, replace(refusal, message=cut, details=details))
        return replace(result, masked=count)

    async def _report_error(
        self, call: ToolCall, tool: KnownTool, said: MaskedText, text: ResultText
    ) -> ToolResult:
        """What a tool itself reports, behind a line of ours: what a server says begins no error."""
        told = await self._tell(call, tool.server.masker, f"{tool.name} reported an error.")
        if isinstance(told, str):
            return await self._refuse(tool.server.masker, _failed(told))
        message = f"{told.text}\nIt answered:\n{said.text}"
        whole = text.size_bytes + len(told.text) if text.cut else None
        stored, is_cut = cut_text(message, self._limits.stored_bytes, whole_bytes=whole)
        content, _ = cut_text(message, _given_bytes(tool), whole_bytes=whole)
        return ToolResult(
            content=content, stored=stored, is_error=True, truncated=is_cut,
            size_bytes=text.size_bytes, masked=told.count + said.count,
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


def _given_bytes(tool: KnownTool) -> int:
    return tool.server.config.max_result_tokens * BYTES_PER_TOKEN


def _tell_nobody(_text: str) -> None:
    """Takes the progress of a check."""


def _explain_placeholder(placeholder: str) -> str:
    return (
        f"Refused: the arguments contain {placeholder}. It stands for a secret that was taken out "
        "before you saw it; nobody can put it back, so no tool is called with it. Do it without "
        "the secret, or say in the report what a person has to do by hand."
    )


def _blocked(code: RefusalCode, reason: str) -> Refusal:
    """A call that was not sent, and that another one like it may replace."""
    return Refusal(code, reason, retryable=True)


def _failed(reason: str, *, retryable: bool = False, **details: str) -> Refusal:
    """A call that was let through and of which nothing came."""
    return Refusal("EXECUTION_FAILED", reason, details, blocked=False, retryable=retryable)


def _cut_short(reason: str, *, may_repeat: bool) -> Refusal:
    if may_repeat:
        advice = "Nothing came back; narrow the question or use another tool."
        return _failed(f"{reason} {advice}", retryable=True)
    advice = "Whether it took effect is unknown: verify with a tool that reads before going on."
    return leave_open(f"{reason} {advice}")


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
