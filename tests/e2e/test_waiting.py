"""A provider that asks for time gets it, and everybody can see what is waited for."""

from datetime import datetime

import pytest

from investigations.models import AlertSession, LLMInteraction, TimelineEvent
from investigations.services.sessions import cancel_session
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker


def busy(retry_after: float, model: str = ".", times: int = 1) -> str:
    """The usual answers behind refusals that ask for so many seconds."""
    when = f"{{agent: ^Alpha, model: {model}}}"
    error = f"{{status: 429, message: slow down, retry_after: {retry_after}}}"
    rule = f"  - {{times: {times}, when: {when}, reply: {{error: {error}}}}}"
    return TOOLS_THEN_REPORT.replace("rules:\n", f"rules:\n{rule}\n", 1)


def waits_of(session: AlertSession) -> list[TimelineEvent]:
    events = TimelineEvent.objects.filter(
        session=session, event_type="notice", metadata__about="provider_wait"
    )
    return list(events.order_by("sequence_number"))


def wait_until_waiting(session: AlertSession) -> TimelineEvent:
    wait_for(lambda: waits_of(session), what="a wait for the provider")
    return waits_of(session)[0]


def test_a_session_waits_as_long_as_its_provider_asks_and_says_so(worker: Process, play: Play):
    rehearsal = play(busy(1.2, times=4))

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    waits = waits_of(session)
    assert [wait.status for wait in waits] == ["completed"] * 4
    assert waits[0].content == (
        "The provider rehearsal (model rehearsal) answered 429 (too many requests): slow down "
        "rate_limit_error. It asks to wait 1.2 s. After that it was asked again."
    )
    assert waits[0].metadata["wait_seconds"] == 1.2
    assert not TimelineEvent.objects.filter(session=session, event_type="error").exists()
    assert sum(request.agent == "Alpha" for request in rehearsal.requests) == 6
    told = session.events.filter(payload__metadata__about="provider_wait")
    kinds = ["timeline_event.created", "timeline_event.completed"]
    assert list(told.order_by("seq").values_list("payload__type", flat=True)) == kinds * 4


def test_a_vendor_may_say_in_its_own_words_how_long_to_wait(worker: Process, play: Play):
    headers = "{x-ratelimit-remaining-tokens: '0', x-ratelimit-reset-tokens: 1s50ms}"
    error = f"{{status: 429, headers: {headers}}}"
    rule = f"  - {{times: 1, when: {{agent: ^Alpha}}, reply: {{error: {error}}}}}"
    play(TOOLS_THEN_REPORT.replace("rules:\n", f"rules:\n{rule}\n", 1))

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    assert [wait.metadata["wait_seconds"] for wait in waits_of(session)] == [1.05]


def test_a_wait_beyond_the_session_ends_it_at_once_with_both_times(worker: Process, play: Play):
    play(busy(7200))

    session = wait_until_ended(submit("single"))

    assert session.status == "failed"
    assert "It asks to wait 2 h, and 40 min are left of the session's time." in (
        session.executions.get(agent_name="Alpha").error_message
    )
    assert waits_of(session) == []


def test_another_provider_is_asked_instead_of_a_long_wait(worker: Process, play: Play):
    rehearsal = play(busy(90, "^model-a$"))

    session = wait_until_ended(submit("falling-back"))

    assert session.status == "completed"
    assert waits_of(session) == []
    switch = TimelineEvent.objects.get(session=session, event_type="provider_fallback")
    assert "model-b of model-b goes on in place of model-a of model-a" in switch.content
    assert "It asks to wait 90 s." in switch.content
    asked = [r.body["model"] for r in rehearsal.requests if r.agent == "Alpha"]
    assert asked == ["model-a", "model-b", "model-b"]


def test_a_cancelled_session_waits_for_nobody(worker: Process, play: Play):
    play(busy(600))
    session = submit("single")
    wait = wait_until_waiting(session)

    cancel_session(session.pk, "ana")

    assert wait_until_ended(session).status == "cancelled"
    wait.refresh_from_db()
    assert wait.status == "cancelled"


def test_a_wait_that_a_crash_has_cut_is_waited_out_by_another_worker(own_workers, play: Play):
    rehearsal = play(busy(9))
    first = own_workers()
    session = submit("single")
    begun = wait_until_waiting(session)
    first.kill()
    own_workers()

    session = wait_until_ended(session)

    assert session.status == "completed"
    [wait] = waits_of(session)
    assert (wait.pk, wait.status) == (begun.pk, "completed")
    execution = session.executions.get(agent_name="Alpha")
    assert execution.attempt == 2
    answered = LLMInteraction.objects.filter(execution=execution).order_by("created_at").first()
    assert answered.created_at >= datetime.fromisoformat(begun.metadata["until"])
    assert sum(request.agent == "Alpha" for request in rehearsal.requests) == 3
