"""Which settings an agent runs with: from defaults down to the alert, the nearest word counts.

Pure functions of a loaded configuration. Lists of servers and fallbacks replace each other whole;
an empty list of servers says nothing, an empty list of fallbacks clears them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, cast

from config.model import Config
from config.schema.agents import AgentConfig, FallbackConfig
from config.schema.chains import ChainConfig, StageAgentConfig, StageConfig
from config.schema.fields import Block
from config.schema.providers import LLMProviderConfig, has_native_tools
from config.schema.servers import SummarizationConfig
from config.selection import ToolSelection

ControllerName = Literal["function_calling", "react", "synthesis", "single_call", "rules"]
BackendName = Literal["google-native", "langchain"]
ControlLevelName = Literal["read_only", "controlled", "autonomous"]
AgentTypeName = Literal["", "synthesis", "exec_summary", "scoring", "action", "rules"]


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
    packs: tuple[str, ...] = ()
    falls_back_to_rules: bool = False
    proposes: bool = False
    """Whether an agent of rules may ask for a repair."""


def executions_of(stage: StageConfig) -> tuple[StageAgentConfig, ...]:
    """The agents of a stage as they run: replicas of the first one, or each one once."""
    if stage.replicas > 1:
        first = stage.agents[0]
        return tuple(first.replica(number) for number in range(1, stage.replicas + 1))
    return stage.agents


def success_policy_of(config: Config, stage: StageConfig) -> Literal["any", "all"]:
    """How many of a stage's agents must succeed."""
    return stage.success_policy or config.defaults.success_policy


class _Layers:
    """The blocks that may say a setting, from the farthest to the nearest, whose word counts.

    A block that has no such key says nothing about it.
    """

    def __init__(self, *blocks: Block | None) -> None:
        self._blocks = [block for block in blocks if block is not None]

    @property
    def backend(self) -> BackendName:
        return cast(BackendName, self._nearest("llm_backend"))

    @property
    def provider_name(self) -> str:
        return cast(str, self._nearest_filled("llm_provider"))

    @property
    def fallbacks(self) -> tuple[FallbackConfig, ...]:
        return cast(tuple[FallbackConfig, ...], self._nearest("fallback_providers"))

    @property
    def iterations(self) -> int:
        return cast(int, self._nearest("max_iterations"))

    @property
    def tool_calling(self) -> bool:
        return cast(bool, self._nearest("tool_calling"))

    @property
    def control_level(self) -> ControlLevelName:
        return cast(ControlLevelName, self._nearest("control_level"))

    @property
    def servers(self) -> tuple[str, ...]:
        return cast(tuple[str, ...], self._nearest_filled("mcp_servers") or ())

    def _nearest(self, key: str) -> object:
        """The nearest value that is there."""
        said = (getattr(block, key, None) for block in reversed(self._blocks))
        return next((value for value in said if value is not None), None)

    def _nearest_filled(self, key: str) -> object:
        """The nearest value that is neither empty nor absent."""
        said = (getattr(block, key, None) for block in reversed(self._blocks))
        return next(filter(None, said), None)


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
    layers = _Layers(config.defaults, agent, chain, stage, stage_agent)
    return _resolved(
        config,
        agent,
        layers,
        agent_name=stage_agent.name,
        agent_type=agent.type if stage_agent.type is None else stage_agent.type,
        tools=_Tools(layers.servers, selection or ToolSelection(), layers.control_level),
        extra=stage_agent,
    )


def resolve_synthesis(config: Config, chain: ChainConfig, stage: StageConfig) -> ResolvedAgent:
    """The settings of the agent that joins the results of a stage. It has no tools."""
    agent = config.agents[stage.synthesis.agent or "SynthesisAgent"]
    layers = _Layers(config.defaults, agent, chain, stage, stage.synthesis)
    return _resolved(config, agent, layers, agent_type="synthesis")


def resolve_executive_summary(config: Config, chain: ChainConfig) -> ResolvedAgent:
    """The settings of the agent that sums a session up in one call. It has no tools."""
    agent = config.agents["ExecSummaryAgent"]
    layers = _Layers(config.defaults, agent, chain)
    return _resolved(
        config,
        agent,
        layers,
        agent_type="exec_summary",
        provider_name=chain.executive_summary_provider or layers.provider_name,
    )


def resolve_chat(
    config: Config, chain: ChainConfig, selection: ToolSelection | None = None
) -> ResolvedAgent:
    """The settings of the agent that answers questions afterwards.

    Without servers at the chain, it gets those of every agent that investigated.
    """
    agent = config.agents[chain.chat.agent or "ChatAgent"]
    layers = _Layers(config.defaults, agent, chain, chain.chat)
    inherited = chain.mcp_servers or tuple(dict.fromkeys(_servers_of_stages(config, chain)))
    servers = chain.chat.mcp_servers or inherited or agent.mcp_servers
    tools = _Tools(servers, selection or ToolSelection(), layers.control_level)
    return _resolved(config, agent, layers, agent_type=agent.type, tools=tools)


@dataclass(frozen=True)
class _Tools:
    """What an agent may use, by the configuration and by what the alert chose."""

    servers: tuple[str, ...]
    chosen: ToolSelection
    control_level: ControlLevelName

    @property
    def narrowed(self) -> dict[str, tuple[str, ...]]:
        """The tools that were chosen of the servers of which not all were."""
        return {server.name: server.tools for server in self.chosen.servers if server.tools}

    def used_servers(self, provider: LLMProviderConfig, backend: BackendName) -> tuple[str, ...]:
        takes_either_kind = (
            backend == "google-native"
            and provider.tool_calling
            and has_native_tools(provider.type, provider.model)
        )
        if self.chosen.is_native_only and takes_either_kind:
            return ()
        return tuple(server.name for server in self.chosen.servers) or self.servers


_NO_TOOLS = _Tools((), ToolSelection(), "read_only")


def _resolved(
    config: Config,
    agent: AgentConfig,
    layers: _Layers,
    *,
    agent_type: AgentTypeName,
    agent_name: str = "",
    provider_name: str = "",
    tools: _Tools = _NO_TOOLS,
    extra: StageAgentConfig | None = None,
) -> ResolvedAgent:
    """An agent without tools has a single step."""
    backend, name = layers.backend, provider_name or layers.provider_name
    provider = config.llm_providers[name]
    required, skills = _skills(config, agent, extra)
    wishes = {**agent.native_tools.overrides(), **tools.chosen.native_tools}
    servers = tools.used_servers(provider, backend)
    return ResolvedAgent(
        agent_name=agent_name or agent.name,
        definition=agent.name,
        type=agent_type,
        controller=_controller(agent_type, provider.tool_calling and layers.tool_calling),
        llm_backend=backend,
        provider_name=name,
        provider=provider,
        fallback_providers=tuple(
            ResolvedFallback(item.provider, config.llm_providers[item.provider], item.backend)
            for item in layers.fallbacks
        ),
        max_iterations=1 if tools is _NO_TOOLS else layers.iterations,
        mcp_servers=servers,
        tool_filter=MappingProxyType(tools.narrowed),
        native_tools=MappingProxyType({**provider.native_tools, **wishes}),
        native_wishes=MappingProxyType(wishes),
        control_level=(
            "read_only" if agent_type == "rules" and not agent.proposes else tools.control_level
        ),
        custom_instructions=agent.custom_instructions,
        required_skills=required,
        skills=skills,
        summarization=MappingProxyType(_summarization(config, servers, backend)),
        packs=agent.packs or tuple(config.packs),
        proposes=agent.proposes,
        falls_back_to_rules=agent.fallback == "rules",
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
    name = block.llm_provider or default.llm_provider
    if not name:
        return None
    inherited = None if block.llm_provider else default.llm_backend
    chosen = block.llm_backend or inherited or backend
    return ResolvedFallback(name, config.llm_providers[name], chosen)


def _controller(agent_type: AgentTypeName, calls_natively: bool) -> ControllerName:
    match agent_type:
        case "synthesis":
            return "synthesis"
        case "exec_summary" | "scoring":
            return "single_call"
        case "rules":
            return "rules"
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


def _servers_of_stages(config: Config, chain: ChainConfig) -> Iterator[str]:
    for stage in chain.stages:
        for stage_agent in stage.agents:
            agent = config.agents[stage_agent.definition]
            yield from _Layers(agent, stage, stage_agent).servers
