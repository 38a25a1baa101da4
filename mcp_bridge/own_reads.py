"""Reads that no model proposed: before a write what it will change, and after it what it did."""

import asyncio
import json
import time
from dataclasses import replace

from agents.types import JSON, ToolCall, ToolCheck, ToolResult
from mcp_bridge.admission import Admission, Admitted, Rejected
from mcp_bridge.content import ResultText, read_json
from mcp_bridge.results import ResultWriter
from mcp_bridge.sending import ask, send
from safety.checks import Check, judge_answer
from safety.evidence import Judgement, Outcome, judge_outcome
from safety.gate_port import Gate
from safety.refusals import Refusal, report_failure


class OwnReads:
    """Makes them for one execution, each through every step of any other call."""

    def __init__(
        self, admission: Admission, gate: Gate, results: ResultWriter, max_bytes: int
    ) -> None:
        self._admission = admission
        self._gate = gate
        self._results = results
        self._max_bytes = max_bytes

    async def look(self, write: ToolCall, read: Check) -> JSON:
        """What a read shows before a write is asked for, exactly as the server said it.

        For the gate alone, which has it masked before anybody sees it. No evidence, so unsettled.
        """
        admitted = await self._admission.admit(_call_of(write, read), is_check=True)
        if isinstance(admitted, Rejected):
            return None
        answer = await send(admitted, _tell_nobody)
        return None if isinstance(answer, Refusal) else await asyncio.to_thread(read_json, answer)

    async def check(self, write: ToolCall, check: Check) -> ToolCheck:
        """Look whether a write took effect."""
        call = _call_of(write, check)
        started = time.monotonic()
        result, judgement = await self._check(call, check)
        return ToolCheck(
            target=self._results.identify(call),
            status=judgement.status,
            reason=await self._results.write_reason(call, judgement.reason),
            result=replace(result, duration_ms=round((time.monotonic() - started) * 1000)),
        )

    async def _check(self, call: ToolCall, check: Check) -> tuple[ToolResult, Judgement]:
        admitted = await self._admission.admit(call, is_check=True)
        if isinstance(admitted, Rejected):
            rejection = await self._results.write_rejection(call, admitted)
            judgement = Judgement("unverified", f"{check.name} could not be asked")
            self._gate.give_up_check(judgement)
            return rejection, judgement
        outcome: Outcome = "unknown"
        judgement, text = Judgement("unverified", f"{check.name} gave no answer"), ""
        try:
            answer, judgement = await self._ask_until_confirmed(admitted, check)
            result = await self._results.write_answer(call, admitted.tool, answer)
            text = result.content
            outcome = judge_outcome(text, is_error=result.is_error)
            return result, judgement
        finally:
            self._gate.settle(admitted.passed, outcome, text, judgement)

    async def _ask_until_confirmed(
        self, admitted: Admitted, check: Check
    ) -> tuple[ResultText | Refusal, Judgement]:
        """Ask as often as the check's patience allows; what was changed may still be coming up."""
        answer: ResultText | Refusal = report_failure(f"{check.name} was not asked.")
        judgement = Judgement("unverified", f"{check.name} gave no answer")
        for pause in check.pauses:
            await asyncio.sleep(pause)
            answer = await ask(admitted, _tell_nobody, self._max_bytes)
            if isinstance(answer, Refusal):
                judgement = Judgement("unverified", f"{check.name} could not be asked")
            elif answer.is_error or answer.cut:
                judgement = Judgement("unverified", f"{check.name} gave no whole answer")
            else:
                judgement = judge_answer(check, answer.text)
            if judgement.status == "verified":
                break
        return answer, judgement


def _call_of(write: ToolCall, read: Check) -> ToolCall:
    return ToolCall(write.id, read.name, json.dumps(dict(read.arguments)))


def _tell_nobody(_text: str) -> None:
    """Takes the progress of a check."""
