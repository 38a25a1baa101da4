"""Which executions have to take up what rules are certain of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import config
from agents.empty_toolbox import EmptyToolbox
from investigations.engine.agent_tasks import make_task
from investigations.engine.briefing import Briefing, brief
from tests.investigations.prompts import story

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def chains(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GOLDEN_PROMPTS_KEY", "a-key")
    config.configure(Path(__file__).parent / "config")
    yield
    config.configure(None)


def found_for(seconds: int) -> dict[str, object]:
    finding = {
        "sure": "certain", "rule": "host.stalled", "entity": "unit:db", "calls": [seconds],
        "says": f"db has waited for {seconds} s",
    }  # fmt: skip
    return {"causes": [{"finding": finding}]}


def tell_rules(told: story.Story, position: int, seconds: int) -> None:
    agent = told.add_agent(told.add_stage(f"look {position}", chain_position=position), "FirstLook")
    told.tell(
        agent, "final_analysis", "It waits.", by_rules=True, rules=found_for(seconds)
    )  # fmt: skip


def certain_for(briefing: Briefing) -> list[str]:
    return [each.says for each in make_task(briefing, EmptyToolbox(), ends_at=0.0).findings]


def test_a_later_stage_takes_a_finding_up_once_and_a_chat_answers_its_question():
    told = story.begin("checkout")
    tell_rules(told, 0, 14)
    tell_rules(told, 1, 16)
    later = told.add_stage("compare", chain_position=2)

    assert certain_for(brief(told.claim(later, "Network"))) == ["db has waited for 16 s"]

    asked = story.ask(told, "Is it still so?")
    assert certain_for(brief(told.claim(asked, "ChatAgent"))) == []
