"""Runbooks in whole investigations: read, masked, fenced, and never in the way."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from investigations.models import AlertSession, TimelineEvent
from investigations.services.intake import read_alert, submit_alert
from tarsy.errors import InvalidInput
from tests.e2e.conftest import CONFIG_DIR, Play, SharedWorker, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.e2e.worker_with_pages import KEY
from tests.processes import Process, child_environment

pytestmark = pytest.mark.worker

PAGES = "https://github.com/acme-demo/runbooks/blob/main"
DEFAULT = "Ask the owner of the service."


@pytest.fixture(scope="module")
def config_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chains of the other tests, and a runbook for every alert."""
    folder = tmp_path_factory.mktemp("config")
    for file in CONFIG_DIR.iterdir():
        text = file.read_text(encoding="utf-8")
        changed = text.replace("\ndefaults:\n", f"\ndefaults:\n  runbook: {DEFAULT}\n")
        (folder / file.name).write_text(changed, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def running_worker(
    shared_worker: SharedWorker,
    product_environment: dict[str, str],
    config_dir: Path,
) -> Iterator[Process]:
    shared_worker.stop()
    process = Process(
        *("-m", "tests.e2e.worker_with_pages", "-A", "tarsy.worker", "worker"),
        *("-P", "threads", "-c", "16", "--without-gossip", "--without-mingle", "-l", "INFO"),
        environment=child_environment(**product_environment | {"CONFIG_DIR": str(config_dir)}),
        ready=" ready.",
        is_forked=True,
    )
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.stop()


@pytest.fixture
def pages_worker(live_db: None, running_worker: Process) -> Process:
    return running_worker


def submit(alert_type: str, runbook: str = "") -> AlertSession:
    body = {"alert_type": alert_type, "data": "the disk is full"}
    named = {"runbook": runbook} if runbook else {}
    return submit_alert(read_alert({**body, **named}), author="test")


def prompts(rehearsal) -> dict[str, str]:
    """The opening of each agent, by its name."""
    return {
        request.agent: request.body["messages"][1]["content"]
        for request in rehearsal.requests
        if request.turn == 0
    }


def test_every_agent_reads_the_runbook_masked_and_fenced_from_one_fetch(
    pages_worker: Process, play: Play
):
    rehearsal = play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("parallel", f"{PAGES}/disk.md"))

    assert (session.status, session.error_message) == ("completed", "")
    read = prompts(rehearsal)
    assert {"Alpha", "Beta", "SynthesisAgent"} <= read.keys()
    for name in ("Alpha", "Beta", "SynthesisAgent"):
        fenced = r"<<<outside (\w+) runbook>>>\nLook at the inodes first\..*\n<<<end outside \1>>>"
        assert re.search(fenced, read[name])
        assert KEY not in read[name]
        assert DEFAULT not in read[name]
    page = "PAGE raw.githubusercontent.com/acme-demo/runbooks/main/disk.md"
    assert pages_worker.output.count(page) == 1
    assert not TimelineEvent.objects.filter(session=session, event_type="error").exists()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"{PAGES}/gone.md", "status 404"),
        (f"{PAGES}/moved.md", "evil.example.net"),
        ("https://www.github.com/acme-demo/runbooks/wiki", "public addresses only"),
    ],
)
def test_a_runbook_that_cannot_be_had_stops_nothing_and_is_told_everywhere(
    url: str, reason: str, pages_worker: Process, play: Play
):
    rehearsal = play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("single", url))

    assert (session.status, session.error_message) == ("completed", "")
    prompt = prompts(rehearsal)["Alpha"]
    assert "The runbook that the alert names could not be had" in prompt
    assert reason in prompt
    assert DEFAULT in prompt
    [note] = TimelineEvent.objects.filter(session=session, event_type="error")
    assert note.content.startswith("Warning: the runbook could not be had")
    assert reason in note.content
    assert note.status == "completed"


def test_without_a_runbook_of_its_own_an_alert_gets_the_default_one(
    pages_worker: Process, play: Play
):
    rehearsal = play(TOOLS_THEN_REPORT)
    fetched = pages_worker.output.count("PAGE")

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    assert DEFAULT in prompts(rehearsal)["Alpha"]
    assert pages_worker.output.count("PAGE") == fetched


def test_a_domain_that_is_not_allowed_is_refused_before_any_work(live_db: None):
    with pytest.raises(InvalidInput, match=r"evil\.example\.net"):
        submit("single", "https://evil.example.net/disk.md")

    assert not AlertSession.objects.exists()
