"""A wait for a model provider as rows: born open, handed over open, and never left open."""

import pytest

from agents.records import ProviderWait
from agents.types import AgentOutcome
from investigations.models import TimelineEvent
from investigations.selectors.provider_waits import open_waits_of_execution
from investigations.services import provider_waits
from investigations.services.executions import claim_execution, finish_execution, release_execution
from tarsy.errors import LeaseLost
from tests.investigations.engine import current_stage, executions_of, start_session

pytestmark = pytest.mark.django_db

WAIT = ProviderWait("lab", "lab-1", 90.0, "Busy with s3cret. It asks to wait 90 s.", "rate_limit")


def mask(text):
    return text.replace("s3cret", "***")


@pytest.fixture
def claim(chains):
    claim = claim_execution(executions_of(current_stage(start_session("single")))[0].pk, "worker-1")
    assert claim is not None
    return claim


def test_a_wait_is_shown_from_its_beginning_to_its_end(claim):
    event_id = provider_waits.open_wait(claim.execution, WAIT, mask)
    begun = TimelineEvent.objects.get(pk=event_id)
    told = f"{WAIT.reason} After that it was asked again."

    provider_waits.close_wait(claim.execution, event_id, told, mask)

    ended = TimelineEvent.objects.get(pk=event_id)
    assert (begun.event_type, begun.status) == ("notice", "streaming")
    assert begun.content == "Busy with ***. It asks to wait 90 s."
    shown = ("about", "provider", "model", "error_code", "wait_seconds", "wait")
    assert [begun.metadata[name] for name in shown] == [
        "provider_wait", "lab", "lab-1", "rate_limit", 90.0, "90 s",
    ]  # fmt: skip
    assert (ended.status, ended.metadata) == ("completed", begun.metadata)
    assert ended.content.endswith("It asks to wait 90 s. After that it was asked again.")
    assert "s3cret" not in ended.content


def test_who_goes_on_with_an_execution_finds_what_is_left_of_its_wait(claim):
    event_id = provider_waits.open_wait(claim.execution, WAIT, mask)
    before = TimelineEvent.objects.get(pk=event_id).status

    release_execution(claim)

    [wait] = open_waits_of_execution(claim.execution)
    assert (before, TimelineEvent.objects.get(pk=event_id).status) == ("streaming", "streaming")
    assert (wait.wait_id, wait.provider_name) == (str(event_id), "lab")
    assert wait.reason == "Busy with ***. It asks to wait 90 s."
    assert 0 < wait.seconds_left <= 90


@pytest.mark.parametrize("until", ["", "soon", "9999-99-99", "2026-01-01T00:00:00", 7, None])
def test_of_a_wait_whose_end_cannot_be_read_nothing_is_left(claim, until):
    event_id = provider_waits.open_wait(claim.execution, WAIT, mask)
    event = TimelineEvent.objects.get(pk=event_id)
    TimelineEvent.objects.filter(pk=event_id).update(metadata={**event.metadata, "until": until})

    [wait] = open_waits_of_execution(claim.execution)

    assert wait.seconds_left == 0


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_the_end_of_an_execution_is_the_end_of_its_wait(claim, status):
    event_id = provider_waits.open_wait(claim.execution, WAIT, mask)

    finish_execution(claim, AgentOutcome(status))

    assert TimelineEvent.objects.get(pk=event_id).status == status
    assert open_waits_of_execution(claim.execution) == ()


def test_a_worker_that_lost_its_lease_shows_no_wait(claim):
    release_execution(claim)

    with pytest.raises(LeaseLost):
        provider_waits.open_wait(claim.execution, WAIT, mask)

    assert open_waits_of_execution(claim.execution) == ()
