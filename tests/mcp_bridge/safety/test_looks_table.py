"""Which reads count as a look at what was written to, told by a table."""

from dataclasses import replace

import pytest

from mcp_bridge.safety.evidence import SettledCall
from mcp_bridge.safety.standing import rebuild
from tests.mcp_bridge.safety.looks_cases import FALSE, HONEST, WRITES, Row
from tests.mcp_bridge.safety.more_looks_cases import MORE_FALSE, MORE_HONEST


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


@pytest.mark.parametrize("row", HONEST + MORE_HONEST, ids=say)
def test_a_read_that_looks_at_the_target_verifies_the_write(row: Row):
    assert is_verified(*row)


@pytest.mark.parametrize("row", FALSE + MORE_FALSE, ids=say)
def test_a_read_that_only_mentions_the_target_verifies_nothing(row: Row):
    assert not is_verified(*row)
