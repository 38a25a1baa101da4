"""What a call is done to, and whether it may be done to that at all."""

from dataclasses import dataclass

from safety.evidence import OF_THE_PAST
from safety.gate.execution_state import Standing
from safety.gate.resolution import (
    require_any_resource,
    require_seen,
    resolve_resource,
    resolve_target,
)
from safety.gate.resources import Resource
from safety.gate.routing import (
    find_meant,
    find_more_specific,
    refuse_execution_context,
    refuse_mismatch,
    transport_of,
)
from safety.gate_port import GateRequest
from safety.refusals import Refusal
from safety.targets import Identifier, find_identifiers, find_ops_target

_ROUTED = frozenset({"read", "control", "file_edit"})
"""Our tools whose calls end in a file system or a process space."""


@dataclass(frozen=True)
class State:
    """How a target was seen: in a line for people, and as what counts as the same state.

    Both are empty where nothing was seen. `does` and `undo` are what its operator declares of the
    act that is asked for, and of how it is taken back.
    """

    shown: str = ""
    bound: str = ""
    does: str = ""
    undo: str = ""


@dataclass(frozen=True)
class Target:
    """`resource` where our resolve tools know it; `identifiers` where names are all there is.

    `state` is how it was seen right before a person was asked.
    """

    name: str = ""
    resource: Resource | None = None
    identifiers: tuple[Identifier, ...] = ()
    state: State = State()


def find_target(request: GateRequest, standing: Standing) -> Target | Refusal:
    """The target of a call, or why the call may not reach it. Only writes need one."""
    if request.is_own_server:
        return _find_own_target(request, standing)
    if request.tool_class != "write":
        return Target()
    identifiers = find_identifiers(request.arguments, request.identifies)
    refusal = require_seen(identifiers, request.tool, standing.evidence)
    if refusal is not None:
        return refusal
    named = [each.value for each in identifiers if not each.is_scope]
    return Target(", ".join(named), identifiers=identifiers)


def action_of(request: GateRequest) -> str:
    """What a call does, by the argument that says so, else by its tool."""
    for argument in ("action", "operation", "type"):
        value = request.arguments.get(argument)
        if isinstance(value, str) and value:
            return value
    return request.tool


def _find_own_target(request: GateRequest, standing: Standing) -> Target | Refusal:
    name, context = find_ops_target(request.arguments), standing.context
    if request.tool in _ROUTED:
        specific = find_more_specific(name, context) if name else find_meant(context)
        if specific:
            return refuse_mismatch(name, specific)
    if request.tool_class != "write":
        runs_command = isinstance(request.arguments.get("command"), str)
        refusal = require_any_resource(action_of(request), context) if runs_command else None
        return refusal or Target(name)
    action = action_of(request)
    if request.tool in OF_THE_PAST:
        # What is written down about a resource takes no way into it.
        resource = resolve_resource(name, action, context)
        return resource if isinstance(resource, Refusal) else Target(resource.resource_id, resource)
    resource = resolve_target(name, action, context)
    if isinstance(resource, Refusal):
        return resource
    refusal = refuse_execution_context(resource, transport_of(resource, action))
    return refusal or Target(resource.resource_id, resource)
