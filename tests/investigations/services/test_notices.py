"""Who is told of an investigation, once, and that it costs no investigation anything."""

import base64
import json
import logging
from collections.abc import Iterator

import pytest

from investigations import tasks
from investigations.models import AlertSession
from investigations.services.endings import end_session
from investigations.services.ledger import session_write
from investigations.services.notices import END_SECONDS, START_SECONDS, read_notice, send_notice
from investigations.services.sessions import cancel_session
from investigations.services.stages import advance_stage
from tests.factories import SessionFactory
from tests.investigations.conftest import CONFIG_DIR
from tests.investigations.engine import (
    committed,
    current_stage,
    executions_of,
    run,
    run_at_once,
    sent,
    start_session,
)
from tests.slack_server import CHANNEL, TOKEN, SlackServer, run_slack_server

pytestmark = pytest.mark.django_db

SLACK = f"system: {{slack: {{enabled: true, channel: {CHANNEL}, token_env: OUR_SLACK}}}}\n"


@pytest.fixture
def slack(reconfigure, monkeypatch, settings) -> Iterator[SlackServer]:
    monkeypatch.setenv("OUR_SLACK", TOKEN)
    reconfigure(SLACK + (CONFIG_DIR / "tarsy.yaml").read_text())
    settings.DASHBOARD_URL = "https://tarsy.example.com"
    with run_slack_server() as server:
        settings.SLACK_API_URL = server.url
        yield server


def notices(client) -> list[tuple[str, str]]:
    return [(name, about) for name, about in sent(client) if name == "send_notice"]


def run_notices(client) -> None:
    """What a worker does with the notices that wait."""
    for raw in reversed(client.lrange("celery", 0, -1)):
        message = json.loads(raw)
        if message["headers"]["task"].endswith("send_notice"):
            tasks.send_notice(*json.loads(base64.b64decode(message["body"]))[0])
    client.delete("celery")


def finish(session: AlertSession) -> None:
    while not session.is_terminal:
        stage = current_stage(session)
        for execution in executions_of(stage):
            run(execution, finding="The disk is full.")
        advance_stage(stage.pk)
        session.refresh_from_db()


@committed
def test_with_a_fingerprint_start_and_end_go_into_its_thread(slack, clean_redis):
    ts = slack.add("firing: ab12")

    session = start_session("single", slack_message_fingerprint="ab12", title="Disk full")
    run_notices(clean_redis)
    finish(session)
    run_notices(clean_redis)

    assert [posted["thread_ts"] for posted in slack.posts] == [ts, ts]
    assert [posted["channel"] for posted in slack.posts] == [CHANNEL, CHANNEL]
    assert [posted["text"] for posted in slack.posts] == [
        "Investigation started: Disk full",
        "Investigation completed: Disk full",
    ]
    for posted in slack.posts:
        assert f"https://tarsy.example.com/sessions/{session.pk}/" in json.dumps(posted["blocks"])
    assert "The disk is full." in json.dumps(slack.posts[1]["blocks"])
    assert "Claims: 1 uncited." in json.dumps(slack.posts[1]["blocks"])


@committed
def test_without_a_fingerprint_only_the_end_is_told_and_in_the_channel(slack, clean_redis):
    finish(start_session("single"))
    run_notices(clean_redis)

    (posted,) = slack.posts
    assert "completed" in posted["text"]
    assert "thread_ts" not in posted


@committed
def test_the_end_is_told_once_however_many_end_it(slack, clean_redis):
    session = SessionFactory(running=True)

    def fail() -> None:
        with session_write(session.pk) as write:
            end_session(write, AlertSession.Status.FAILED, error="no model")

    run_at_once(*[fail] * 4)

    assert notices(clean_redis) == [("send_notice", str(session.pk))]


@committed
def test_what_is_rolled_back_is_not_told(slack, clean_redis):
    session = SessionFactory(running=True)

    def fail_halfway() -> None:
        with session_write(session.pk) as write:
            end_session(write, AlertSession.Status.FAILED, error="no model")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()

    assert notices(clean_redis) == []


@committed
def test_a_session_that_is_cancelled_in_the_queue_is_told_of(slack, clean_redis):
    session = SessionFactory(slack_message_fingerprint="ab12", title="Disk full")

    cancel_session(session.pk, "engineer")
    run_notices(clean_redis)

    assert [posted["text"] for posted in slack.posts] == ["Investigation cancelled: Disk full"]


@committed
def test_nobody_is_told_where_slack_is_switched_off(chains, clean_redis):
    finish(start_session("single", slack_message_fingerprint="ab12"))

    assert notices(clean_redis) == []


def test_a_failure_tells_its_reason_masked(slack):
    session = SessionFactory(failed=True, error_message="refused: password=hunter2secret! (401)")

    notice = read_notice(session.pk, "end")

    assert notice is not None
    assert "hunter2secret" not in str(notice.message)
    assert "refused" in str(notice.message)
    assert notice.seconds == END_SECONDS


def test_a_start_that_is_old_news_is_not_told(slack):
    running = SessionFactory(running=True, slack_message_fingerprint="ab12")
    ended = SessionFactory(completed=True, slack_message_fingerprint="ab12")

    notice = read_notice(running.pk, "start")

    assert notice is not None
    assert notice.seconds == START_SECONDS
    assert read_notice(ended.pk, "start") is None
    assert read_notice(running.pk, "end") is None


def test_without_the_token_a_worker_says_which_variable_it_misses(slack, monkeypatch, caplog):
    monkeypatch.delenv("OUR_SLACK")

    assert read_notice(SessionFactory(completed=True).pk, "end") is None
    assert "OUR_SLACK" in caplog.text


@pytest.mark.parametrize(
    "answer", [(200, {"ok": False, "error": "is_archived"}, {}), (503, b"", {}), (302, b"", {})]
)
def test_what_slack_refuses_is_logged_and_stops_nothing(slack, caplog, answer):
    caplog.set_level(logging.WARNING)
    slack.answers["chat.postMessage"] = [answer]
    notice = read_notice(SessionFactory(completed=True).pk, "end")
    assert notice is not None

    send_notice(notice)

    assert slack.posts == []
    assert "Slack was not told" in caplog.text
    assert TOKEN not in caplog.text
