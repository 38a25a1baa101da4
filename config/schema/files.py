"""The two files as a whole."""

from pydantic import Field

from config.schema.agents import AgentConfig
from config.schema.chains import ChainConfig
from config.schema.defaults import DefaultsConfig
from config.schema.fields import Block, Table, nothing
from config.schema.providers import LLMProviderConfig
from config.schema.queue import QueueConfig
from config.schema.servers import MCPServerConfig
from config.schema.system import SystemConfig


class Files(Block):
    """`tarsy.yaml` and `llm-providers.yaml` over the built-ins, as one document."""

    system: SystemConfig = Field(default_factory=SystemConfig)
    mcp_servers: Table[MCPServerConfig] = Field(default_factory=nothing)
    agents: Table[AgentConfig] = Field(default_factory=nothing)
    agent_chains: Table[ChainConfig] = Field(default_factory=nothing)
    defaults: DefaultsConfig = Field(default_factory=DefaultsConfig)
    queue: QueueConfig = Field(default_factory=QueueConfig)
    llm_providers: Table[LLMProviderConfig] = Field(default_factory=nothing)
