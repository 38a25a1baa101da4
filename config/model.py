"""The loaded configuration: checked, frozen, complete."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from config.providers import REHEARSAL
from config.schema.agents import AgentConfig
from config.schema.alert_senders import AlertSenderConfig
from config.schema.alert_sources import AlertSourceConfig
from config.schema.chains import ChainConfig
from config.schema.defaults import DefaultsConfig
from config.schema.fields import nothing
from config.schema.incidents import IncidentsConfig
from config.schema.packs import KnownNoiseConfig, PackConfig
from config.schema.providers import LLMProviderConfig
from config.schema.queue import QueueConfig
from config.schema.servers import MCPServerConfig
from config.schema.system import SystemConfig
from config.skills import Skill
from config.tree import Path
from tarsy.errors import Mistake


@dataclass(frozen=True)
class Config:
    """Everything the files and the built-ins say. Each registry maps names to entries."""

    system: SystemConfig
    queue: QueueConfig
    defaults: DefaultsConfig
    agents: Mapping[str, AgentConfig]
    chains: Mapping[str, ChainConfig]
    mcp_servers: Mapping[str, MCPServerConfig]
    llm_providers: Mapping[str, LLMProviderConfig]
    skills: Mapping[str, Skill]
    alert_sources: Mapping[str, AlertSourceConfig] = field(default_factory=nothing)
    incidents: IncidentsConfig = field(default_factory=IncidentsConfig)
    packs: Mapping[str, PackConfig] = field(default_factory=nothing)
    """What agents without a model work by."""
    known_noise: tuple[KnownNoiseConfig, ...] = ()
    alert_senders: Mapping[str, AlertSenderConfig] = field(default_factory=nothing)
    has_model: bool = True
    """Whether a model is named or found, or others know of it. Else a script stands in for one."""
    own_chains: frozenset[str] = frozenset()
    """Chains that the operator's files define or change; the rest is merely built in."""
    own_servers: frozenset[str] = frozenset()
    """Tool servers, likewise."""
    own_providers: frozenset[str] = frozenset()
    """Models, likewise."""
    needs: tuple[Mistake, ...] = ()
    """What the environment of this process lacks. Whoever asks a model or opens a tool server
    fails for it; whoever only shows pages does not."""
    from_environment: frozenset[Path] = frozenset()
    """Where in the files a value or a key was put in from the environment: it may be a secret."""

    def stands_in(self, provider: str) -> bool:
        """Whether a provider is the rehearsal that nobody has chosen."""
        return provider == REHEARSAL and not self.has_model

    @property
    def default_alert_type(self) -> str:
        return self.defaults.alert_type

    def alert_types(self) -> tuple[str, ...]:
        """Every alert type that some chain takes, in order of name."""
        return tuple(sorted(t for chain in self.chains.values() for t in chain.alert_types))

    def chain_for(self, alert_type: str) -> ChainConfig | None:
        """The chain that takes an alert type."""
        for chain in self.chains.values():
            if alert_type in chain.alert_types:
                return chain
        return None
