"""Context binding: what is meant for a container or a guest never lands on the host below it."""

from safety.gate.resolved_context import ResolvedContext
from safety.gate.resources import CONTEXT_ADAPTERS, Resource
from safety.refusals import Refusal

BOUNDARY = "files and processes of a container or a guest are not those of its host"
DIRECT = "direct"
NO_TRANSPORT = "none"


def find_more_specific(target: str, context: ResolvedContext) -> tuple[Resource, ...]:
    """What was explicitly asked for in this turn and runs on the host that a call names.

    A name that both a host and something on it bear means what is on it: topology goes first.
    """
    found = context.find_all(target)
    if not found or not all(each.is_host for each in found):
        return ()
    return tuple(
        each
        for each in context.resources
        if each.has_own_context
        and context.is_explicit(each.resource_id)
        and any(each.is_within(host) for host in found)
    )


def find_meant(context: ResolvedContext) -> tuple[Resource, ...]:
    """What a call that names no target would miss, as it lands on this machine.

    Nothing, where a host was explicitly asked for as well: then it may be what is meant.
    """
    meant = [each for each in context.resources if context.is_explicit(each.resource_id)]
    if any(each.is_host for each in meant):
        return ()
    return tuple(each for each in meant if each.has_own_context)


def refuse_mismatch(target: str, specific: tuple[Resource, ...]) -> Refusal:
    """The refusal of a call that would land below what is meant."""
    names = [each.name for each in specific]
    where = f"{target} is a host" if target else "Without a target this is about the host"
    return Refusal(
        "ROUTING_MISMATCH",
        f"{where}, and more specific resources were asked for: {', '.join(names)}.",
        {
            "target_host": target,
            "more_specific_resources": list(names),
            "more_specific_resource_ids": [each.resource_id for each in specific],
            "policy_boundary": BOUNDARY,
        },
        retryable=True,
        rule="other_place",
    )


def refuse_execution_context(resource: Resource, transport: str) -> Refusal | None:
    """A write for something with a context of its own must go in there, or nowhere."""
    if not resource.has_own_context or transport not in (DIRECT, NO_TRANSPORT):
        return None
    node = resource.node or resource.host_name or resource.host_uid
    return Refusal(
        "EXECUTION_CONTEXT_UNAVAILABLE",
        f"{resource.name} has a context of its own and no way leads into it.",
        {
            "target_host": resource.name,
            "resolved_kind": resource.kind,
            "resolved_node": node,
            "transport": transport,
        },
        rule="no_way_in",
    )


def transport_of(resource: Resource, action: str) -> str:
    """What a write on this resource would go through, by its own executors."""
    executor = resource.best_executor(action)
    if executor is None:
        return NO_TRANSPORT
    return executor.adapter if executor.adapter in CONTEXT_ADAPTERS else DIRECT
