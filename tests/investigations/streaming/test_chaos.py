"""The exact stream over a doorbell that drops, doubles and shuffles."""

import asyncio
import json
import random
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from investigations.stream.following import WAITING_LIMIT, SessionFollower
from investigations.stream.hub import Head, Reconnected, Told
from investigations.stream_messages import Payload, session_channel
from tests.investigations.streaming.conftest import until


class Ledger:
    """`following.Source` in memory; reading takes a turn of the loop, as a database would."""

    def __init__(self) -> None:
        self.rows: list[Payload] = []

    def store(self, session_id: uuid.UUID) -> Payload:
        payload = {
            "type": "session.status",
            "session_id": str(session_id),
            "db_event_id": len(self.rows) + 1,
        }
        self.rows.append(payload)
        return payload

    async def read(self, session_id: uuid.UUID, after: int, limit: int) -> list[Payload]:
        found = self.rows[after : after + limit]
        await asyncio.sleep(0)
        return found

    async def head(self, session_id: uuid.UUID) -> int:
        await asyncio.sleep(0)
        return len(self.rows)

    async def find_block(self, event_id: uuid.UUID) -> tuple[int, str] | None:
        return None


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    drop=st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
    double=st.sampled_from([0.0, 0.05, 0.5]),
    shuffle=st.booleans(),
    late=st.integers(0, 150),
)
def test_every_follower_sees_each_event_once_in_order(seed, drop, double, shuffle, late):
    asyncio.run(_run_chaos(random.Random(seed), drop, double, shuffle, late))


async def _run_chaos(chance: random.Random, drop: float, double: float, shuffle: bool, late: int):
    session_id = uuid.uuid4()
    ledger = Ledger()
    seen: list[int] = []

    async def send(payload: Payload, text: str | None) -> None:
        seen.append(payload["db_event_id"])
        if chance.random() < 0.2:
            await asyncio.sleep(0)

    for _ in range(late):
        ledger.store(session_id)
    channel = session_channel(session_id)
    follower = SessionFollower(session_id, channel, 0, ledger, send)
    running = asyncio.create_task(follower.run())
    waiting: list[Payload] = []
    for _ in range(150):
        waiting.append(ledger.store(session_id))
        if chance.random() < 0.5:
            await _deliver(follower, waiting, chance, drop, double, shuffle)
        if chance.random() < 0.02:
            follower.notice(Reconnected())
        if chance.random() < 0.02:
            follower.notice(Head(len(ledger.rows)))
        await asyncio.sleep(0)
    await _deliver(follower, waiting, chance, drop, double, shuffle)
    follower.notice(Head(len(ledger.rows)))
    await until(lambda: len(seen) >= len(ledger.rows))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert seen == list(range(1, len(ledger.rows) + 1))


async def _deliver(follower, waiting, chance, drop, double, shuffle) -> None:
    rung = [p for p in waiting if chance.random() >= drop]
    rung += [p for p in rung if chance.random() < double]
    if shuffle:
        chance.shuffle(rung)
    waiting.clear()
    for payload in rung:
        follower.notice(Told(payload, json.dumps(payload)))


@pytest.mark.parametrize("count", [WAITING_LIMIT - 1, WAITING_LIMIT + 1, 3 * WAITING_LIMIT])
async def test_follower_that_cannot_keep_up_reads_what_it_missed(count):
    session_id = uuid.uuid4()
    ledger = Ledger()
    seen: list[int] = []
    has_all = asyncio.Event()

    async def send(payload: Payload, text: str | None) -> None:
        seen.append(payload["db_event_id"])
        if len(seen) == count:
            has_all.set()

    follower = SessionFollower(session_id, session_channel(session_id), 0, ledger, send)
    for _ in range(count):
        follower.notice(Told(payload := ledger.store(session_id), json.dumps(payload)))
    # Everything came before the first turn of the loop; the replay would read it all at once.
    replayed, ledger.rows = ledger.rows, []
    running = asyncio.create_task(follower.run())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    ledger.rows = replayed
    async with asyncio.timeout(10):
        await has_all.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert seen == list(range(1, count + 1))
