"""How the target of a write is, seen right before a person is asked and again before it runs.

The read that would verify the write says it. What was seen is bound into the approval, so that one
given for a stopped service is no good for the same service once it runs.
"""

import asyncio
from collections.abc import Mapping

from agents.types import JSON
from mcp_bridge.gate import GateRequest, Look
from mcp_bridge.safety.checks import RUNNING, STOPPED, Check, find_values, plan_check, show
from mcp_bridge.safety.targeting import Target
from mcp_bridge.safety.targets import find_ops_target

Path = tuple[str, ...]

AGAIN = (0.0, 0.5, 1.5, 3.0)
"""Seconds before each look that follows an approval, until one shows what was approved."""

_BOUND_BY_HASH = frozenset({"file_edit", "knowledge"})
"""Our tools whose target has no state but its content, which their arguments name."""


async def see_state(request: GateRequest, target: Target, look: Look) -> str:
    """How the target is now, in its server's words; empty where no read says so."""
    planned = _plan_look(request, target)
    if planned is None:
        return ""
    read, path = planned
    answer = await look(read)
    return show(find_values(dict(answer), path)) if answer is not None else ""


async def see_state_again(request: GateRequest, target: Target, look: Look, before: str) -> str:
    """How the target is now, given a few seconds to be as it was before.

    What restarts itself in a loop is caught in the state that was shown, not in each one it passes.
    """
    now = ""
    for pause in AGAIN:
        await asyncio.sleep(pause)
        now = await see_state(request, target, look)
        if kind_of_state(now) == kind_of_state(before):
            break
    return now


def kind_of_state(state: str) -> str:
    """What counts as the same state: all words for running are one, all for stopped another."""
    folded = state.casefold()
    if folded in RUNNING:
        return RUNNING[0]
    return STOPPED[0] if folded in STOPPED else folded


def _plan_look(request: GateRequest, target: Target) -> tuple[Check, Path] | None:
    if request.is_own_server:
        return _plan_own_look(request, target)
    check = plan_check(
        request.server, request.tool, request.arguments, is_own_server=False, verify=request.verify
    )
    return _where_it_says(check)


def _plan_own_look(request: GateRequest, target: Target) -> tuple[Check, Path] | None:
    if request.tool in _BOUND_BY_HASH or request.arguments.get("action") == "update":
        return None
    if request.tool == "control" and target.resource is not None:
        name = find_ops_target(request.arguments)
        asked: Mapping[str, JSON] = {"action": "get", "resource_id": name}
        return Check(request.server, "query", asked, ()), ("data", "status")
    return _where_it_says(
        plan_check(request.server, request.tool, request.arguments, is_own_server=True, verify=None)
    )


def _where_it_says(check: Check | None) -> tuple[Check, Path] | None:
    """The read of a check and the place in its answer that the write is about, where it has one."""
    if check is None or not check.expects or not check.expects[0].path:
        return None
    return check, check.expects[0].path
