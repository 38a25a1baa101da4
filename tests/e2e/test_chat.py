"""Follow-up questions about an investigation that has ended."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from investigations.models import AlertSession, Stage, TimelineEvent
from investigations.services.chat import Question, ask_question
from investigations.services.sessions import cancel_session
from tarsy.errors import Conflict, InvalidInput
from tests.e2e.conftest import Play, StartWorker, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker

CHAT = """
  - when: {agent: ^ChatAgent, turn: 0}
    reply:
      hold: chat
      text: Looking again.
      tool_calls: [{name: ops__metrics, arguments: {action: load}}]
  - when: {agent: ^ChatAgent, turn: 1+}
    reply: {text: "The load is still normal [T{{ results[-1].number }}]."}
"""
SCRIPT = TOOLS_THEN_REPORT.replace("rules:\n", "rules:\n" + CHAT, 1)


def wait_for_stage(question: Question, within: float = 30) -> Stage:
    def ended() -> Stage | None:
        stage = Stage.objects.get(pk=question.stage_id)
        return stage if stage.is_terminal else None

    stage = wait_for(ended, within=within, what="the answer")
    assert stage is not None
    return stage


def test_a_question_is_answered_with_fresh_tools_and_the_whole_history(worker: Process, play: Play):
    rehearsal = play(SCRIPT)
    rehearsal.release("chat")
    session = wait_until_ended(submit("parallel"))

    first = wait_for_stage(ask_question(session.pk, "Is it still so?", author="ana"))
    second = wait_for_stage(ask_question(session.pk, "And now?", author="ben"))

    assert (first.status, first.stage_type, first.stage_index) == ("completed", "chat", 4)
    assert (second.status, second.stage_index) == ("completed", 5)
    answer = TimelineEvent.objects.get(stage=first, event_type="final_analysis")
    assert answer.content == "The load is still normal [T5]."
    assert TimelineEvent.objects.get(stage=first, event_type="user_question").content == (
        "Is it still so?"
    )
    prompts = [
        request.body["messages"][1]["content"]
        for request in rehearsal.requests
        if request.agent == "ChatAgent" and request.turn == 0
    ]
    assert "Beta found the load to be normal" in prompts[0]
    assert "Both agree" in prompts[0]
    assert "The load was normal." in prompts[0]
    assert "The load is still normal [T5]." in prompts[1]
    assert '[T5] ops.metrics {"action": "load"}' in prompts[1]
    session.refresh_from_db()
    assert (session.status, session.chat.user_messages.count()) == ("completed", 2)


def test_a_cancelled_answer_leaves_the_session_as_it_was_and_the_chat_usable(
    worker: Process, play: Play
):
    rehearsal = play(SCRIPT)
    session = wait_until_ended(submit("single"))
    question = ask_question(session.pk, "Is it still so?", author="ana")
    rehearsal.wait_until_held("chat", timeout=20)

    cancel_session(session.pk, "ana")

    stage = wait_for_stage(question, within=10)
    session.refresh_from_db()
    assert (stage.status, session.status) == ("cancelled", "completed")
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
    rehearsal.release("chat")
    again = wait_for_stage(ask_question(session.pk, "And now?", author="ana"))
    assert again.status == "completed"


def test_a_crash_while_answering_does_not_block_the_chat(own_workers: StartWorker, play: Play):
    rehearsal = play(SCRIPT)
    first = own_workers()
    session = wait_until_ended(submit("single"))
    question = ask_question(session.pk, "Is it still so?", author="ana")
    rehearsal.wait_until_held("chat", timeout=20)

    first.kill()
    rehearsal.release("chat")
    own_workers()

    assert wait_for_stage(question).status == "completed"


def test_of_two_questions_at_once_one_is_taken_and_one_refused(
    own_workers: StartWorker, play: Play
):
    play(SCRIPT)
    own_workers()
    session = wait_until_ended(submit("single"))

    def ask(text: str) -> str:
        try:
            ask_question(session.pk, text, author="ana")
        except Conflict:
            return "refused"
        finally:
            connection.close()
        return "taken"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(ask, [f"question {number}" for number in range(8)]))

    assert sorted(outcomes) == ["refused"] * 7 + ["taken"]
    assert session.chat.user_messages.count() == 1


@pytest.mark.parametrize("status", ["pending", "cancelled"])
def test_no_question_is_taken_before_the_end_or_after_a_cancel(
    own_workers: StartWorker, status: str
):
    session = submit("single")
    if status == "cancelled":
        cancel_session(session.pk, "ana")

    with pytest.raises(InvalidInput, match=status):
        ask_question(session.pk, "Is it so?", author="ana")

    assert not Stage.objects.filter(session=session).exists()
    assert AlertSession.objects.get(pk=session.pk).status == status
