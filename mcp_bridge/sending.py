"""Sends an admitted call to its server, and says why nothing came of it."""

import asyncio

from mcp_types import CallToolResult

from agents.ports import ReportProgress
from masking.visible_text import clean_line
from mcp_bridge.admission import Admitted
from mcp_bridge.content import ResultText, read_result
from mcp_bridge.failures import (
    SERVER_FAILURES,
    CallNotSent,
    ConnectionLost,
    describe_failure,
    is_timeout,
)
from safety.refusals import Refusal, leave_open, report_failure

_GO_ON = "Use another tool, or go on without it and say so in the report."


async def ask(
    admitted: Admitted, report_progress: ReportProgress, max_bytes: int
) -> ResultText | Refusal:
    """What the server answers as text, unmasked, or why it did not."""
    answer = await send(admitted, report_progress)
    if isinstance(answer, Refusal):
        return answer
    return await asyncio.to_thread(read_result, answer, max_bytes)


async def send(admitted: Admitted, report_progress: ReportProgress) -> CallToolResult | Refusal:
    """The answer as the server gave it, or why there is none."""
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
        return report_failure(f"{tool.name} was not called: {error}. {_GO_ON}", outcome="not sent")
    except ConnectionLost as error:
        lost = f"The connection to {tool.name.server} was lost: {error}."
        return _cut_short(lost, may_repeat=may_repeat)
    except SERVER_FAILURES as error:
        if is_timeout(error):
            seconds = f"{tool.server.connection.call_deadline:g} s"
            late = f"{tool.name} did not answer within {seconds}."
            return _cut_short(late, may_repeat=may_repeat)
        return report_failure(f"{tool.name} failed: {describe_failure(error)}.")


def _cut_short(reason: str, *, may_repeat: bool) -> Refusal:
    if may_repeat:
        advice = "Nothing came back; narrow the question or use another tool."
        return report_failure(f"{reason} {advice}", retryable=True)
    advice = "Whether it took effect is unknown: verify with a tool that reads before going on."
    return leave_open(f"{reason} {advice}")
