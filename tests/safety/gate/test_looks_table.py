"""Which reads count as a look at what was written to, told by a table."""

from dataclasses import replace

import pytest

from safety.evidence import SettledCall
from safety.gate.execution_state import rebuild
from tests.cases import for_each
from tests.safety.gate.calls import settled
from tests.safety.gate.fifth_looks_cases import FIFTH_FALSE, FIFTH_HONEST
from tests.safety.gate.fourth_looks_cases import (
    FOURTH_FALSE,
    FOURTH_HONEST,
    NOT_REACHED,
    STILL_COUNTED,
)
from tests.safety.gate.last_looks_cases import LAST_FALSE, LAST_HONEST
from tests.safety.gate.looks_cases import FALSE, HONEST, WRITES, Row, failing
from tests.safety.gate.more_looks_cases import MORE_FALSE, MORE_HONEST


def say(row: Row) -> str:
    write, read = row
    command = read.arguments.get("command")
    return f"{write}: {command or read.name} {'' if command else dict(read.arguments)}".strip()


def is_verified(write: str, read: SettledCall) -> bool:
    """Whether the write counts as verified once the read has ended."""
    standing = rebuild((WRITES[write], replace(read, writes_before=1)), lambda: 0.0)
    report = standing.report()
    assert report is not None
    [status] = report.writes
    return status.status == "verified"


@for_each(HONEST + MORE_HONEST + LAST_HONEST + FOURTH_HONEST + FIFTH_HONEST, name=say)
def test_a_read_that_looks_at_the_target_verifies_the_write(row: Row):
    assert is_verified(*row)


@for_each(FALSE + MORE_FALSE + LAST_FALSE + FOURTH_FALSE + FIFTH_FALSE, name=say)
def test_a_read_that_only_mentions_the_target_verifies_nothing(row: Row):
    assert not is_verified(*row)


def test_a_refusal_of_ours_proves_no_removal():
    """Nothing was sent, so whether the thing is there was not seen."""
    asked = {"type": "pods", "namespace": "shop", "pod": "checkout-7d9f-x2k"}
    failed = failing("kubernetes", "NOT_FOUND", "no such pod", **asked)

    assert is_verified("pod deleted", failed)
    assert not is_verified("pod deleted", replace(failed, outcome="blocked"))
    assert not is_verified("pod deleted", replace(failed, outcome="unknown"))


def test_an_error_about_what_was_not_to_be_gone_verifies_nothing():
    asked = {"type": "deployments", "namespace": "shop", "deployment": "checkout"}

    assert not is_verified("deployment", failing("kubernetes", "NOT_FOUND", "no", **asked))


def test_an_answer_that_is_nested_without_end_verifies_nothing():
    deep = '{"name":' * 5000 + '"billing"' + "}" * 5000

    assert not is_verified("far thing", settled("fleet.get", "read", deep, {"id": "x"}))


@pytest.mark.xfail(strict=True, reason="known and not reached")
@pytest.mark.parametrize("row", NOT_REACHED, ids=say)
def test_a_look_that_is_not_reached_yet_verifies_the_write(row: Row):
    assert is_verified(*row)


@pytest.mark.xfail(strict=True, reason="known and not reached")
@pytest.mark.parametrize("row", STILL_COUNTED, ids=say)
def test_a_mention_that_still_counts_verifies_nothing(row: Row):
    assert not is_verified(*row)
