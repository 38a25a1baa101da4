"""Discovery before action: a write names only what a tool of this execution returned."""

from dataclasses import replace

from safety.evidence import Evidence
from safety.gate.resolved_context import ResolvedContext
from safety.gate.resources import Resource
from safety.refusals import Refusal
from safety.targets import Identifier

BOUNDARY = "a write names only what a resolve or read tool returned in this execution"


def resolve_target(name: str, action: str, context: ResolvedContext) -> Resource | Refusal:
    """The one resource a write of our own server is for, or why there is none."""
    resource = resolve_resource(name, action, context)
    if isinstance(resource, Refusal) or resource.allows(action):
        return resource
    return Refusal(
        "ACTION_NOT_ALLOWED",
        f"{action} is not among the actions allowed on {resource.resource_id}.",
        {
            "resource_id": resource.resource_id,
            "action": action,
            "allowed_actions": list(sorted(resource.allowed_actions)),
        },
        rule="not_offered_there",
    )


def resolve_resource(name: str, action: str, context: ResolvedContext) -> Resource | Refusal:
    """The one resource of that name, whatever may be done to it, or why there is none."""
    if not name:
        return _not_resolved("", action, "the call names no resource")
    found = context.find_all(name)
    if not found:
        return _not_resolved(name, action, f"{name} was not resolved in this execution")
    if len(found) > 1:
        ids = sorted(each.resource_id for each in found)
        refusal = _not_resolved(name, action, f"{name} is the name of {len(found)} resources")
        return replace(
            refusal, details={**refusal.details, "candidates": list(ids[:20])}, retryable=False
        )
    return found[0]


def require_any_resource(action: str, context: ResolvedContext) -> Refusal | None:
    """A command that reads may run once this execution knows where it is at all."""
    if len(context):
        return None
    return _not_resolved("", f"{action} (read-only)", "no resource was resolved in this execution")


def require_seen(
    identifiers: tuple[Identifier, ...], action: str, evidence: Evidence
) -> Refusal | None:
    """Every identifying argument of a write must stand in a result of this execution."""
    for each in identifiers:
        is_known = evidence.has_returned(each.value) or (
            each.is_scope and evidence.has_read_within(each.argument, each.value)
        )
        if not is_known:
            message = f"{each.argument} {each.value} occurs in no result of this execution"
            refusal = _not_resolved(each.value, action, message)
            return replace(
                refusal, details={**refusal.details, "argument": each.argument}, retryable=False
            )
    return None


def _not_resolved(name: str, action: str, message: str) -> Refusal:
    details = {"resource_id": name, "action": action, "policy_boundary": BOUNDARY}
    return Refusal(
        "STRICT_RESOLUTION", f"{message}.", dict(details), retryable=True, rule="not_found_yet"
    )
