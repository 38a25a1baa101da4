"""Which settings an agent runs with: from defaults down to the alert, the nearest word counts.

Pure functions of a loaded configuration. Lists of servers and fallbacks replace each other whole;
an empty list of servers says nothing, an empty list of fallbacks clears them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeVar

from config.model import Config
from config.schema.agents import AgentConfig, FallbackConfig
from config.schema.chains import ChainConfig, StageAgentConfig, StageConfig
from config.schema.providers import LLMProviderConfig, has_native_tools
from config.schema.servers import SummarizationConfig
from config.selection import ServerSelection, ToolSelection, parse_selection

__all__ = [
    "ResolvedAgent",
    "ResolvedFallback",
    "ResolvedSummarization",
    "ServerSelection",
    "ToolSelection",
    "executions_of",
    "parse_selection",
    "resolve_agent",
    "resolve_chat",
    "resolve_executive_summary",
    "resolve_summarizer",
    "resolve_synthesis",
    "success_policy_of",
]

ControllerName = Literal["function_calling", "react", "synthesis", "single_call"]
BackendName = Literal["google-native", "langchain"]
ControlLevelName = Literal["read_only", "controlled", "autonomous"]
AgentTypeName = Literal["", "synthesis", "exec_summary", "scoring", "action"]
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class ResolvedFallback:
    provider_name: str
    provider: LLMProviderConfig
    llm_backend: BackendName


@dataclass(frozen=True)
class ResolvedSummarization:
    """How large results of one server are summarized.

    `summarizer` is None where nobody is named: then the model that the agent works with does it.
    """

    threshold_tokens: int
    max_tokens: int
    summarizer: ResolvedFallback | None


@dataclass(frozen=True)
class ResolvedAgent:
    """Everything an execution needs to know about its agent.

    `agent_name` is shown to people and is single within a stage; `definition` is the entry under
    `agents`. `native_tools` is what the provider has, the agent says and the alert says, together;
    `native_wishes` only what the last two say. `tool_filter` has the servers of which only some
    tools were chosen. `skills` are the
    ones it may load, `required_skills` those that stand in its prompt. `summarization` has the
    servers whose large results are summarized.
    """

    agent_name: str
    definition: str
    type: AgentTypeName
    controller: ControllerName
    llm_backend: BackendName
    provider_name: str
    provider: LLMProviderConfig
    fallback_providers: tuple[ResolvedFallback, ...]
    max_iterations: int
    mcp_servers: tuple[str, ...]
    tool_filter: Mapping[str, tuple[str, ...]]
    native_tools: Mapping[str, bool]
    native_wishes: Mapping[str, bool]
    control_level: ControlLevelName
    custom_instructions: str
    required_skills: tuple[str, ...]
    skills: tuple[str, ...]
    summarization: Mapping[str, ResolvedSummarization]


def executions_of(stage: StageConfig) -> tuple[StageAgentConfig, ...]:
    """The agents of a stage as they run: replicas of the first one, or each one once."""
    if stage.replicas > 1:
        first = stage.agents[0]
        return tuple(first.replica(number) for number in range(1, stage.replicas + 1))
    return stage.agents


def success_policy_of(config: Config, stage: StageConfig) -> Literal["any", "all"]:
    """How many of a stage's agents must succeed."""
    return stage.success_policy or config.defaults.success_policy


def resolve_agent(
    config: Config,
    *,
    chain: ChainConfig,
    stage: StageConfig | None,
    stage_agent: StageAgentConfig,
    selection: ToolSelection | None = None,
) -> ResolvedAgent:
    """The settings of one agent in a stage."""
    agent = config.agents[stage_agent.definition]
    backend = _last(
        config.defaults.llm_backend, agent.llm_backend, chain.llm_backend, stage_agent.llm_backend
    )
    iterations = _last(
        config.defaults.max_iterations,
        agent.max_iterations,
        chain.max_iterations,
        stage.max_iterations if stage else None,
        stage_agent.max_iterations,
    )
    servers = _last_filled(
        agent.mcp_servers,
        chain.mcp_servers,
        stage.mcp_servers if stage else (),
        stage_agent.mcp_servers,
    )
    fallbacks = _last(
        config.defaults.fallback_providers,
        chain.fallback_providers,
        stage.fallback_providers if stage else None,
        stage_agent.fallback_providers,
    )
    return _resolved(
        config,
        agent=agent,
        agent_name=stage_agent.name,
        agent_type=agent.type if stage_agent.type is None else stage_agent.type,
        backend=backend,
        provider_name=_last_filled(
            config.defaults.llm_provider,
            chain.llm_provider,
            stage.llm_provider if stage else "",
            stage_agent.llm_provider,
        ),
        tool_calling=_last(
            config.defaults.tool_calling,
            agent.tool_calling,
            chain.tool_calling,
            stage_agent.tool_calling,
        ),
        fallbacks=fallbacks,
        iterations=iterations,
        servers=servers,
        selection=selection,
        control_level=_control_level(config, agent, chain, stage),
        extra=stage_agent,
    )


def resolve_synthesis(config: Config, chain: ChainConfig, stage: StageConfig) -> ResolvedAgent:
    """The settings of the agent that joins the results of a stage. It has no tools."""
    block = stage.synthesis
    agent = config.agents[block.agent or "SynthesisAgent"]
    return _resolved(
        config,
        agent=agent,
        agent_name=agent.name,
        agent_type="synthesis",
        backend=_last(
            config.defaults.llm_backend, agent.llm_backend, chain.llm_backend, block.llm_backend
        ),
        provider_name=_last_filled(
            config.defaults.llm_provider, chain.llm_provider, stage.llm_provider, block.llm_provider
        ),
        fallbacks=_last(
            config.defaults.fallback_providers, chain.fallback_providers, stage.fallback_providers
        ),
        iterations=1,
    )


def resolve_executive_summary(config: Config, chain: ChainConfig) -> ResolvedAgent:
    """The settings of the agent that sums a session up in one call. It has no tools."""
    agent = config.agents["ExecSummaryAgent"]
    return _resolved(
        config,
        agent=agent,
        agent_name=agent.name,
        agent_type="exec_summary",
        backend=_last(config.defaults.llm_backend, agent.llm_backend, chain.llm_backend),
        provider_name=_last_filled(
            config.defaults.llm_provider, chain.llm_provider, chain.executive_summary_provider
        ),
        fallbacks=_last(config.defaults.fallback_providers, chain.fallback_providers),
        iterations=1,
    )


def resolve_chat(
    config: Config, chain: ChainConfig, selection: ToolSelection | None = None
) -> ResolvedAgent:
    """The settings of the agent that answers questions afterwards.

    Without servers at the chain, it gets those of every agent that investigated.
    """
    chat = chain.chat
    agent = config.agents[chat.agent or "ChatAgent"]
    inherited = chain.mcp_servers or tuple(dict.fromkeys(_servers_of_stages(config, chain)))
    return _resolved(
        config,
        agent=agent,
        agent_name=agent.name,
        agent_type=agent.type,
        backend=_last(
            config.defaults.llm_backend, agent.llm_backend, chain.llm_backend, chat.llm_backend
        ),
        provider_name=_last_filled(
            config.defaults.llm_provider, chain.llm_provider, chat.llm_provider
        ),
        tool_calling=_last(
            config.defaults.tool_calling, agent.tool_calling, chain.tool_calling, chat.tool_calling
        ),
        fallbacks=_last(config.defaults.fallback_providers, chain.fallback_providers),
        iterations=_last(
            config.defaults.max_iterations,
            agent.max_iterations,
            chain.max_iterations,
            chat.max_iterations,
        ),
        servers=_last_filled(agent.mcp_servers, inherited, chat.mcp_servers),
        selection=selection,
        control_level=_control_level(config, agent, chain, None),
    )


def _resolved(
    config: Config,
    *,
    agent: AgentConfig,
    agent_name: str,
    agent_type: AgentTypeName,
    backend: BackendName,
    provider_name: str,
    fallbacks: tuple[FallbackConfig, ...],
    iterations: int,
    tool_calling: bool = True,
    servers: tuple[str, ...] = (),
    selection: ToolSelection | None = None,
    control_level: ControlLevelName = "read_only",
    extra: StageAgentConfig | None = None,
) -> ResolvedAgent:
    chosen = selection or ToolSelection()
    provider = config.llm_providers[provider_name]
    required, skills = _skills(config, agent, extra)
    wishes = {**agent.native_tools.overrides(), **chosen.native_tools}
    used_servers = _servers(chosen, servers, provider, backend)
    return ResolvedAgent(
        agent_name=agent_name,
        definition=agent.name,
        type=agent_type,
        controller=_controller(agent_type, provider.tool_calling and tool_calling),
        llm_backend=backend,
        provider_name=provider_name,
        provider=provider,
        fallback_providers=tuple(
            ResolvedFallback(item.provider, config.llm_providers[item.provider], item.backend)
            for item in fallbacks
        ),
        max_iterations=iterations,
        mcp_servers=used_servers,
        tool_filter=MappingProxyType(
            {server.name: server.tools for server in chosen.servers if server.tools}
        ),
        native_tools=MappingProxyType({**provider.native_tools, **wishes}),
        native_wishes=MappingProxyType(wishes),
        control_level=control_level,
        custom_instructions=agent.custom_instructions,
        required_skills=required,
        skills=skills,
        summarization=MappingProxyType(_summarization(config, used_servers, backend)),
    )


def _summarization(
    config: Config, servers: tuple[str, ...], backend: BackendName
) -> dict[str, ResolvedSummarization]:
    """For each server that wants its results summarized: from which size on, and by whom."""
    blocks = {
        name: config.mcp_servers[name].summarization
        for name in servers
        if name in config.mcp_servers
    }
    return {
        name: ResolvedSummarization(
            block.size_threshold_tokens,
            block.summary_max_token_limit,
            resolve_summarizer(config, block, backend),
        )
        for name, block in blocks.items()
        if block.enabled
    }


def resolve_summarizer(
    config: Config, block: SummarizationConfig, backend: BackendName
) -> ResolvedFallback | None:
    """The model named for a server's results, else the one named for all; None when none is.

    A backend is said beside a provider; the default's goes with the default's provider.
    """
    default = config.defaults.summarization
    name = _last_filled(default.llm_provider, block.llm_provider)
    if not name:
        return None
    inherited = None if block.llm_provider else default.llm_backend
    chosen = _last(backend, inherited, block.llm_backend)
    return ResolvedFallback(name, config.llm_providers[name], chosen)


def _servers(
    chosen: ToolSelection,
    configured: tuple[str, ...],
    provider: LLMProviderConfig,
    backend: BackendName,
) -> tuple[str, ...]:
    takes_either_kind = (
        backend == "google-native"
        and provider.tool_calling
        and has_native_tools(provider.type, provider.model)
    )
    if chosen.is_native_only and takes_either_kind:
        return ()
    return tuple(server.name for server in chosen.servers) or configured


def _controller(agent_type: AgentTypeName, calls_natively: bool) -> ControllerName:
    match agent_type:
        case "synthesis":
            return "synthesis"
        case "exec_summary" | "scoring":
            return "single_call"
    return "function_calling" if calls_natively else "react"


def _skills(
    config: Config, agent: AgentConfig, extra: StageAgentConfig | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The required and the loadable skills; what a stage adds, it adds."""
    more_required = extra.required_skills if extra else ()
    required = tuple(dict.fromkeys((*agent.required_skills, *more_required)))
    offered = tuple(config.skills) if agent.skills is None else agent.skills
    more = (extra.skills or ()) if extra else ()
    loadable = dict.fromkeys((*offered, *more))
    return required, tuple(name for name in loadable if name not in required)


def _control_level(
    config: Config, agent: AgentConfig, chain: ChainConfig, stage: StageConfig | None
) -> ControlLevelName:
    return _last(
        config.defaults.control_level,
        agent.control_level,
        chain.control_level,
        stage.control_level if stage else None,
    )


def _servers_of_stages(config: Config, chain: ChainConfig) -> Iterator[str]:
    for stage in chain.stages:
        for stage_agent in stage.agents:
            agent = config.agents[stage_agent.definition]
            yield from _last_filled(agent.mcp_servers, stage.mcp_servers, stage_agent.mcp_servers)


def _last(first: _Value, *more: _Value | None) -> _Value:
    """The last value that is there."""
    for value in more:
        if value is not None:
            first = value
    return first


def _last_filled(first: _Value, *more: _Value) -> _Value:
    """The last value that is neither empty nor absent."""
    for value in more:
        if value:
            first = value
    return first
