"""Sending to sockets that do not read."""

import asyncio
from functools import partial
from types import SimpleNamespace

import pytest

from investigations.stream.sender import (
    UNANSWERED_LIMIT,
    UNSENT_LIMIT,
    Outlet,
    Stalled,
    unsent_bytes,
)


class Transport:
    """As Twisted's: two buffers, of which the network takes what it takes."""

    def __init__(self) -> None:
        self.dataBuffer = b""
        self.offset = 0
        self._tempDataLen = 0

    def write(self, count: int) -> None:
        self._tempDataLen += count

    def flush(self) -> None:
        self._tempDataLen = 0


class Trickle(Transport):
    """The network takes a little between two looks."""

    _taken = 0

    @property
    def offset(self) -> int:
        self._taken += 1
        return self._taken

    @offset.setter
    def offset(self, _: int) -> None:
        self._taken = 0


@pytest.fixture
def transport() -> Transport:
    return Transport()


def outlet_over(transport: Transport, *, patience: float) -> Outlet:
    async def deliver(protocol, message) -> None:
        protocol.transport.write(len(message["text"]))

    return Outlet(partial(deliver, SimpleNamespace(transport=transport)), patience=patience)


async def test_full_transport_makes_the_sender_wait_until_it_drains(transport):
    outlet = outlet_over(transport, patience=30)
    await outlet.send("x" * (UNSENT_LIMIT + 1))

    waiting = asyncio.create_task(outlet.send("next"))
    await asyncio.sleep(0)
    assert not waiting.done()

    transport.flush()
    await asyncio.wait_for(waiting, 10)
    assert transport._tempDataLen == len("next")


async def test_transport_that_never_drains_is_given_up(transport):
    outlet = outlet_over(transport, patience=0.05)
    await outlet.send("x" * (UNSENT_LIMIT + 1))

    with pytest.raises(Stalled):
        await asyncio.wait_for(outlet.send("next"), 10)


async def test_a_transport_that_drains_slowly_is_waited_for_longer_than_patience_lasts():
    outlet = outlet_over(Trickle(), patience=0.05)
    await outlet.send("x" * (UNSENT_LIMIT + 12))

    await outlet.send("next")


async def test_without_a_view_of_the_transport_the_clients_word_counts():
    async def send(message) -> None:
        pass

    assert unsent_bytes(send) is None
    outlet = Outlet(send, patience=30)
    for _ in range(2):
        await outlet.send("x" * UNANSWERED_LIMIT)
        outlet.hear()
    await outlet.send("x" * (UNANSWERED_LIMIT + 1))

    with pytest.raises(Stalled):
        await outlet.send("next")
