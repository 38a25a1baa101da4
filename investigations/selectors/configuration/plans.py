"""What an alert would set in motion: the chain's stages with the settings its agents would get."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from config.model import Config
from config.resolve import (
    ResolvedAgent,
    executions_of,
    resolve_agent,
    resolve_executive_summary,
    resolve_synthesis,
)
from config.schema.chains import ChainConfig
from config.schema.providers import has_native_tools
from config.selection import ToolSelection
from config.words import list_names
from investigations.chain_plan import StagePlan, plan_chain
from investigations.models import AlertSession, Stage
from investigations.selectors.configuration.unclassed import find_unclassed
from investigations.selectors.costs import costs_by_session
from investigations.selectors.sessions import visible_sessions
from investigations.selectors.system.tool_servers import ToolServer

NATIVE_BACKEND = "google-native"
_LOOKED_AT = 50
"""How many of a chain's newest sessions say what is usual."""
_FEWEST = 4


@dataclass(frozen=True)
class PlannedStage:
    """A stage and its agents, each with the settings it would run with."""

    name: str
    stage_type: str
    agents: tuple[ResolvedAgent, ...]
    needs_all: bool = False

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for agent in self.agents for name in agent.mcp_servers))

    @property
    def native_tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(t for agent in self.agents for t in native_tools_of(agent)))

    @property
    def control_level(self) -> str:
        return self.agents[0].control_level

    @property
    def is_synthesis(self) -> bool:
        return self.stage_type == Stage.Type.SYNTHESIS

    @property
    def is_summary(self) -> bool:
        return self.stage_type == Stage.Type.EXEC_SUMMARY


@dataclass(frozen=True)
class Plan:
    """All that would run for an alert, if all goes well."""

    chain: ChainConfig
    stages: tuple[PlannedStage, ...]
    parts: Mapping[str, str] = field(default_factory=dict)
    """Of each server of which only some tools are meant: how many, in words."""

    @property
    def agents(self) -> tuple[ResolvedAgent, ...]:
        return tuple(agent for stage in self.stages for agent in stage.agents)

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for stage in self.stages for name in stage.servers))

    def only_reads(self, server: str) -> bool:
        """Whether some agent would get this server's tools only as far as they read."""
        return any(
            server in agent.mcp_servers and agent.control_level == "read_only"
            for agent in self.agents
        )

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """Provider and model of every agent, each pair once."""
        pairs = ((agent.provider_name, agent.provider.model) for agent in self.agents)
        return tuple(dict.fromkeys(pairs))


@dataclass(frozen=True)
class Usual:
    """What the middle half of a chain's newest completed sessions took."""

    seconds: tuple[float, float]
    dollars: tuple[float, float] | None


def make_plan(
    config: Config,
    chain: ChainConfig,
    selection: ToolSelection | None = None,
    servers: Mapping[str, ToolServer] | None = None,
) -> Plan:
    """The plan for an alert that makes this choice of tools, or none, of the servers as seen."""
    chosen = selection or ToolSelection()
    stages = (_plan_stage(config, chain, each, chosen) for each in plan_chain(config, chain))
    return Plan(chain, tuple(stages), dict(_count_parts(chosen, servers or {})))


def _count_parts(
    selection: ToolSelection, servers: Mapping[str, ToolServer]
) -> Iterator[tuple[str, str]]:
    for name, tools in selection.servers:
        if tools:
            listed = {tool["name"] for tool in servers[name].tools} if name in servers else set()
            count, total = len({*tools}), len(listed | {*tools})
            of_all = f" of {total}" if listed else ""
            yield name, f"{count}{of_all} tool{'' if total == 1 else 's'}"


def _plan_stage(
    config: Config, chain: ChainConfig, plan: StagePlan, selection: ToolSelection
) -> PlannedStage:
    agents = tuple(_resolve(config, chain, plan, selection))
    needs_all = plan.success_policy == Stage.Policy.ALL and len(agents) > 1
    return PlannedStage(plan.stage_name, plan.stage_type, agents, needs_all)


def _resolve(
    config: Config, chain: ChainConfig, plan: StagePlan, selection: ToolSelection
) -> Iterator[ResolvedAgent]:
    if plan.stage_type == Stage.Type.EXEC_SUMMARY or plan.chain_position is None:
        yield resolve_executive_summary(config, chain)
        return
    stage = chain.stages[plan.chain_position]
    if plan.stage_type == Stage.Type.SYNTHESIS:
        yield resolve_synthesis(config, chain, stage)
        return
    for agent in executions_of(stage):
        yield resolve_agent(
            config, chain=chain, stage=stage, stage_agent=agent, selection=selection
        )


def native_tools_of(agent: ResolvedAgent) -> tuple[str, ...]:
    """The tools that would run at the model's provider."""
    provider = agent.provider
    has_any = agent.llm_backend == NATIVE_BACKEND and has_native_tools(
        provider.type, provider.model
    )
    return tuple(name for name, is_on in agent.native_tools.items() if is_on) if has_any else ()


def doubts_about(
    plan: Plan, selection: ToolSelection, servers: Mapping[str, ToolServer]
) -> tuple[str, ...]:
    """What would not go as the sender may think: sentences for people."""
    return (
        *_about_servers(plan, servers),
        *_about_unclassed(plan, selection, servers),
        *_about_tools(selection, servers),
        *_about_native_tools(plan, selection),
    )


def _about_servers(plan: Plan, servers: Mapping[str, ToolServer]) -> Iterator[str]:
    down = [name for name in plan.servers if name in servers and servers[name].state == "unhealthy"]
    if down:
        verb = "are" if len(down) > 1 else "is"
        yield f"{list_names(down)} {verb} down now. Agents run without it and say so."


def _about_unclassed(
    plan: Plan, selection: ToolSelection, servers: Mapping[str, ToolServer]
) -> Iterator[str]:
    """What its agents would not be offered because nobody has said that it only reads."""
    reads = [name for name in plan.servers if plan.only_reads(name)]
    chosen = {name: tools for name, tools in selection.servers if tools}
    meant = {
        name: server.only(chosen[name]) if name in chosen else server
        for name, server in servers.items()
    }
    if unclassed := find_unclassed(meant, reads):
        yield f"{unclassed.sentence}. {unclassed.details}"


def _about_tools(selection: ToolSelection, servers: Mapping[str, ToolServer]) -> Iterator[str]:
    for chosen in selection.servers:
        listed = {tool["name"] for tool in servers[chosen.name].tools} if servers else set()
        missing = [name for name in chosen.tools or () if listed and name not in listed]
        if missing:
            yield f"{chosen.name} does not list {list_names(missing)} now."


def _about_native_tools(plan: Plan, selection: ToolSelection) -> Iterator[str]:
    wanted = [name for name, is_on in selection.native_tools.items() if is_on]
    given = {name for stage in plan.stages for name in stage.native_tools}
    missing = [name for name in wanted if name not in given]
    if missing:
        yield f"No agent of this chain has a model with {list_names(missing)}."


def read_usual(chain_id: str) -> Usual | None:
    """What is usual for a chain; None while too few of its sessions have completed."""
    rows = list(
        visible_sessions()
        .filter(chain_id=chain_id, status=AlertSession.Status.COMPLETED)
        .order_by("-created_at")
        .values_list("pk", "started_at", "completed_at")[:_LOOKED_AT]
    )
    if len(rows) < _FEWEST:
        return None
    costs = costs_by_session([row[0] for row in rows]).values()
    dollars = [each.estimated_cost_usd for each in costs if each.estimated_cost_usd is not None]
    return Usual(
        _middle_half([(end - start).total_seconds() for _, start, end in rows if start and end]),
        _middle_half(dollars) if len(dollars) >= _FEWEST else None,
    )


def _middle_half(values: Sequence[float]) -> tuple[float, float]:
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high
