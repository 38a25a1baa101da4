"""Questions about an investigation: the field on its page, and what comes back from the server."""

import re

import pytest
from django.test import Client

from investigations.models import ChatUserMessage, Stage, TimelineEvent
from investigations.services.chat import QUESTION_LIMIT, ask_question
from investigations.services.sessions import cancel_session
from investigations.stream.fragments import fragment_for
from investigations.stream_messages import stage_status
from tests.factories import SessionFactory
from tests.investigations.pages.conftest import REPORT, add_event, add_tool_call

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("chains", "clean_redis"),
]
QUESTION = "Was the  database\naffected?"


def _read(client, session) -> str:
    return client.get(f"/sessions/{session.pk}/").content.decode()


def _ask(client, session, text=QUESTION, **headers):
    return client.post(f"/sessions/{session.pk}/ask/", {"content": text}, headers=headers)


def _field(page: str) -> str:
    found = re.search(r"<form class=\"t-ask\".*?</form>", page, re.DOTALL)
    assert found
    return found.group()


def _finish(session, answer: str) -> Stage:
    """The answer to the newest question, as a worker would leave it."""
    stage = session.stages.filter(stage_type="chat").last()
    execution = stage.executions.get()
    add_tool_call(execution, 3)
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, answer)
    now = session.completed_at
    execution.status, execution.completed_at = "completed", now
    execution.save()
    stage.status, stage.completed_at = "completed", now
    stage.save()
    return stage


def test_a_form_asks_and_leads_to_the_question(viewer, answerable):
    answer = _ask(viewer, answerable)

    stage = answerable.stages.get(stage_type="chat")
    asked = ChatUserMessage.objects.get(chat__session=answerable)
    assert answer.status_code == 302
    assert answer.url == f"/sessions/{answerable.pk}/#stage-{stage.stage_index}"
    assert asked.content == QUESTION
    assert asked.author.startswith("engineer-")


def test_line_ends_of_the_network_are_not_kept(viewer, answerable):
    _ask(viewer, answerable, "one\r\ntwo")

    assert ChatUserMessage.objects.get(chat__session=answerable).content == "one\ntwo"


def test_the_question_stands_as_it_was_written_with_who_and_when_before_its_answer(
    viewer, answerable
):
    ask_question(answerable.pk, QUESTION, author="ana")
    stage = _finish(answerable, "No, [T3] says so.")

    page = _read(viewer, answerable)
    turn = page[page.index(f'id="stage-{stage.stage_index}"') :]
    event = stage.executions.get().timeline_events.get(event_type="user_question")
    finding = stage.executions.get().timeline_events.get(event_type="final_analysis")

    assert QUESTION in turn
    assert re.search(rf'<b>ana</b> <a href="#e-{event.sequence_number}"[^>]*><time', turn)
    assert f'href="#e-{finding.sequence_number}" title="Link to this answer"' in turn
    assert turn.index(QUESTION) < turn.index("says so") < turn.index('id="T3"')
    assert page.index("says so") < page.index('id="question"')


def test_questions_are_no_stages_of_the_investigation(viewer, answerable):
    ask_question(answerable.pk, QUESTION, author="ana")

    trail = re.search(r'id="trail".*?</ol>', _read(viewer, answerable), re.DOTALL)

    assert trail
    assert "Chat" not in trail.group()


def test_an_answer_in_a_chat_is_not_the_last_finding_of_a_failed_investigation(viewer, answerable):
    ask_question(answerable.pk, QUESTION, author="ana")
    _finish(answerable, "An answer, not a finding.")
    answerable.status, answerable.final_analysis = "failed", ""
    answerable.save()

    page = _read(viewer, answerable)
    conclusion = page[page.index('id="conclusion"') : page.index('id="talk"')]

    assert "An answer, not a finding." not in conclusion


def test_while_an_answer_runs_the_field_says_so_and_offers_to_stop_it(viewer, answerable):
    ask_question(answerable.pk, QUESTION, author="ben")

    field = _field(_read(viewer, answerable))

    assert "The question of ben is being answered; the next can follow it." in field
    assert re.search(r"<textarea[^>]* disabled", field)
    assert 'form="cancel-form"' in field
    assert ">Ask</button>" not in field


def _leave_open(reconfigure):
    return SessionFactory(running=True, chain_id="single")


def _cancel(reconfigure):
    return SessionFactory(cancelled=True, chain_id="single")


def _switch_off(reconfigure):
    reconfigure(
        "agents:\n  Alpha: {description: First}\n"
        "agent_chains:\n  single:\n    alert_types: [single]\n    chat: {enabled: false}\n"
        "    stages:\n      - {name: look, agents: [{name: Alpha}]}\n"
    )
    return SessionFactory(completed=True, chain_id="single")


def _leave_out(reconfigure):
    reconfigure(
        "agents:\n  Alpha: {description: First}\n"
        "agent_chains:\n  single:\n    alert_types: [single]\n"
        "    stages:\n      - {name: look, agents: [{name: Alpha}]}\n"
    )
    return SessionFactory(completed=True, chain_id="single")


def _forget_chain(reconfigure):
    return SessionFactory(completed=True, chain_id="gone")


@pytest.mark.parametrize(
    ("arrange", "reason"),
    [
        (
            _leave_open,
            "Questions can be asked once the investigation has ended; it is in progress.",
        ),
        (_cancel, "The investigation was cancelled, so there is nothing to ask about."),
        (_switch_off, "Chat is switched off for the chain &quot;single&quot;."),
        (
            _leave_out,
            "The chain &quot;single&quot; has no chat; chat: {enabled: true, agent: ChatAgent} "
            "switches it on.",
        ),
        (_forget_chain, "The chain &quot;gone&quot; is no longer configured."),
    ],
)
def test_a_field_that_cannot_be_used_is_off_and_says_why(viewer, reconfigure, arrange, reason):
    session = arrange(reconfigure)

    field = _field(_read(viewer, session))

    assert reason in field
    assert re.search(r"<textarea[^>]* disabled", field)
    assert ">Ask</button>" not in field
    assert _ask(viewer, session).status_code == 400


def test_who_may_not_ask_is_told_so(viewer, answerable, settings):
    settings.DEFAULT_ROLE = "viewer"

    field = _field(_read(viewer, answerable))
    answer = _ask(viewer, answerable, **{"X-Requested-With": "fetch"})

    assert "Your account may not ask questions." in field
    assert re.search(r"<textarea[^>]* disabled", field)
    assert (answer.status_code, answer.json()["error"]) == (
        403,
        "your account may not ask questions",
    )
    assert not ChatUserMessage.objects.exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n ", "the question must not be empty"),
        ("x" * (QUESTION_LIMIT + 1), "must not have more than 100,000 characters"),
        ("what\0now", "the question has a NUL character"),
    ],
)
def test_a_refused_form_comes_back_with_the_text_and_the_reason(viewer, answerable, text, reason):
    answer = _ask(viewer, answerable, text)

    assert answer.status_code == 400
    page = _field(answer.content.decode())
    assert f">\n{text}</textarea>" in page
    assert reason in page


def test_a_second_question_comes_back_with_its_text_while_the_first_is_answered(viewer, answerable):
    ask_question(answerable.pk, "first", author="ana")

    answer = _ask(viewer, answerable, "<b>second</b>")

    assert answer.status_code == 409
    assert "\n&lt;b&gt;second&lt;/b&gt;</textarea>" in answer.content.decode()


def test_who_is_signed_out_by_now_gets_the_text_back(settings, client: Client, answerable):
    settings.TARSY_AUTH = "local"

    answer = _ask(client, answerable, "my long question")

    assert answer.status_code == 401
    page = answer.content.decode()
    assert ">\nmy long question</textarea>" in page
    assert f"/login/?next=/sessions/{answerable.pk}/" in page
    assert _ask(client, answerable, **{"X-Requested-With": "fetch"}).status_code == 401
    assert not ChatUserMessage.objects.exists()


def test_a_form_without_its_token_is_refused(answerable):
    client = Client(enforce_csrf_checks=True)

    assert _ask(client, answerable).status_code == 403


def test_a_script_gets_the_stage_and_the_new_state_of_the_field(viewer, answerable):
    answer = _ask(viewer, answerable, **{"X-Requested-With": "fetch"})

    told = answer.json()
    assert answer.status_code == 202
    assert told["stage_id"] == str(answerable.stages.get(stage_type="chat").pk)
    assert 'data-open="0"' in told["html"]


def test_everybody_who_watches_gets_the_state_of_the_field_with_each_change(viewer, answerable):
    question = ask_question(answerable.pk, QUESTION, author="ana")
    stage = Stage.objects.get(pk=question.stage_id)

    begun = fragment_for(stage_status(stage))
    _finish(answerable, "No.")
    stage.refresh_from_db()
    ended = fragment_for(stage_status(stage))

    assert begun
    assert ended
    assert 'id="ask-state" data-open="0"' in begun
    assert 'id="ask-state" data-open="1"' in ended


def test_an_answer_that_is_stopped_keeps_the_session_and_opens_the_field(viewer, answerable):
    ask_question(answerable.pk, QUESTION, author="ana")

    answer = viewer.post(f"/sessions/{answerable.pk}/cancel/", {"next": "ask"})

    assert answer.url == f"/sessions/{answerable.pk}/#ask"
    answerable.refresh_from_db()
    assert answerable.status == "completed"
    assert answerable.stages.get(stage_type="chat").status == "cancelled"
    assert ">Ask</button>" in _field(_read(viewer, answerable))


def test_an_answer_of_many_events_still_shows_its_question(viewer, answerable):
    question = ask_question(answerable.pk, QUESTION, author="ana")
    stage = Stage.objects.get(pk=question.stage_id)
    execution = stage.executions.get()
    for n in range(205):
        add_event(execution, TimelineEvent.Type.LLM_THINKING, f"thought-{n:03}.")

    page = _read(viewer, answerable)
    oldest = re.search(r"earlier/\?before=(\d+)", page)
    assert oldest
    address = f"/sessions/{answerable.pk}/executions/{execution.pk}/earlier/?before={oldest[1]}"
    earlier = viewer.get(address).content.decode()

    assert QUESTION in page
    assert "thought-004." not in page
    assert "thought-004." in earlier
    assert QUESTION not in earlier
    cancel_session(answerable.pk, "ana")


@pytest.mark.parametrize(
    "hostile", ["</textarea><script>alert(1)</script>", "<img src=x>", "{{ 7 }}"]
)
def test_hostile_questions_are_text_everywhere(viewer, answerable, hostile):
    refused = _ask(viewer, SessionFactory(running=True, chain_id="single"), hostile)
    ask_question(answerable.pk, hostile, author=hostile)

    for page in (refused.content.decode(), _read(viewer, answerable)):
        assert "<script>alert" not in page
        assert "<img" not in page


def test_without_a_model_the_field_says_so_before_anybody_types(viewer, reconfigure):
    session = SessionFactory(completed=True, chain_id="kubernetes", final_analysis=REPORT)

    reconfigure("defaults: {alert_type: kubernetes, llm_provider: openai-default}\n")
    assert "No model is configured" not in _field(_read(viewer, session))
    reconfigure("defaults: {alert_type: kubernetes}\n")
    field = _field(_read(viewer, session))
    assert "No model is configured: the report and the results are searched" in field
    # What is suggested is what a search has an answer to.
    assert "check now" not in field
