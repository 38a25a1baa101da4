"""Everything a chain can have, in one investigation and two questions, from the alert on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.db.models import QuerySet

from investigations.models import (
    AlertSession,
    Event,
    LLMInteraction,
    MCPInteraction,
    Message,
    Stage,
    TimelineEvent,
)
from investigations.stream_messages import wire_metadata
from tests.e2e.conftest import wait_until_ended
from tests.e2e.test_live import Web, post_alert
from tests.e2e.watching import Watcher, watch
from tests.gemini_server import SIGNATURE, GeminiServer
from tests.processes import Process, wait_for
from tests.rehearsal_server import RunningRehearsal

pytestmark = [pytest.mark.worker, pytest.mark.timeout(300)]

STAGES = [
    # index, name, type, parallel type, the stage it is about, agents
    (1, "gather", "investigation", None, None, ["Gatherer"]),
    (2, "check", "investigation", None, None, ["Checker"]),
    (3, "compare", "investigation", "multi_agent", None, ["Quick", "Thorough"]),
    (4, "compare - Synthesis", "synthesis", None, 3, ["SynthesisAgent"]),
    (5, "verify", "investigation", "replica", None, ["Verifier-1", "Verifier-2"]),
    (6, "verify - Synthesis", "synthesis", None, 5, ["SynthesisAgent"]),
    (7, "Executive Summary", "exec_summary", None, None, ["ExecSummaryAgent"]),
    (8, "Chat", "chat", None, None, ["ChatAgent"]),
    (9, "Chat", "chat", None, None, ["ChatAgent"]),
]
MODELS = {
    "Gatherer": ("google-native", "gemini", "gemini-3.7-flash"),
    "Checker": ("langchain", "grok", "grok-4.6"),
    "Quick": ("langchain", "grok", "grok-4.6"),
    "Thorough": ("google-native", "gemini", "gemini-3.7-flash"),
    "Verifier-1": ("langchain", "local", "llama-4"),
    "Verifier-2": ("langchain", "local", "llama-4"),
    "SynthesisAgent": ("langchain", "local", "llama-4"),
    "ExecSummaryAgent": ("langchain", "local", "llama-4"),
    "ChatAgent": ("langchain", "local", "llama-4"),
}
LLM_CALLS = {
    "iteration": 7,
    "final_analysis": 5,
    "forced_conclusion": 1,
    "synthesis": 2,
    "executive_summary": 1,
    "chat_response": 4,
    "summarization": 4,
}
TOOL_CALLS = {
    ("Gatherer", "ops", "metrics"): 1,
    ("Gatherer", "archive", "lines"): 1,
    ("Checker", "ops", "storage"): 1,
    ("Checker", "ops", "metrics"): 1,
    ("Quick", "ops", "metrics"): 1,
    ("Thorough", "archive", "lines"): 1,
    ("Verifier-1", "archive", "lines"): 1,
    ("Verifier-2", "archive", "lines"): 1,
    ("ChatAgent", "ops", "metrics"): 2,
}
ROLES = {
    "Gatherer": ["system", "user", "assistant", "tool", "tool", "assistant"],
    "Checker": ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"],
    "Thorough": ["system", "user", "assistant", "tool", "user", "assistant"],
    "Verifier-1": ["system", "user", "assistant", "tool", "assistant"],
    "ExecSummaryAgent": ["system", "user", "assistant"],
}
LARGE = 5000 * 4
"""Characters from which on a result is worth a summary."""


@dataclass(frozen=True)
class Run:
    """The investigation with its two questions, and what was told of it."""

    session: AlertSession
    watcher: Watcher
    web: Web
    rehearsal: RunningRehearsal

    def get(self, path: str = "") -> Any:
        answer = httpx.get(f"{self.web.url}/api/v1/sessions/{self.session.pk}{path}", timeout=20)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def run(pipeline_worker: Process, web: Web, rehearsal: RunningRehearsal) -> Iterator[Run]:
    session = post_alert(web, {"alert_type": "pipeline", "data": {"alertname": "HighLoad"}})
    with watch(web.socket_url, session.pk) as watcher:
        session = wait_until_ended(session, within=150)
        assert (session.status, session.error_message) == ("completed", "")
        for question in ("Is it still so?", "And now?"):
            _ask(web, session, question)
        session.refresh_from_db()
        watcher.wait_for_seq(session.last_seq)
        yield Run(session, watcher, web, rehearsal)


def _ask(web: Web, session: AlertSession, question: str) -> None:
    url = f"{web.url}/api/v1/sessions/{session.pk}/chat/messages"
    answer = httpx.post(url, json={"content": question}, timeout=20)
    assert answer.status_code == 202, answer.text
    stage = Stage.objects.filter(pk=answer.json()["stage_id"], status__in=Stage.TERMINAL)
    wait_for(stage.exists, within=60, what="the answer")


def test_a_chain_of_four_stages_and_two_questions_leaves_all_that_was_promised(
    run: Run, gemini: GeminiServer
):
    _check_stages(run)
    _check_executions(run)
    _check_interactions(run)
    _check_conversations(run, gemini)
    _check_timeline(run)
    _check_stream(run)
    _check_detail(run)


def _check_stages(run: Run) -> None:
    found = [
        (
            stage.stage_index,
            stage.stage_name,
            stage.stage_type,
            stage.parallel_type,
            stage.referenced_stage.stage_index if stage.referenced_stage else None,
            [each.agent_name for each in stage.executions.order_by("agent_index")],
        )
        for stage in run.session.stages.order_by("stage_index")
    ]
    assert found == STAGES
    assert set(run.session.stages.values_list("status", flat=True)) == {"completed"}
    assert run.session.total_stages == 7


def _check_executions(run: Run) -> None:
    executions = list(run.session.executions.all())
    assert len(executions) == 11
    assert {each.status for each in executions} == {"completed"}
    found = {e.agent_name: (e.llm_backend, e.llm_provider, e.model_name) for e in executions}
    assert found == MODELS
    asked = {r.agent: r.model for r in run.rehearsal.requests if r.agent in MODELS}
    assert asked == {name: model for name, (_, _, model) in MODELS.items()}


def _check_interactions(run: Run) -> None:
    calls = LLMInteraction.objects.filter(session=run.session)
    assert Counter(calls.values_list("interaction_type", flat=True)) == LLM_CALLS
    assert not calls.exclude(error_message="").exists()
    assert len(run.rehearsal.requests) == sum(LLM_CALLS.values())
    tools = MCPInteraction.objects.filter(session=run.session, interaction_type="tool_call")
    names = tools.values_list("execution__agent_name", "server_name", "tool_name")
    assert Counter(names) == TOOL_CALLS
    numbers = sorted(tools.values_list("tool_number", flat=True))
    assert numbers == list(range(1, sum(TOOL_CALLS.values()) + 1))
    _check_summaries(run, [t for t in tools if len(t.tool_result["content"]) > LARGE])
    [thinking] = calls.filter(execution__agent_name="Gatherer", interaction_type="iteration")
    assert (thinking.input_tokens, thinking.output_tokens, thinking.thinking_tokens) == (100, 20, 5)
    assert thinking.thinking_content == "The load first."


def _check_summaries(run: Run, large: list[MCPInteraction]) -> None:
    """Each large result was summarized by a call of the agent's own model, without any tools."""
    agents = sorted(t.execution.agent_name for t in large)
    assert agents == ["Gatherer", "Thorough", "Verifier-1", "Verifier-2"]
    events = run.session.timeline_events.filter(event_type="mcp_tool_summary")
    assert sorted(events.values_list("execution__agent_name", flat=True)) == agents
    models = [event.metadata["summarization_model"] for event in events]
    assert Counter(models) == {"gemini-3.7-flash": 2, "llama-4": 2}
    asked = [r for r in run.rehearsal.requests if r.agent not in MODELS]
    assert len(asked) == len(large)
    assert not any(request.body.get("tools") for request in asked)
    given = Message.objects.filter(session=run.session, tool_name="archive__lines")
    assert all("20,000 lines, each with its number" in message.content for message in given)


def _check_conversations(run: Run, gemini: GeminiServer) -> None:
    for name, roles in ROLES.items():
        messages = run.session.executions.get(agent_name=name).messages
        numbered = messages.order_by("sequence_number").values_list("sequence_number", "role")
        assert list(numbered) == list(enumerate(roles, start=1))
    assert SIGNATURE in gemini.signatures_back
    forced = TimelineEvent.objects.get(
        session=run.session, execution__agent_name="Thorough", event_type="final_analysis"
    )
    assert forced.metadata["forced_conclusion"] is True
    others = TimelineEvent.objects.filter(session=run.session, event_type="final_analysis")
    assert others.filter(metadata__forced_conclusion=True).count() == 1
    second = [r for r in run.rehearsal.requests if r.agent == "ChatAgent" and r.turn == 0][-1]
    prompt = second.body["messages"][1]["content"]
    assert "Is it still so?" in prompt
    assert "It is as before [T" in prompt
    for words in ("Gatherer found", "Verifier-2 found", "All of them agree", "The load was normal"):
        assert words in prompt


def _check_timeline(run: Run) -> None:
    rows = list(run.session.timeline_events.order_by("sequence_number"))
    shown = run.get("/timeline")
    fields = ("event_type", "status", "content", "sequence_number")
    assert [tuple(each[name] for name in fields) for each in shown] == [
        tuple(getattr(row, name) for name in fields) for row in rows
    ]
    assert [each["metadata"] for each in shown] == [wire_metadata(row.metadata) for row in rows]
    assert [each["id"] for each in shown] == [str(row.pk) for row in rows]
    assert {row.status for row in rows} == {"completed"}
    places = [row.sequence_number for row in rows]
    assert places == sorted(set(places))


def _check_stream(run: Run) -> None:
    stored = Event.objects.filter(session=run.session).order_by("seq")
    payloads = list(stored.values_list("payload", flat=True))
    assert [each["db_event_id"] for each in payloads] == list(range(1, run.session.last_seq + 1))
    assert run.watcher.seen == payloads
    told = run.watcher.select("stage.status", "stage_index", "stage_name", "status")
    expected = [
        (index, name, status) for index, name, *_ in STAGES for status in ("started", "completed")
    ]
    assert told == expected
    sessions = run.watcher.select("session.status", "status")
    assert sessions == [("pending",), ("in_progress",), ("completed",)]
    made = run.watcher.select("interaction.created", "interaction_type")
    assert Counter(kind for (kind,) in made) == {
        "llm": sum(LLM_CALLS.values()),
        "mcp": sum(TOOL_CALLS.values()) + _tool_lists(run).count(),
    }


def _tool_lists(run: Run) -> QuerySet[MCPInteraction]:
    """What servers gave: one row for each server and agent, since nothing changed meanwhile."""
    lists = MCPInteraction.objects.filter(session=run.session, interaction_type="tool_list")
    assert {agent for agent, server, _ in TOOL_CALLS if server} <= {
        *lists.values_list("execution__agent_name", flat=True)
    }
    seats = list(lists.values_list("execution_id", "server_name"))
    assert len(seats) == len(set(seats))
    return lists


def _check_detail(run: Run) -> None:
    detail = run.get()
    assert [stage["stage_name"] for stage in detail["stages"]] == [name for _, name, *_ in STAGES]
    assert detail["llm_interaction_count"] == 24
    assert detail["mcp_interaction_count"] == 10 + _tool_lists(run).count()
    calls = LLMInteraction.objects.filter(session=run.session)
    costs = [cost for cost in calls.values_list("estimated_cost_usd", flat=True) if cost]
    assert detail["estimated_cost_usd"] == pytest.approx(sum(costs))
    # The local model has no price, the others have one.
    assert detail["cost_completeness"] == "partial"
    # Above it stands what the archive did not offer for want of a class.
    assert detail["executive_summary"].endswith("\n\nThe load was normal.")
    assert "All of them agree" in detail["final_analysis"]
