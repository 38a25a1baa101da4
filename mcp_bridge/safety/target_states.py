"""How the target of a write is, seen right before a person is asked and again before it runs.

Our own server is asked for the resource; of another one, the read that would verify the write says
it. What was seen is bound into the approval, so that one given for a stopped service is no good for
the same service once it runs.
"""

import asyncio

from agents.types import JSON
from mcp_bridge.gate import GateRequest, Look
from mcp_bridge.safety.checks import RUNNING, STOPPED, Check, find_values, plan_check, show
from mcp_bridge.safety.targeting import Target, action_of

Path = tuple[str, ...]

AGAIN = (0.0, 0.5, 1.5, 3.0)
"""Seconds before each look that follows an approval, until one shows what was approved."""

_BOUND_BY_HASH = frozenset({"file_edit", "knowledge"})
"""Our tools that write texts: the state of a file is its content, whose hash is bound."""


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
    """The read that says how the target is, and where in its answer; None where there is none."""
    if request.is_own_server and request.tool in _BOUND_BY_HASH:
        return None
    if request.is_own_server and target.resource is not None and not _is_about_number(request):
        asked: dict[str, JSON] = {"action": "get", "resource_id": target.resource.resource_id}
        return Check(request.server, "query", asked, ()), ("data", "status")
    check = plan_check(
        request.server, request.tool, request.arguments,
        is_own_server=request.is_own_server, verify=request.verify,
    )  # fmt: skip
    if check is None or not check.expects[0].path:
        return None
    return check, check.expects[0].path


def _is_about_number(request: GateRequest) -> bool:
    """Whether how many there are is what matters, and not how they are."""
    return action_of(request) == "scale"
