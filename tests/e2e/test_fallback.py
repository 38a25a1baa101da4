"""A model that fails is followed by the next one, and everybody can see it."""

from collections.abc import Sequence

import pytest

from agents.our_lines import split_our_lines
from investigations.models import AgentExecution, AlertSession, LLMInteraction, TimelineEvent
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker

REFUSED = "{error: {status: 401, message: bad key}}"
BUSY = "{error: {status: 429, message: slow down, retry_after: 0}}"
BAD_REQUEST = "{error: {status: 400, message: no such parameter}}"


def script(*rules: str) -> str:
    """These rules before the usual answers."""
    return TOOLS_THEN_REPORT.replace("rules:\n", "rules:\n" + "\n".join(rules) + "\n", 1)


def fail(model: str, reply: str, agent: str = ".", times: str = "") -> str:
    return f"  - {{{times}when: {{model: ^{model}$, agent: {agent}}}, reply: {reply}}}"


def switches_of(session: AlertSession, agent: str = "Alpha") -> Sequence[TimelineEvent]:
    return TimelineEvent.objects.filter(
        session=session, execution__agent_name=agent, event_type="provider_fallback"
    ).order_by("sequence_number")


def models_of(execution: AgentExecution) -> tuple[str, str, str, str]:
    return (
        execution.original_llm_provider,
        execution.original_model_name,
        execution.llm_provider,
        execution.model_name,
    )


def test_when_all_retries_fail_the_next_model_finishes_the_work(worker: Process, play: Play):
    rehearsal = play(script(fail("model-a", BUSY, "^Alpha")))

    session = wait_until_ended(submit("falling-back"))

    assert session.status == "completed"
    execution = session.executions.get(agent_name="Alpha")
    assert models_of(execution) == ("model-a", "model-a", "model-b", "model-b")
    assert execution.original_llm_backend == "langchain"
    switch = switches_of(session).get()
    assert "model-b of model-b goes on in place of model-a of model-a" in switch.content
    assert switch.metadata["error_code"] == "max_retries"
    assert switch.metadata["attempt"] == 1
    assert (switch.metadata["original_model"], switch.metadata["fallback_model"]) == (
        "model-a",
        "model-b",
    )
    asked = [r.body["model"] for r in rehearsal.requests if r.agent == "Alpha"]
    assert asked == ["model-a"] * 3 + ["model-b"] * 2
    interactions = LLMInteraction.objects.filter(execution=execution).order_by("created_at")
    kept = list(interactions.values_list("provider_name", "iteration", "error_message"))
    assert [row[:2] for row in kept] == [("model-a", 1), ("model-b", 1), ("model-b", 2)]
    assert [bool(row[2]) for row in kept] == [True, False, False]


def test_a_refused_request_is_sent_once_more_before_the_next_model_gets_it(
    worker: Process, play: Play
):
    rehearsal = play(script(fail("model-a", BAD_REQUEST, "^Alpha")))

    session = wait_until_ended(submit("falling-back"))

    assert session.status == "completed"
    asked = [r.body["model"] for r in rehearsal.requests if r.agent == "Alpha"]
    assert asked == ["model-a"] * 2 + ["model-b"] * 2


def test_two_refused_keys_make_a_chain_of_models_whose_first_one_is_kept(
    worker: Process, play: Play
):
    play(script(fail("model-a", REFUSED, "^Alpha"), fail("model-b", REFUSED, "^Alpha")))

    session = wait_until_ended(submit("falling-back"))

    assert session.status == "completed"
    execution = session.executions.get(agent_name="Alpha")
    assert models_of(execution) == ("model-a", "model-a", "model-c", "model-c")
    chain = [
        (e.metadata["original_model"], e.metadata["fallback_model"], e.metadata["attempt"])
        for e in switches_of(session)
    ]
    assert chain == [("model-a", "model-b", 1), ("model-b", "model-c", 2)]


def test_when_every_model_fails_so_does_the_session_with_the_last_reason(
    worker: Process, play: Play
):
    rehearsal = play(script(fail("model-.", REFUSED)))

    session = wait_until_ended(submit("falling-back"))

    assert session.status == "failed"
    execution = session.executions.get(agent_name="Alpha")
    assert execution.status == "failed"
    assert "model-c" in execution.error_message
    assert "model-c" in session.error_message
    assert switches_of(session).count() == 2
    errors = TimelineEvent.objects.filter(session=session, event_type="error")
    providers = errors.order_by("sequence_number").values_list("metadata__provider", flat=True)
    assert list(providers) == ["model-a", "model-b", "model-c"]
    assert [r.body["model"] for r in rehearsal.requests] == ["model-a", "model-b", "model-c"]


def test_of_two_agents_only_the_one_whose_model_fails_changes_it(worker: Process, play: Play):
    play(script(fail("model-a", REFUSED, "^Beta")))

    session = wait_until_ended(submit("falling-back-apart"))

    assert session.status == "completed"
    alpha = session.executions.get(agent_name="Alpha")
    beta = session.executions.get(agent_name="Beta")
    assert models_of(alpha) == ("", "", "model-a", "model-a")
    assert models_of(beta) == ("model-a", "model-a", "model-b", "model-b")
    assert switches_of(session, "Alpha").count() == 0
    assert switches_of(session, "Beta").count() == 1


@pytest.mark.parametrize("agent", ["ExecSummaryAgent", "SynthesisAgent"])
def test_a_single_question_goes_to_the_next_model_at_the_first_refusal(
    worker: Process, play: Play, agent: str
):
    play(script(fail("model-a", BAD_REQUEST, agent), fail("model-b", BAD_REQUEST, agent)))

    session = wait_until_ended(submit("falling-back-apart"))

    assert session.status == "completed"
    assert split_our_lines(session.executive_summary)[1] == "The load was normal."
    assert session.executive_summary_error == ""
    assert switches_of(session, agent).count() == 2
    assert models_of(session.executions.get(agent_name=agent))[2] == "model-c"
    assert switches_of(session, "Alpha").count() == 0
    assert models_of(session.executions.get(agent_name="Alpha"))[0] == ""


def test_an_agent_that_needs_native_tools_skips_models_that_have_none(worker: Process, play: Play):
    play(script(fail("model-a", REFUSED, "^Searcher")))

    session = wait_until_ended(submit("needing-native"))

    assert session.status == "completed"
    switch = switches_of(session, "Searcher").get()
    assert switch.metadata["fallback_provider"] == "model-c"
    assert switch.metadata["skipped_incompatible"] == ["model-b"]
    events = TimelineEvent.objects.filter(session=session)
    assert not events.filter(event_type="google_search_result").exists()
    withheld = events.filter(event_type="notice", metadata__is_offered=False)
    assert "was not offered" in withheld.first().content


def test_an_agent_whose_native_tools_no_other_model_has_fails_with_its_own(
    worker: Process, play: Play
):
    rehearsal = play(script(fail("model-a", REFUSED, "^Searcher")))

    session = wait_until_ended(submit("needing-native-in-vain"))

    assert session.status == "failed"
    assert "model-b, model-c: no native tools" in session.error_message
    assert switches_of(session, "Searcher").count() == 0
    assert {r.body["model"] for r in rehearsal.requests} == {"model-a"}


def test_after_a_crash_the_work_goes_on_with_the_model_that_had_taken_over(own_workers, play: Play):
    held = "{text: One word after another and then some more., hold: held, hold_after: 2}"
    rehearsal = play(
        script(
            fail("model-a", REFUSED, "^Alpha"),
            fail("model-b", held, "^Alpha", times="times: 1, "),
        )
    )
    first = own_workers()
    session = submit("falling-back")
    wait_for(
        lambda: "model-b" in [r.body["model"] for r in rehearsal.requests], what="the second model"
    )
    first.kill()
    own_workers()

    session = wait_until_ended(session)

    assert session.status == "completed"
    asked = [r.body["model"] for r in rehearsal.requests if r.agent == "Alpha"]
    assert asked.count("model-a") == 1
    assert switches_of(session).count() == 1
    assert models_of(session.executions.get(agent_name="Alpha")) == (
        "model-a",
        "model-a",
        "model-b",
        "model-b",
    )
