"""What comes next in a chain, and how a stage ends: tables."""

import pytest

from config.model import Config
from investigations.chain_plan import (
    StagePlan,
    count_stages,
    decide_stage_end,
    plan_chain,
    plan_next,
    plan_stage,
)
from investigations.models import Stage


@pytest.mark.parametrize(
    ("chain", "stages"),
    [("single", 2), ("two-stages", 3), ("parallel", 3), ("strict", 4), ("replicated", 3)],
)
def test_syntheses_and_the_summary_count_as_stages(chains: Config, chain: str, stages: int):
    assert count_stages(chains.chains[chain]) == stages


@pytest.mark.parametrize(
    ("chain", "position", "agents", "policy", "parallel"),
    [
        ("single", 0, ("Alpha",), "any", None),
        ("two-stages", 1, ("Beta",), "any", None),
        ("parallel", 0, ("Alpha", "Beta"), "any", "multi_agent"),
        ("strict", 0, ("Alpha", "Beta"), "all", "multi_agent"),
        ("replicated", 0, ("Alpha-1", "Alpha-2", "Alpha-3"), "any", "replica"),
    ],
)
def test_a_stage_is_planned_as_the_chain_says(
    chains: Config, chain: str, position: int, agents: tuple[str, ...], policy: str, parallel: str
):
    plan = plan_stage(chains, chains.chains[chain], position)

    assert (plan.agent_names, plan.success_policy, plan.parallel_type) == (agents, policy, parallel)
    assert (plan.stage_type, plan.chain_position) == ("investigation", position)


@pytest.mark.parametrize("chain", ["single", "two-stages", "parallel", "strict", "replicated"])
def test_a_whole_chain_is_what_follows_from_stage_to_stage(chains: Config, chain: str):
    wanted = chains.chains[chain]
    followed = [plan_stage(chains, wanted, 0)]
    while True:
        last = followed[-1]
        ended = Stage(
            stage_name=last.stage_name,
            stage_type=last.stage_type,
            chain_position=last.chain_position,
            expected_agent_count=len(last.agent_names),
        )
        following = plan_next(chains, wanted, ended, has_findings=True)
        if following is None:
            break
        followed.append(following)

    assert plan_chain(chains, wanted) == tuple(followed)
    assert len(followed) == count_stages(wanted)


def finished(kind: str, position: int | None, agents: int = 1) -> Stage:
    return Stage(
        stage_name="look", stage_type=kind, chain_position=position, expected_agent_count=agents
    )


@pytest.mark.parametrize(
    ("chain", "stage", "follows"),
    [
        ("single", finished("investigation", 0), ("exec_summary", None, ("ExecSummaryAgent",))),
        ("two-stages", finished("investigation", 0), ("investigation", 1, ("Beta",))),
        ("two-stages", finished("investigation", 1), ("exec_summary", None, ("ExecSummaryAgent",))),
        ("parallel", finished("investigation", 0, 2), ("synthesis", 0, ("SynthesisAgent",))),
        ("replicated", finished("investigation", 0, 3), ("synthesis", 0, ("Judge",))),
        ("strict", finished("synthesis", 0), ("investigation", 1, ("Alpha",))),
        ("parallel", finished("synthesis", 0), ("exec_summary", None, ("ExecSummaryAgent",))),
    ],
)
def test_what_follows_a_completed_stage(
    chains: Config, chain: str, stage: Stage, follows: tuple[object, ...]
):
    plan = plan_next(chains, chains.chains[chain], stage, has_findings=True)

    assert isinstance(plan, StagePlan)
    assert (plan.stage_type, plan.chain_position, plan.agent_names) == follows


def test_nothing_follows_the_summary(chains: Config):
    summary = finished("exec_summary", None)
    assert plan_next(chains, chains.chains["single"], summary, has_findings=True) is None


def test_without_findings_there_is_nothing_to_summarize(chains: Config):
    stage = finished("investigation", 0)
    assert plan_next(chains, chains.chains["single"], stage, has_findings=False) is None


C, F, T, X = "completed", "failed", "timed_out", "cancelled"


@pytest.mark.parametrize(
    ("statuses", "any_policy", "all_policy"),
    [
        ([C], C, C),
        ([C, C], C, C),
        ([C, F], C, F),
        ([C, T], C, T),
        ([C, X], C, X),
        ([C, F, T], C, F),
        ([F], F, F),
        ([T, T], T, T),
        ([X, X], X, X),
        ([F, T], F, F),
        ([T, X], F, F),
        ([], F, F),
    ],
)
def test_a_stage_ends_by_its_policy(statuses: list[str], any_policy: str, all_policy: str):
    assert decide_stage_end(statuses, "any") == any_policy
    assert decide_stage_end(statuses, "all") == all_policy
