"""Reads the stored calls of an interrupted execution the way the gate saw them."""

from collections.abc import Sequence

from agents.types import PastCall, ToolCall
from mcp_bridge.arguments import parse_arguments
from mcp_bridge.catalogue import Catalogue
from mcp_bridge.gate import GateRequest
from mcp_bridge.safety.evidence import SettledCall, judge_outcome
from mcp_bridge.server_config import ToolClass


def read_past(
    past: Sequence[PastCall], catalogue: Catalogue, *, may_have_written: bool
) -> tuple[list[SettledCall], frozenset[str]]:
    """The calls that ended, in order, and the ids of those not known to have.

    A tool that is gone may have written if this execution may write at all.
    """
    settled: list[SettledCall] = []
    batch = writes = writes_before = 0
    for each in past:
        if each.batch != batch:
            batch, writes_before = each.batch, writes
        # Tools of servers have two-part names; with any other name nothing was sent to one.
        if each.result is None or not _is_server_tool(each.call.name):
            continue
        request = _request(each.call, catalogue, "write" if may_have_written else "read")
        text = each.result.stored
        call = SettledCall(
            call_id=each.call.id,
            server=request.server,
            tool=request.tool,
            tool_class=request.tool_class,
            arguments=request.arguments,
            outcome=judge_outcome(text, is_error=each.result.is_error),
            text=text,
            writes_before=writes_before,
            is_own_server=request.is_own_server,
        )
        writes += call.tool_class == "write" and call.was_sent
        settled.append(call)
    return settled, frozenset(each.call.id for each in past if each.result is None)


def _is_server_tool(name: str) -> bool:
    return "__" in name or "." in name


def _request(call: ToolCall, catalogue: Catalogue, otherwise: ToolClass) -> GateRequest:
    arguments = parse_arguments(call.arguments).values
    tool = catalogue.find(call.name)
    if tool is not None:
        return tool.request(call.id, arguments)
    server, _, name = call.name.replace(".", "__", 1).partition("__")
    return GateRequest(server, name, otherwise, arguments, call.id)
