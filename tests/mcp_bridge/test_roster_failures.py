"""Whatever goes wrong with one server is that server's error, and nobody else's."""

import asyncio
from types import SimpleNamespace

import pytest
from mcp_types import Tool

from masking import build_masker
from mcp_bridge.catalogue import Catalogue, ConnectedServer
from mcp_bridge.connection import Deadlines
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.roster import Roster
from tests.mcp_bridge.conftest import quick
from tests.server_plans import ServerPlan, TransportPlan

DEADLINES: Deadlines = quick(rejoin_pause=0.0, rejoin_patience=20.0)


class Broken(SimpleNamespace):
    """A connection that never starts, and fails in its own way when it is tried again."""

    listed = (Tool(name="first", input_schema={}),)
    is_down = has_changed = False
    identity = ("", "")

    def find_fault(self, tool: str) -> str | None:
        return None

    async def start(self) -> None:
        raise ServerUnavailable("nothing answers")

    async def reopen(self) -> None:
        raise self.failure


def seat_one(failure: BaseException) -> Roster:
    connection = Broken(failure=failure)
    plan = ServerPlan(TransportPlan("stdio"))
    server = ConnectedServer("x", plan, connection, build_masker())  # type: ignore[arg-type]
    return Roster(
        {"x": server}, {"x": None}, Catalogue(offers_writes=False),
        masker=build_masker(), deadlines=DEADLINES,
    )  # fmt: skip


@pytest.mark.parametrize("failure", [KeyError("x"), asyncio.CancelledError()], ids=repr)
async def test_an_attempt_that_fails_in_any_way_leaves_its_server_away(failure):
    roster = seat_one(failure)
    await roster.open()

    await roster.refresh()

    (offer,) = roster.offers
    assert offer.is_away
