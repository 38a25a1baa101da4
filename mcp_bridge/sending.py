"""Sends an admitted call to its server, and says why nothing came of it."""

import asyncio

from mcp_types import CallToolResult

from agents.ports import ReportProgress
from masking.visible_text import clean_line
from mcp_bridge.admission import Admitted
from mcp_bridge.call_failures import CallFailed, Cause
from mcp_bridge.content import ResultText, read_result
from safety.refusals import Refusal, leave_open, report_failure, report_undone

_GO_ON = "Use another tool, or go on without it and say so in the report."
_WHO_ACTS: dict[Cause, str] = {
    "address": "whoever runs TARSy has to correct the address of {server}",
    "away": "whoever runs {server} has to see why it is away",
    "credentials": "whoever runs TARSy has to renew the credentials for {server}",
    "permission": "whoever runs {server} has to allow it",
    "server": "whoever runs {server} finds the reason in its log",
}
"""Who can do something about it where asking otherwise helps nothing."""
_ADVICE: dict[Cause, str] = {
    "arguments": "Put the arguments right and ask again.",
    "busy": "Ask again later.",
    "late": "Narrow the question or use another tool.",
}
"""What the model can do itself."""


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

    is_write = admitted.passed.request.tool_class == "write"
    try:
        return await tool.server.connection.call(
            tool.tool.name, dict(admitted.passed.request.arguments), report_progress=report,
            may_repeat=not is_write,
        )  # fmt: skip
    except CallFailed as failed:
        return tell_failure(str(tool.name), tool.name.server, failed, is_write=is_write)


def tell_failure(name: str, server: str, failed: CallFailed, *, is_write: bool) -> Refusal:
    """What the model and people are told: what became of the call, why, and who can act."""
    reason = _with_wait(failed)
    who = _WHO_ACTS.get(failed.cause, "").format(server=server)
    clause = f"{reason}; {who}" if who else reason
    retryable = failed.may_repeat(is_write=is_write)
    if failed.fate == "not carried out":
        told = f"{name} was not carried out: {clause}. {_ADVICE.get(failed.cause, _GO_ON)}"
        return report_undone(told, clause, retryable=retryable)
    if is_write:
        told = (
            f"{name} may have run: {clause}. Whether it took effect is unknown: verify with a tool "
            "that reads before going on."
        )
        return leave_open(told, {"reason": clause})
    told = f"{name} gave no answer: {clause}. {_ADVICE.get(failed.cause, _GO_ON)}"
    return report_failure(told, retryable=retryable)


def _with_wait(failed: CallFailed) -> str:
    if not failed.retry_after:
        return str(failed)
    return f"{failed}; it asks to be asked again after {failed.retry_after:g} s"
