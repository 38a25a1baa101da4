"""A time limit ends what runs, with the right word for it, and nothing else."""

from pathlib import Path

import pytest
from django.db import transaction

import config
from investigations.models import Stage, TimelineEvent
from investigations.services.chat import ask_question
from investigations.services.sessions import claim_next_session
from tests.e2e.conftest import CONFIG_DIR, Play, submit, wait_until_ended
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER, TOOLS_THEN_REPORT
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker

HELD_CHAT = TOOLS_THEN_REPORT.replace(
    "rules:\n",
    """rules:
  - {when: {agent: ^ChatAgent}, times: 1, reply: {text: "Well, let me think.", hold: chat}}
  - {when: {agent: ^ChatAgent}, reply: {text: It is.}}
""",
    1,
)


@pytest.fixture
def short_limit(configuration: None, tmp_path: Path) -> Path:
    """A configuration of the same chains whose sessions and answers may take three seconds."""
    for file in CONFIG_DIR.iterdir():
        text = file.read_text(encoding="utf-8")
        limited = text.replace("\nqueue:\n", "\nqueue:\n  session_timeout: 3s\n")
        (tmp_path / file.name).write_text(limited, encoding="utf-8")
    return tmp_path


def test_a_session_that_takes_too_long_times_out_with_all_that_is_below_it(
    worker: Process, play: Play, short_limit: Path
):
    play(HELD_AT_FIRST_ANSWER)
    config.configure(short_limit)
    # Claimed here, under this limit, before the worker can see that it waits.
    with transaction.atomic():
        session = submit("parallel")
        claim_next_session()

    session = wait_until_ended(session)

    assert session.status == "timed_out"
    assert "timed out" in session.error_message
    assert list(session.stages.values_list("stage_name", "status")) == [("look", "timed_out")]
    executions = session.executions.values_list("agent_name", "status")
    assert sorted(executions) == [("Alpha", "timed_out"), ("Beta", "timed_out")]
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()


def test_an_answer_that_takes_too_long_times_out_and_the_next_question_is_answered(
    worker: Process, play: Play, short_limit: Path
):
    play(HELD_CHAT)
    session = wait_until_ended(submit("single"))
    config.configure(short_limit)
    first = ask_question(session.pk, "Is it still so?", author="ana")
    stage = Stage.objects.filter(pk=first.stage_id)
    wait_for(stage.filter(status="timed_out").exists, what="the end of the answer's time")
    config.configure(CONFIG_DIR)

    second = ask_question(session.pk, "And now?", author="ana")

    answered = Stage.objects.filter(pk=second.stage_id, status="completed")
    wait_for(answered.exists, what="the second answer")
    session.refresh_from_db()
    assert session.status == "completed"
    assert list(session.stages.values_list("stage_type", "status")) == [
        ("investigation", "completed"),
        ("exec_summary", "completed"),
        ("chat", "timed_out"),
        ("chat", "completed"),
    ]
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
