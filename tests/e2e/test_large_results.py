"""Results too large for a model: summarized, put into short form, and recalled."""

from collections.abc import Callable

import pytest

from investigations.models import (
    AlertSession,
    LLMInteraction,
    MCPInteraction,
    Message,
    TimelineEvent,
)
from investigations.services.chat import ask_question
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import ANSWERS
from tests.e2e.test_chat import wait_for_stage
from tests.processes import Process
from tests.rehearsal_server import RunningRehearsal

pytestmark = pytest.mark.worker

SUMMARY = "{text: All 20000 lines are numbered and none tells of trouble.}"
READ = "{tool_calls: [{name: large__lines, arguments: {}}]}"
FOUND = '{text: "## Conclusion\\nNothing is wrong [T1]. Confidence: high"}'


def script(*rules: str) -> str:
    return "rules:\n" + ANSWERS + "".join(f"  - {rule}\n" for rule in rules)


def summarize(reply: str = SUMMARY, model: str = "model-c") -> str:
    return f"{{when: {{agent: ^ResultSummarizer, model: ^{model}$}}, reply: {reply}}}"


READING = (
    f"{{when: {{agent: ^Reader, turn: 0}}, reply: {READ}}}",
    f"{{when: {{agent: ^Reader, turn: 1+}}, reply: {FOUND}}}",
)


def events_of(session: AlertSession, kind: str) -> list[TimelineEvent]:
    found = TimelineEvent.objects.filter(session=session, event_type=kind)
    return list(found.order_by("sequence_number"))


def asked(rehearsal: RunningRehearsal, agent: str) -> list[dict]:
    return [request.body for request in rehearsal.requests if request.agent == agent]


def test_a_large_result_is_summarized_by_the_named_model_and_kept_whole_for_people(
    worker: Process, play: Play
):
    rehearsal = play(script(summarize(), *READING))

    session = wait_until_ended(submit("large-results"))

    assert (session.status, session.error_message) == ("completed", "")
    [question] = asked(rehearsal, "ResultSummarizer")
    assert "tools" not in question
    assert "line 19999" in question["messages"][1]["content"]
    told = asked(rehearsal, "Reader")[1]["messages"][-1]["content"]
    assert told.startswith("[T1] large.lines\nNOTE: This is a summary.")
    assert "none tells of trouble" in told
    assert "line 7" not in told
    [event] = events_of(session, "mcp_tool_summary")
    [call] = events_of(session, "llm_tool_call")
    assert (event.status, event.metadata["tool_number"]) == ("completed", 1)
    assert event.metadata["original_tokens"] > 40_000
    assert event.metadata["summarization_provider"] == "model-c"
    assert event.metadata["summarization_model"] == "model-c"
    assert event.sequence_number > call.sequence_number
    assert "line 7\n" in call.content
    interaction = LLMInteraction.objects.get(session=session, interaction_type="summarization")
    assert (interaction.provider_name, interaction.error_message) == ("model-c", "")
    assert interaction.pk == event.llm_interaction_id
    assert interaction.execution == session.executions.get(agent_name="Reader")
    assert interaction.execution.llm_provider == "model-a"
    stored = Message.objects.get(session=session, tool_number=1)
    assert stored.content == told
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()


def test_when_the_named_model_fails_another_summarizes_and_nobody_is_replaced(
    worker: Process, play: Play
):
    refused = "{error: {status: 401, message: bad key}}"
    play(script(summarize(refused), summarize(model="model-b"), *READING))

    session = wait_until_ended(submit("large-results"))

    assert session.status == "completed"
    [event] = events_of(session, "mcp_tool_summary")
    assert event.status == "completed"
    assert event.metadata["summarization_provider"] == "model-b"
    assert event.metadata["summarization_fallback"] is True
    assert events_of(session, "provider_fallback") == []
    assert session.executions.get(agent_name="Reader").llm_provider == "model-a"


def test_without_any_summary_the_work_goes_on_with_the_result(worker: Process, play: Play):
    rehearsal = play(script(summarize("{error: {status: 401, message: bad key}}", "model-.")
                            , *READING))  # fmt: skip

    session = wait_until_ended(submit("large-results"))

    assert session.status == "completed"
    told = asked(rehearsal, "Reader")[1]["messages"][-1]["content"]
    assert "line 7\n" in told
    assert "line 19999" in told
    assert "[truncated: " not in told
    kept = MCPInteraction.objects.get(session=session, interaction_type="tool_call")
    assert "line 19999" in kept.tool_result["content"]
    [event] = events_of(session, "mcp_tool_summary")
    assert event.status == "failed"
    assert "There is no summary." in event.content
    assert len(asked(rehearsal, "ResultSummarizer")) == 3


def test_a_crash_while_summarizing_leaves_the_result_and_asks_for_no_summary_again(
    own_workers: Callable[[], Process], play: Play
):
    held = "{text: All lines are numbered and none of them tells., hold: summary, hold_after: 2}"
    rehearsal = play(script(summarize(held), *READING))
    first = own_workers()
    session = submit("large-results")
    rehearsal.wait_until_held("summary", timeout=20)

    first.kill()
    own_workers()

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert len(asked(rehearsal, "ResultSummarizer")) == 1
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert calls.count() == 1
    assert "line 7\n" in asked(rehearsal, "Reader")[-1]["messages"][-1]["content"]
    assert [e.status for e in events_of(session, "mcp_tool_summary")] != ["streaming"]
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()


def test_a_question_is_answered_from_summaries_and_the_result_itself_can_be_recalled(
    worker: Process, play: Play
):
    recall = "{tool_calls: [{name: recall_result, arguments: {number: 1, contains: line 100}}]}"
    rehearsal = play(
        script(
            summarize(),
            *READING,
            f"{{when: {{agent: ^ChatAgent, turn: 0}}, reply: {recall}}}",
            "{when: {agent: ^ChatAgent, turn: 1+}, reply: {text: 'It is there [T2].'}}",
        )
    )
    session = wait_until_ended(submit("large-results"))

    wait_for_stage(ask_question(session.pk, "Is line 100 there?", author="ana"), within=40)

    first, second = asked(rehearsal, "ChatAgent")
    history = first["messages"][1]["content"]
    assert history.count("none tells of trouble") == 1
    assert "line 7\n" not in history
    assert "recall_result" in [tool["function"]["name"] for tool in first["tools"]]
    recalled = second["messages"][-1]["content"]
    assert recalled.startswith("[T2] recall_result\n")
    assert "line 100\n" in recalled
    row = MCPInteraction.objects.get(session=session, tool_number=2)
    assert (row.server_name, row.tool_name) == ("", "recall_result")


def test_a_small_window_gets_old_results_in_short_form_and_one_of_them_back(
    worker: Process, play: Play
):
    rules = [
        f"{{when: {{agent: ^Hoarder, turn: {turn}}}, reply: "
        f"{{tool_calls: [{{name: large-as-it-is__{tool}, arguments: {{}}}}]}}}}"
        for turn, tool in enumerate(("lines", "flood", "lines"))
    ]
    recall = "{tool_calls: [{name: recall_result, arguments: {number: 1}}]}"
    rehearsal = play(
        script(
            *rules,
            f"{{when: {{agent: ^Hoarder, turn: 3}}, reply: {recall}}}",
            f"{{when: {{agent: ^Hoarder, turn: 4+}}, reply: {FOUND}}}",
        )
    )

    session = wait_until_ended(submit("small-window"))

    assert (session.status, session.error_message) == ("completed", "")
    questions = asked(rehearsal, "Hoarder")
    assert len(questions) == 5
    shown = [m["content"] for m in questions[3]["messages"] if m["role"] == "tool"]
    assert shown[0].startswith("[T1] large-as-it-is.lines {} [compacted: about ")
    assert len(shown[0]) < 1_000
    assert len(shown[2]) > 20_000
    offered = [[tool["function"]["name"] for tool in q["tools"]] for q in questions]
    assert ["recall_result" in names for names in offered] == [False, True, True, True, True]
    recalled = questions[4]["messages"][-1]["content"]
    assert "line 0\nline 1\n" in recalled
    execution = session.executions.get(agent_name="Hoarder")
    rows = LLMInteraction.objects.filter(execution=execution).order_by("iteration")
    compacted = [row.llm_request.get("compacted", []) for row in rows]
    assert compacted[:2] == [[], [1]]
    assert 1 in compacted[3]
    stored = execution.messages.get(tool_number=1)
    assert "line 7\n" in stored.content
