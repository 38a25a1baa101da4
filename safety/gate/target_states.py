"""How the target of a write is, seen right before a person is asked and again before it runs.

Our own server is asked for the resource; of another one, the read that would verify the write says
it. What was seen is bound into the approval, so that one given for a stopped service is no good for
the same service once it runs.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.types import JSON
from safety.checks import (
    RUNNING,
    STOPPED,
    Check,
    Expectation,
    check_status,
    find_values,
    fits,
    plan_check,
    show,
)
from safety.gate.recovery import canonical
from safety.gate.targeting import State, Target, action_of
from safety.gate_port import GateRequest, Look

AGAIN = (0.0, 0.5, 1.5, 3.0)
"""Seconds before each look that follows an approval, until one shows what was approved."""

REPAIR = "repair"
"""The act of ours that an operator declares, and the argument that says which one it is."""
_REPAIRS = ("data", "attributes", "repairs", "*")
_BOUND_BY_HASH = frozenset({"file_edit", "knowledge"})
"""Our tools that write texts: the state of a file is its content, whose hash is bound."""


@dataclass(frozen=True)
class _Planned:
    """A read whose first expectation is about the state; `is_word` where that is a word of ours."""

    read: Check
    is_word: bool = False

    @property
    def told(self) -> Expectation:
        return self.read.expects[0]


async def see_state(request: GateRequest, target: Target, look: Look) -> State:
    """How the target is now; the empty state where no read says so."""
    planned = _plan_look(request, target)
    if planned is None:
        return State()
    answer = await look(planned.read)
    # Of a foreign server it may be megabytes.
    state = await asyncio.to_thread(_read_state, planned, answer)
    if not request.is_own_server:
        return state
    declared = _read_repair(request, answer)
    return replace(
        state, does=str(declared.get("does") or ""), undo=str(declared.get("undo") or "")
    )


async def see_state_again(request: GateRequest, target: Target, look: Look, before: State) -> State:
    """How the target is now, given a few seconds to be as it was before.

    What restarts itself in a loop is caught in the state that was shown, not in each one it passes.
    """
    now = State()
    for pause in AGAIN:
        await asyncio.sleep(pause)
        now = await see_state(request, target, look)
        if now.bound == before.bound:
            break
    return now


def _read_state(planned: _Planned, answer: JSON) -> State:
    found = find_values(answer, planned.told.path) if answer is not None else []
    if not found:
        return State()
    # Each sign that a store or a page would choke on is gone from what is shown, not from the rest.
    shown = "".join(sign if sign.isprintable() else " " for sign in show(found))
    return State(shown.strip() or "empty", _bind(planned, found))


def _read_repair(request: GateRequest, answer: JSON) -> Mapping[str, JSON]:
    """What is declared of the repair that is asked for; empty for other acts."""
    declared = find_values(answer, _REPAIRS) if action_of(request) == REPAIR else []
    wanted = request.arguments.get(REPAIR)
    return next(
        (each for each in declared if isinstance(each, dict) and each.get(REPAIR) == wanted), {}
    )


def _bind(planned: _Planned, found: Sequence[JSON]) -> str:
    """What counts as the same state.

    All our words for running are one, and so are those for stopped. Where an operator only wants
    something contained, the rest may change: it counts up the seconds, say.
    """
    if planned.is_word:
        word = str(found[0]).casefold()
        if word in RUNNING:
            return RUNNING[0]
        return STOPPED[0] if word in STOPPED else canonical(word)
    if planned.told.relation == "contains":
        return canonical([fits(each, planned.told) for each in found])
    return canonical(list(found))


def _plan_look(request: GateRequest, target: Target) -> _Planned | None:
    """The read that says how the target is; None where there is none."""
    if request.is_own_server and request.tool in _BOUND_BY_HASH:
        return None
    if request.is_own_server and target.resource is not None and not _is_about_number(request):
        status = check_status(request.server, target.resource.resource_id, ())
        return _Planned(status, is_word=True)
    check = plan_check(
        request.server, request.tool, request.arguments,
        is_own_server=request.is_own_server, verify=request.verify,
    )  # fmt: skip
    if check is None or not check.expects[0].path:
        return None
    return _Planned(check)


def _is_about_number(request: GateRequest) -> bool:
    """Whether how many there are is what matters, and not how they are."""
    return action_of(request) == "scale"
