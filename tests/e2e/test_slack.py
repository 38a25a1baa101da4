"""Slack hears of whole investigations from real workers, and can stop none of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import config
from investigations.models import AlertSession
from investigations.services.intake import read_alert, submit_alert
from tests.e2e.conftest import CONFIG_DIR, Play, SharedWorker, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import start_worker, wait_for
from tests.slack_server import CHANNEL, TOKEN, SlackServer, run_slack_server

pytestmark = pytest.mark.worker

SLACK = f"system: {{slack: {{enabled: true, channel: {CHANNEL}}}}}\n"

Submit = Callable[[str], AlertSession]


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with run_slack_server() as server:
        yield server


@pytest.fixture
def submit(
    live_db: None,
    shared_worker: SharedWorker,
    product_environment: dict[str, str],
    slack: SlackServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Submit]:
    """Submit an alert with a fingerprint to a product that tells Slack."""
    for file in CONFIG_DIR.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "tarsy.yaml").open("a") as file:
        file.write(SLACK)
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    config.configure(tmp_path)
    shared_worker.stop()
    worker = start_worker(
        **{
            **product_environment,
            "CONFIG_DIR": str(tmp_path),
            "SLACK_API_URL": slack.url,
            "SLACK_BOT_TOKEN": TOKEN,
        }
    )
    worker.wait_until_ready()

    def send(fingerprint: str) -> AlertSession:
        alert = read_alert(
            {"alert_type": "single", "data": "slow", "slack_message_fingerprint": fingerprint}
        )
        return submit_alert(alert, author="test")

    yield send
    worker.stop()


def test_start_and_end_go_into_the_thread_of_the_alert(
    submit: Submit, slack: SlackServer, play: Play
):
    play(TOOLS_THEN_REPORT, pace=30)
    ts = slack.add("firing: ab12")

    session = wait_until_ended(submit("ab12"))

    wait_for(lambda: len(slack.posts) >= 2, within=20, what="both messages")
    assert session.status == "completed"
    assert [posted["thread_ts"] for posted in slack.posts] == [ts, ts]
    assert sorted(posted["text"].split(":")[0] for posted in slack.posts) == [
        "Investigation completed",
        "Investigation started",
    ]


def test_a_slack_that_hangs_holds_no_investigation_up(
    submit: Submit, slack: SlackServer, play: Play
):
    slack.hangs = {"conversations.history", "chat.postMessage"}
    play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("ab12"))

    assert session.status == "completed"
    assert session.error_message == ""
    assert slack.posts == []
