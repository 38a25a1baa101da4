"""The one way to a tool. Every call of every agent passes through `ToolExecutor.execute`.

In this order: admitted (`admission`), sent (`sending`), written down as the model gets it
(`results`). Behind a write goes a check of our own, the same way.
"""

import logging
import time
from dataclasses import replace
from functools import partial

from agents.ports import ReportProgress
from agents.types import ToolCall, ToolCheck, ToolResult, ToolTarget, WriteReport
from masking import Masker
from masking.visible_text import clean_line
from mcp_bridge.admission import Admission, Admitted, Rejected
from mcp_bridge.arguments import parse_arguments
from mcp_bridge.catalogue import Catalogue
from mcp_bridge.own_reads import OwnReads
from mcp_bridge.results import Limits, ResultWriter
from mcp_bridge.sending import ask
from safety.checks import plan_check
from safety.evidence import Outcome, judge_outcome
from safety.gate_port import Gate

logger = logging.getLogger(__name__)


class ToolExecutor:
    """Runs the tool calls of one execution."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        gate: Gate,
        masker: Masker,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        self._gate = gate
        self._catalogue = catalogue
        self._masker = masker
        self._limits = limits
        self._admission = Admission(catalogue, gate, masker)
        self._results = ResultWriter(catalogue, masker, limits.stored_bytes)
        self._reads = OwnReads(self._admission, gate, self._results, limits.result_bytes)

    def identify(self, call: ToolCall) -> ToolTarget:
        """What a call means, fit to show and store: names cleaned, arguments masked."""
        return self._results.identify(call)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        """Run a proposed call if the code allows it. Never raises but for cancellation."""
        started = time.monotonic()
        try:
            result = await self._execute(call, report_progress)
        except Exception:
            logger.exception("the call of %s failed in our own code", clean_line(call.name, 80))
            result = await self._results.write_own_failure(call)
        return replace(result, duration_ms=round((time.monotonic() - started) * 1000))

    async def check_write(self, write: ToolCall) -> ToolCheck | None:
        """Look whether a write of the past took effect; None where no read is known to show it.

        Nothing is sent but that read, which passes every step that any other call passes.
        """
        tool = self._catalogue.find(write.name)
        if tool is None:
            return None
        made = tool.request(write.id, parse_arguments(write.arguments).values)
        check = plan_check(
            made.server, made.tool, made.arguments,
            is_own_server=made.is_own_server, verify=made.verify,
        )  # fmt: skip
        return await self._reads.check(write, check) if check is not None else None

    async def _execute(self, call: ToolCall, report_progress: ReportProgress) -> ToolResult:
        admitted = await self._admission.admit(call, partial(self._reads.look, call))
        if isinstance(admitted, Rejected):
            result = await self._results.write_rejection(call, admitted)
        else:
            result = await self._call_and_settle(call, admitted, report_progress)
        if check := self._gate.take_check(call.id):
            result = replace(result, check=await self._reads.check(call, check))
        return replace(result, writes=self._report_writes())

    async def _call_and_settle(
        self, call: ToolCall, admitted: Admitted, report_progress: ReportProgress
    ) -> ToolResult:
        """The gate hears of every end, also of one that was cut short: it may have taken effect."""
        outcome: Outcome = "unknown"
        text = ""
        try:
            answer = await ask(admitted, report_progress, self._limits.result_bytes)
            result = await self._results.write_answer(call, admitted.tool, answer)
            text = result.content
            outcome = judge_outcome(text, is_error=result.is_error)
            return result
        finally:
            self._gate.settle(admitted.passed, outcome, text)

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
