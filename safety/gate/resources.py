"""A resource as a resolve tool described it, under its canonical id."""

from dataclasses import dataclass

CONTEXT_ADAPTERS = frozenset({"docker", "kubectl", "pct", "qm"})
"""Ways into a file system and a process space of its own."""
CONTEXT_KINDS = frozenset(
    {"container", "app-container", "docker_container", "system-container", "lxc", "vm", "pod"}
)
HOST_KINDS = frozenset({"host", "node", "agent", "docker-host"})


@dataclass(frozen=True)
class Executor:
    """A way to reach a resource and what may be done on it; the higher priority is preferred."""

    executor_id: str
    adapter: str
    actions: tuple[str, ...] = ()
    priority: int = 0

    def supports(self, action: str) -> bool:
        return not self.actions or "*" in self.actions or action in self.actions


@dataclass(frozen=True)
class Resource:
    """One thing that exists. `provider_uid` names it on its host; the name stands in for it."""

    kind: str
    name: str
    provider_uid: str = ""
    host_uid: str = ""
    host_name: str = ""
    aliases: tuple[str, ...] = ()
    parent: str = ""
    node: str = ""
    location_chain: tuple[str, ...] = ()
    executors: tuple[Executor, ...] = ()
    status: str = ""

    @property
    def resource_id(self) -> str:
        """`kind:host:uid`, or `kind:uid` for what stands on its own."""
        uid = self.provider_uid or self.name
        host = self.host_uid or self.host_name
        return f"{self.kind}:{host}:{uid}" if host else f"{self.kind}:{uid}"

    @property
    def names(self) -> frozenset[str]:
        """Everything it answers to, folded for comparison."""
        every = (self.resource_id, self.name, self.provider_uid, *self.aliases)
        return frozenset(name.casefold() for name in every if name)

    @property
    def allowed_actions(self) -> frozenset[str]:
        return frozenset(action for each in self.executors for action in each.actions)

    def allows(self, action: str) -> bool:
        """Whether some way to it permits the action; where nothing is said, everything is."""
        allowed = self.allowed_actions
        return not allowed or "*" in allowed or action in allowed

    def best_executor(self, action: str) -> Executor | None:
        able = [each for each in self.executors if each.supports(action)]
        return max(able, key=lambda each: each.priority, default=None)

    @property
    def has_own_context(self) -> bool:
        """Whether its files and processes are not those of the host it runs on."""
        adapters = {each.adapter for each in self.executors}
        return self.kind in CONTEXT_KINDS or bool(adapters & CONTEXT_ADAPTERS)

    @property
    def is_host(self) -> bool:
        return self.kind in HOST_KINDS

    def is_within(self, host: "Resource") -> bool:
        """Whether it runs on, or in something on, that host."""
        above = (self.host_uid, self.host_name, self.parent, self.node, *self.location_chain)
        mine = {name.casefold() for name in above if name}
        return self.resource_id != host.resource_id and bool(mine & host.names)
