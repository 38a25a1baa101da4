"""Which of the configured things are really used by some chain."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from config.model import Config
from config.resolve import (
    ResolvedAgent,
    executions_of,
    resolve_agent,
    resolve_chat,
    resolve_executive_summary,
    resolve_summarizer,
    resolve_synthesis,
)
from config.schema.agents import NativeToolsConfig
from config.schema.chains import ChainConfig
from config.schema.providers import LLMProviderConfig


def providers_in_use(config: Config) -> tuple[LLMProviderConfig, ...]:
    """Every provider that some agent of some chain asks first, falls back to or has summarize."""
    found: dict[str, LLMProviderConfig] = {}
    for chain in config.chains.values():
        for agent in _agents_of(config, chain):
            found[agent.provider_name] = agent.provider
            found.update((each.provider_name, each.provider) for each in agent.fallback_providers)
    # An alert may choose any server, also one that no agent has.
    for server in config.mcp_servers.values():
        block = server.summarization
        named = resolve_summarizer(config, block, config.defaults.llm_backend)
        if block.enabled and named is not None:
            found[named.provider_name] = named.provider
    return tuple(found.values())


def servers_in_use(config: Config) -> tuple[str, ...]:
    """The tool servers that somebody counts on, in order of name.

    Those the operator configured, since an alert may choose any of them, and those of the
    operator's chains and of the chain that takes alerts without a type. What is only built in is
    not: it would be missed on every machine without a cluster.
    """
    default = config.chain_for(config.default_alert_type)
    own = {name for name in config.own_chains if name in config.chains}
    used = {
        server
        for name in own | ({default.name} if default else set())
        for agent in _agents_of(config, config.chains[name])
        for server in agent.mcp_servers
    }
    return tuple(sorted((used | config.own_servers) & config.mcp_servers.keys()))


def servers_only_read(config: Config) -> tuple[str, ...]:
    """The servers in use of which some agent gets only what reads, in order of name.

    One that no agent names counts as well: an alert may choose it.
    """
    levels: dict[str, set[str]] = {}
    for chain in config.chains.values():
        for agent in _agents_of(config, chain):
            for server in agent.mcp_servers:
                levels.setdefault(server, set()).add(agent.control_level)
    usual = {"read_only"}
    return tuple(name for name in servers_in_use(config) if usual & levels.get(name, usual))


def servers_with_autonomy(config: Config) -> tuple[str, ...]:
    """The servers that some agent of some chain uses in `autonomous`, in order of name."""
    used = {
        server
        for chain in config.chains.values()
        for agent in _agents_of(config, chain)
        if agent.control_level == "autonomous"
        for server in agent.mcp_servers
    }
    return tuple(sorted(used & config.mcp_servers.keys()))


def chains_that_name(config: Config, server: str) -> tuple[str, ...]:
    """The chains of which some agent has this tool server, in order of name."""
    return tuple(
        name
        for name, chain in sorted(config.chains.items())
        if any(server in agent.mcp_servers for agent in _agents_of(config, chain))
    )


@dataclass(frozen=True)
class DefaultTools:
    """What the investigating agents of a chain may use where the alert chooses nothing."""

    servers: tuple[str, ...]
    native_tools: Mapping[str, bool]


def default_tools(config: Config, chain: ChainConfig) -> DefaultTools:
    """The servers in the order in which agents name them; a native tool counts if one has it."""
    agents = [
        resolve_agent(config, chain=chain, stage=stage, stage_agent=agent)
        for stage in chain.stages
        for agent in executions_of(stage)
    ]
    native = {
        tool: any(agent.native_tools.get(tool, False) for agent in agents)
        for tool in NativeToolsConfig.model_fields
    }
    servers = dict.fromkeys(name for agent in agents for name in agent.mcp_servers)
    return DefaultTools(tuple(servers), native)


def every_tool(config: Config) -> DefaultTools:
    """All servers there are, in order of name, and the native tools of the default provider."""
    provided = config.llm_providers[config.defaults.llm_provider].native_tools
    native = {tool: provided.get(tool, False) for tool in NativeToolsConfig.model_fields}
    return DefaultTools(tuple(sorted(config.mcp_servers)), native)


def _agents_of(config: Config, chain: ChainConfig) -> Iterator[ResolvedAgent]:
    yield resolve_executive_summary(config, chain)
    if chain.chat.enabled:
        yield resolve_chat(config, chain)
    for stage in chain.stages:
        yield resolve_synthesis(config, chain, stage)
        for agent in executions_of(stage):
            yield resolve_agent(config, chain=chain, stage=stage, stage_agent=agent)
