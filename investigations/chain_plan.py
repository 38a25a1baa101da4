"""What comes next in a chain, and how a stage ends: pure decisions, no rows written.

stage --(more than one agent)--> its synthesis --> next stage ... --> executive summary --> end
"""

from collections.abc import Sequence
from dataclasses import dataclass

from config.model import Config
from config.resolve import executions_of, success_policy_of
from config.schema.chains import ChainConfig
from investigations.models import Stage

SYNTHESIS_SUFFIX = " - Synthesis"
EXECUTIVE_SUMMARY = "Executive Summary"
CHAT = "Chat"


@dataclass(frozen=True)
class StagePlan:
    """A stage to create: its row's fields and the names of its agents."""

    stage_name: str
    stage_type: str
    chain_position: int | None
    agent_names: tuple[str, ...]
    success_policy: str = Stage.Policy.ANY
    parallel_type: str | None = None


def count_stages(chain: ChainConfig) -> int:
    """How many stages a session of this chain has, synthesis and summary included."""
    syntheses = sum(1 for stage in chain.stages if len(executions_of(stage)) > 1)
    return len(chain.stages) + syntheses + 1


def plan_stage(config: Config, chain: ChainConfig, position: int) -> StagePlan:
    stage = chain.stages[position]
    agents = tuple(agent.name for agent in executions_of(stage))
    parallel_type = None
    if len(agents) > 1:
        is_replica = len(stage.agents) == 1
        parallel_type = Stage.Parallel.REPLICA if is_replica else Stage.Parallel.MULTI_AGENT
    return StagePlan(
        stage_name=stage.name,
        stage_type=Stage.Type.INVESTIGATION,
        chain_position=position,
        agent_names=agents,
        success_policy=success_policy_of(config, stage),
        parallel_type=parallel_type,
    )


def plan_next(
    config: Config, chain: ChainConfig, finished: Stage, *, has_findings: bool
) -> StagePlan | None:
    """The stage after a completed one; None when the session is complete."""
    if finished.stage_type == Stage.Type.EXEC_SUMMARY:
        return None
    position = finished.chain_position
    if position is None:
        return None
    if finished.stage_type != Stage.Type.SYNTHESIS and finished.expected_agent_count > 1:
        return _plan_synthesis(chain, finished.stage_name, position)
    if position + 1 < len(chain.stages):
        return plan_stage(config, chain, position + 1)
    if not has_findings:
        return None
    return _plan_summary()


def plan_chain(config: Config, chain: ChainConfig) -> tuple[StagePlan, ...]:
    """Every stage of a session in which all goes well, in order."""
    plans: list[StagePlan] = []
    for position in range(len(chain.stages)):
        stage = plan_stage(config, chain, position)
        plans.append(stage)
        if len(stage.agent_names) > 1:
            plans.append(_plan_synthesis(chain, stage.stage_name, position))
    return (*plans, _plan_summary())


def _plan_summary() -> StagePlan:
    return StagePlan(EXECUTIVE_SUMMARY, Stage.Type.EXEC_SUMMARY, None, ("ExecSummaryAgent",))


def _plan_synthesis(chain: ChainConfig, stage_name: str, position: int) -> StagePlan:
    agent = chain.stages[position].synthesis.agent or "SynthesisAgent"
    return StagePlan(
        stage_name=f"{stage_name}{SYNTHESIS_SUFFIX}",
        stage_type=Stage.Type.SYNTHESIS,
        chain_position=position,
        agent_names=(agent,),
    )


def plan_answer(chain: ChainConfig) -> StagePlan:
    """The stage that answers a question about a session of this chain."""
    agent = chain.chat.agent or "ChatAgent"
    return StagePlan(CHAT, Stage.Type.CHAT, None, (agent,))


def decide_stage_end(statuses: Sequence[str], policy: str) -> Stage.Status:
    """How a stage ends, from how its executions ended.

    `any` needs one that completed, `all` needs every one. Otherwise the executions' common fate is
    the stage's, and a mixture is `failed`.
    """
    completed = statuses.count(Stage.Status.COMPLETED)
    if statuses and completed == len(statuses):
        return Stage.Status.COMPLETED
    if policy == Stage.Policy.ANY and completed:
        return Stage.Status.COMPLETED
    others = {Stage.Status(status) for status in statuses} - {Stage.Status.COMPLETED}
    if len(others) == 1:
        return others.pop()
    return Stage.Status.FAILED
