"""Sessions that no model has a part in, from their first call to the end of the session."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from agents.citations import Ref
from agents.llm_events import AnswerFinished
from agents.types import WITHOUT_MODEL
from config import use_config
from config.access import load_config
from investigations.engine import language_models, pipeline
from investigations.models import AgentExecution, AlertSession, LLMInteraction, TimelineEvent
from investigations.selectors.claims import judge_report
from investigations.selectors.session_page.causal_chain import read_chain
from investigations.selectors.session_page.page import read_session_page
from investigations.services.stages import advance_stage
from investigations.stream.fragments import session_context
from tarsy.aio import WorkerLoop
from tarsy.errors import LLMError
from tests.agents.doubles import ScriptedLLM, say
from tests.investigations.engine import committed, current_stage, executions_of, start_session

pytestmark = committed

TARSY = """\
mcp_servers:
  ops: {transport: {type: in_process}}
agents:
  FirstLook: {type: rules, mcp_servers: [ops], packs: [host]}
  Model: {mcp_servers: [ops], fallback: rules, packs: [host]}
agent_chains:
  by-rules:
    alert_types: [by-rules]
    stages: [{name: look, agents: [{name: FirstLook}]}]
  side-by-side:
    alert_types: [side-by-side]
    stages: [{name: look, agents: [{name: FirstLook}, {name: Model}]}]
  one-after-the-other:
    alert_types: [one-after-the-other]
    stages: [{name: think, agents: [{name: Model}]}, {name: look, agents: [{name: FirstLook}]}]
  two-models:
    alert_types: [two-models]
    stages: [{name: look, agents: [{name: Model}]}]
    fallback_providers: [{provider: other, backend: langchain}]
defaults: {llm_provider: away, max_retries: 0}
"""
PROVIDERS = """\
llm_providers:
  away: {type: openai, model: none, base_url: "http://127.0.0.1:9/v1", api_key_env: AWAY_KEY}
  other: {type: openai, model: none, base_url: "http://127.0.0.1:9/v1", api_key_env: OTHER_KEY}
"""

KEYS = {"AWAY_KEY": "invented-key-0001", "OTHER_KEY": "invented-key-0002"}
REFUSED = [LLMError("credentials", "The provider refused the key (401).")]
SILENT = [AnswerFinished("stop")]


@pytest.fixture
def loop(
    loop: WorkerLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_redis: object
) -> Iterator[WorkerLoop]:
    (tmp_path / "tarsy.yaml").write_text(TARSY)
    (tmp_path / "llm-providers.yaml").write_text(PROVIDERS)
    monkeypatch.setenv("AWAY_KEY", "invented-key-0001")
    monkeypatch.setenv("OTHER_KEY", "invented-key-0002")
    with use_config(load_config(tmp_path, KEYS)):
        yield loop


def run_to_the_end(session: AlertSession, loop: WorkerLoop) -> AlertSession:
    for _ in range(5):
        stage = current_stage(session)
        if stage.is_terminal:
            break
        for execution in executions_of(stage):
            pipeline.run_execution(execution.pk, "worker-1", loop)
        advance_stage(stage.pk)
    session.refresh_from_db()
    return session


def test_a_session_of_rules_ends_with_a_report_and_no_question_to_a_model(loop):
    session = run_to_the_end(start_session("by-rules"), loop)

    assert session.status == AlertSession.Status.COMPLETED
    assert session.final_analysis.count("## ") == 5
    assert session.executive_summary
    assert not LLMInteraction.objects.exists()
    execution = AgentExecution.objects.order_by("started_at")[0]
    assert (execution.model_name, execution.llm_provider) == ("", "")
    calls = TimelineEvent.objects.filter(execution=execution, event_type="llm_tool_call")
    assert calls.count() >= 1
    assert {call.status for call in calls} == {"completed"}
    report = TimelineEvent.objects.get(execution=execution, event_type="final_analysis")
    assert report.metadata["by_rules"] is True
    assert set(report.metadata["rules"]) >= {"causes", "aside", "noise", "well"}
    states = judge_report(session.pk, session.final_analysis).states
    assert not {"misquoted", "failed"} & set(states)


def test_a_chain_whose_providers_are_all_away_ends_with_what_rules_found(loop):
    session = run_to_the_end(start_session("side-by-side"), loop)

    assert session.status == AlertSession.Status.COMPLETED
    reports = TimelineEvent.objects.filter(event_type="final_analysis").order_by("sequence_number")
    by_agent = {each.execution.agent_name: each.content for each in reports}
    assert by_agent["Model"].startswith(WITHOUT_MODEL)
    assert not by_agent["FirstLook"].startswith(WITHOUT_MODEL)
    assert session.final_analysis.count("## ") == 5
    assert session.executive_summary


def test_a_report_of_a_later_stage_says_for_whom_rules_stood_in_before(loop):
    session = run_to_the_end(start_session("one-after-the-other"), loop)

    assert session.status == AlertSession.Status.COMPLETED
    for text in (session.final_analysis, session.executive_summary):
        assert text.startswith(f"{WITHOUT_MODEL} `Model`: The provider")
        assert text.count(WITHOUT_MODEL) == 1


@pytest.mark.parametrize(
    ("unset", "first", "second", "status", "is_by_rules"),
    [
        ("", REFUSED, REFUSED, "completed", True),
        ("", REFUSED, say("The disk is full."), "completed", False),
        ("AWAY_KEY", None, say("The disk is full."), "completed", False),
        ("AWAY_KEY", None, REFUSED, "completed", True),
        ("", SILENT, say("Never asked."), "failed", False),
        ("", REFUSED, SILENT, "failed", False),
    ],
    ids=["both_refuse", "other_answers", "other_has_a_key", "no_key", "silent", "other_is_silent"],
)
def test_rules_take_over_only_where_every_provider_has_failed(
    loop, monkeypatch, unset, first, second, status, is_by_rules
):
    plays = {"away": first, "other": second}
    monkeypatch.setattr(
        language_models, "make_llm",
        lambda settings: ScriptedLLM([plays[settings.provider_name]], settings.provider_name),
    )  # fmt: skip
    monkeypatch.setattr(
        language_models, "environment",
        lambda: {name: value for name, value in KEYS.items() if name != unset},
    )  # fmt: skip
    session = start_session("two-models")
    execution = executions_of(current_stage(session))[0]

    pipeline.run_execution(execution.pk, "worker-1", loop)

    execution.refresh_from_db()
    reports = TimelineEvent.objects.filter(execution=execution, event_type="final_analysis")
    by_rules = [each.content.startswith(WITHOUT_MODEL) for each in reports]
    assert (execution.status, any(by_rules)) == (status, is_by_rules)


def test_a_box_of_the_chain_opens_the_place_that_its_claim_quotes(loop):
    session = run_to_the_end(start_session("by-rules"), loop)
    report = TimelineEvent.objects.get(
        event_type="final_analysis", stage__stage_type="investigation"
    )
    links = [
        {"kind": "unit", "name": "a", "says": "", "calls": [1, 2], "quotes": ["93 % <full>", ""]},
        {"kind": "unit", "name": "b", "says": "", "calls": [1]},
    ]
    report.metadata["rules"]["causes"] = [{"finding": {}, "symptoms": [], "chain": links}]
    report.save(update_fields=["metadata"])

    first, second = read_chain(session.pk)

    assert first.cites == (Ref(1, "93 % <full>"), Ref(2))
    assert second.cites == (Ref(1),)


def test_the_page_draws_the_chain_from_the_cause_to_the_symptom(loop):
    session = run_to_the_end(start_session("by-rules"), loop)
    report = TimelineEvent.objects.get(
        event_type="final_analysis", stage__stage_type="investigation"
    )
    links = [
        {"kind": "file system", "name": "/var<b>", "says": "`/var` is full", "calls": [1]},
        {"kind": "unit", "name": "db.service", "says": "", "calls": []},
    ]
    report.metadata["rules"]["causes"] = [{"finding": {}, "symptoms": [], "chain": links}]
    report.save(update_fields=["metadata"])

    context = session_context(read_session_page(session))
    page = render_to_string("investigations/session/conclusion.html", context)

    assert page.count('class="t-chain-kind"') == 2
    assert "/var&lt;b&gt;" in page
    assert page.index("/var&lt;b&gt;") < page.index("db.service")
    assert "Nothing was found here itself. It depends on /var&lt;b&gt;." in page
