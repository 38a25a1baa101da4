"""The two files as a whole."""

from pydantic import Field

from config.schema.agents import AgentConfig
from config.schema.alert_senders import AlertSenderConfig
from config.schema.alert_sources import AlertSourceConfig
from config.schema.chains import ChainConfig
from config.schema.defaults import DefaultsConfig
from config.schema.fields import Block, List, Table, nothing
from config.schema.incidents import IncidentsConfig
from config.schema.packs import KnownNoiseConfig
from config.schema.providers import LLMProviderConfig
from config.schema.queue_without_effect import QueueWithInertKeys
from config.schema.servers import MCPServerConfig
from config.schema.system import SystemConfig


class Files(Block):
    """`tarsy.yaml` and `llm-providers.yaml` over the built-ins, as one document."""

    system: SystemConfig = Field(default_factory=SystemConfig)
    """The world around the product."""
    mcp_servers: Table[MCPServerConfig] = Field(default_factory=nothing)
    """Tool servers by name. An entry replaces the whole built-in entry of the same name."""
    agents: Table[AgentConfig] = Field(default_factory=nothing)
    """Agents by name. An entry replaces the whole built-in entry of the same name."""
    agent_chains: Table[ChainConfig] = Field(default_factory=nothing)
    """Chains by name. An entry replaces the whole built-in entry of the same name."""
    alert_sources: Table[AlertSourceConfig] = Field(default_factory=nothing)
    """Senders of alerts that TARSy does not know, by the name in their address: where the fields of
    their posts stand, as JMESPath expressions. An entry takes the place of a known source of the
    same name."""
    incidents: IncidentsConfig = Field(default_factory=IncidentsConfig)
    """Which alerts belong together, and when an investigation of them begins."""
    known_noise: List[KnownNoiseConfig] = ()
    """Findings of rules that somebody knows and does not want to be told as causes for a while."""
    alert_senders: Table[AlertSenderConfig] = Field(default_factory=nothing)
    """Who may send posts of an alert source without an API token, by the name in their address."""
    defaults: DefaultsConfig = Field(default_factory=DefaultsConfig)
    """What holds where nothing nearer says otherwise."""
    queue: QueueWithInertKeys = Field(default_factory=QueueWithInertKeys)
    """How many sessions run at once, and the times that govern them."""
    llm_providers: Table[LLMProviderConfig] = Field(default_factory=nothing)
    """Models by name; the section stands in `llm-providers.yaml`. An entry replaces the whole
    built-in entry of the same name."""
