"""Reads the stored calls of an interrupted execution the way the gate saw them."""

import json
from collections.abc import Sequence
from dataclasses import replace

from agents.types import PastCall, ToolCall, ToolCheck, ToolResult
from mcp_bridge.arguments import parse_arguments
from mcp_bridge.catalogue import Catalogue
from safety.evidence import Judgement, SettledCall, judge_outcome
from safety.gate_port import GateRequest, settled_call
from safety.tool_rules import ToolClass


def settle_past_calls(
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
        call = _settle(request, each.result, writes_before)
        writes += call.tool_class == "write" and call.was_sent
        settled.append(call)
        if each.check is not None:
            settled.append(_settle_check(each.check, request, catalogue, writes))
    return settled, frozenset(each.call.id for each in past if each.result is None)


def _settle(request: GateRequest, result: ToolResult, writes_before: int) -> SettledCall:
    outcome = judge_outcome(result.stored, is_error=result.is_error)
    return settled_call(request, outcome, result.stored, writes_before)


def _settle_check(
    check: ToolCheck, write: GateRequest, catalogue: Catalogue, writes: int
) -> SettledCall:
    """A check of ours behind its write, with what it showed then."""
    name = f"{write.server}.{check.target.tool}"
    arguments = json.dumps(dict(check.target.arguments))
    request = _request(ToolCall(write.call_id, name, arguments), catalogue, "read")
    call = _settle(request, check.result, writes)
    return replace(call, judgement=Judgement(check.status, check.reason))


def _is_server_tool(name: str) -> bool:
    return "__" in name or "." in name


def _request(call: ToolCall, catalogue: Catalogue, otherwise: ToolClass) -> GateRequest:
    arguments = parse_arguments(call.arguments).values
    tool = catalogue.find(call.name)
    if tool is not None:
        return tool.request(call.id, arguments)
    server, _, name = call.name.replace(".", "__", 1).partition("__")
    return GateRequest(server, name, otherwise, arguments, call.id)
