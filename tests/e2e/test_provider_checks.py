"""A model is checked by a worker, because somebody asked for it on a page."""

import pytest

from agents.rehearsal.loading import PROVIDER_CHECK_SCRIPT
from investigations.engine.provider_checks import STOPPED
from investigations.models import AuditEvent
from investigations.selectors.system.provider_checks import ProviderCheck, read_checks
from investigations.selectors.system.workers import client
from investigations.services.provider_checks import _gate_of, ask_for_check
from tests.e2e.conftest import Play, StartWorker
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker

NAME = "rehearsal"
ANSWERS = PROVIDER_CHECK_SCRIPT.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def asked_for_by_nobody() -> None:
    client().delete(_gate_of(NAME))


def wait_until_checked() -> ProviderCheck:
    wait_for(lambda: read_checks()[NAME].ended_at, within=60, what="the end of a check")
    return read_checks()[NAME]


def test_a_worker_checks_a_model_and_tells_each_probe(worker: Process, play: Play):
    rehearsal = play(ANSWERS)

    ask_for_check(NAME, "ana")
    check = wait_until_checked()

    assert (check.trouble, check.asked_by) == ("", "ana")
    assert check.report is not None
    assert check.report.can_investigate
    assert len(check.report.findings) == 13
    assert check.report.spent.requests == len(rehearsal.requests)
    assert AuditEvent.objects.filter(action="provider.check", actor="ana").exists()


def test_a_stopping_worker_gives_a_check_up_and_keeps_what_it_knows(
    own_workers: StartWorker, play: Play
):
    rehearsal = play(
        ANSWERS.replace(
            "reply: {text: '{{ range(1, 101)", "reply: {hold: here, text: '{{ range(1, 101)"
        )
    )
    worker = own_workers()
    ask_for_check(NAME, "ana")
    rehearsal.wait_until_held("here", timeout=30)

    assert worker.stop() == 0

    check = wait_until_checked()
    assert check.trouble == STOPPED
    assert check.report is not None
    assert [each.probe for each in check.report.findings] == ["text"]
