"""Context binding: what is meant for a container or a guest never lands on the host below it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from agents.types import JSON
from safety.gate.resolved_context import ResolvedContext
from safety.gate.resources import CONTEXT_ADAPTERS, Resource
from safety.refusals import Refusal

BOUNDARY = "files and processes of a container or a guest are not those of its host"
DIRECT = "direct"
NO_TRANSPORT = "none"
_TRANSPORTS = {
    "pct": ("pct_exec", "container"),
    "qm": ("qm_guest_exec", "vm"),
    "docker": ("docker_exec", "container"),
    "kubectl": ("kubectl_exec", "pod"),
}


@dataclass(frozen=True)
class Route:
    """How a call reaches what it names: the provenance that goes with its result."""

    requested_target_host: str
    resolved_kind: str
    transport: str
    resolved_node: str = ""
    agent_host: str = ""
    agent_id: str = ""
    target_type: str = ""
    target_id: str = ""

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


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
    )


def find_route(
    target: str, context: ResolvedContext, agents: Mapping[str, str], action: str = "exec"
) -> Route | None:
    """How to reach a target: by what is resolved, and only else by the name of a host.

    `agents` are the hosts with an executor, by its id. Names of hosts are compared without case
    and without their domain.
    """
    resource = _most_specific(context.find_all(target))
    if resource is None:
        agent_id = _find_agent(target, agents)
        if agent_id is None:
            return None
        return Route(
            target, "agent", DIRECT, agent_host=agents[agent_id], agent_id=agent_id,
            target_type="host", target_id=agent_id,
        )  # fmt: skip
    return _route_to(target, resource, agents, action)


def _route_to(target: str, resource: Resource, agents: Mapping[str, str], action: str) -> Route:
    node = resource.node or resource.host_name or resource.host_uid
    if not resource.has_own_context:
        node = node or resource.name
    agent_id = _find_agent(node, agents)
    executor = resource.best_executor(action)
    adapter = executor.adapter if executor is not None else ""
    transport, target_type = _TRANSPORTS.get(adapter, (DIRECT, "host"))
    if agent_id is None:
        transport = NO_TRANSPORT
    return Route(
        requested_target_host=target,
        resolved_kind=resource.kind,
        transport=transport,
        resolved_node=node,
        agent_host=agents[agent_id] if agent_id is not None else "",
        agent_id=agent_id or "",
        target_type=target_type,
        target_id=resource.provider_uid or resource.name,
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
    )


def transport_of(resource: Resource, action: str) -> str:
    """What a write on this resource would go through, by its own executors."""
    executor = resource.best_executor(action)
    if executor is None:
        return NO_TRANSPORT
    return executor.adapter if executor.adapter in CONTEXT_ADAPTERS else DIRECT


def _most_specific(found: tuple[Resource, ...]) -> Resource | None:
    inner = [each for each in found if each.has_own_context]
    return next(iter(inner or found), None)


def _find_agent(host: str, agents: Mapping[str, str]) -> str | None:
    wanted = host.casefold()
    for agent_id, name in agents.items():
        if wanted in (agent_id.casefold(), name.casefold()):
            return agent_id
    short = wanted.partition(".")[0]
    same = [key for key, name in agents.items() if name.casefold().partition(".")[0] == short]
    return same[0] if len(same) == 1 else None
