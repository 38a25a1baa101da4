"""What one socket gets of one channel: every stored message once, in order, whatever Redis drops.

A known `seq` is dropped, the next one is sent, a gap is read from the database. Chunks of a block
pass only once the block was announced, and no longer when it is complete.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from investigations.models import TimelineEvent
from investigations.selectors.timeline import CATCHUP_LIMIT
from investigations.stream.hub import Head, Notice, Reconnected, Told
from investigations.stream_messages import Payload

WAITING_LIMIT = 1000
WAITING_CHARACTERS = 4 * 1024 * 1024
"""What is kept for a socket that is slower than its stream; beyond, the database is read."""

Send = Callable[[Payload, str | None], Awaitable[None]]
"""Sends a payload; the text is the payload as JSON where somebody made it already."""


class Source(Protocol):
    """The stored stream of sessions."""

    async def read(self, session_id: uuid.UUID, after: int, limit: int) -> list[Payload]: ...

    async def head(self, session_id: uuid.UUID) -> int: ...

    async def find_block(self, event_id: uuid.UUID) -> tuple[int, str] | None: ...


@dataclass(frozen=True)
class _Rewind:
    """The client asked for everything behind this `seq`."""

    seq: int


class _Inbox:
    """Notices in order, but only so many: what does not fit is remembered as missed."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Notice | _Rewind] = asyncio.Queue()
        self._characters = 0
        self._missed = False

    def notice(self, notice: Notice) -> None:
        if self._waiting.qsize() >= WAITING_LIMIT or self._characters > WAITING_CHARACTERS:
            self._missed = True
            return
        self._characters += _length(notice)
        self._waiting.put_nowait(notice)

    def insist(self, notice: _Rewind) -> None:
        self._waiting.put_nowait(notice)

    async def next(self) -> Notice | _Rewind:
        if self._missed and self._waiting.empty():
            self._missed = False
            return Reconnected()
        notice = await self._waiting.get()
        self._characters -= _length(notice)
        return notice


def _length(notice: Notice | _Rewind) -> int:
    return len(notice.text) if isinstance(notice, Told) else 0


class ListFollower:
    """The `sessions` channel: nothing is stored, so after a loss the client must load again."""

    def __init__(self, channel: str, send: Send) -> None:
        self._channel = channel
        self._send = send
        self._inbox = _Inbox()
        self.notice = self._inbox.notice

    async def settle(self) -> None:
        """There is no place in it to begin at."""

    def rewind(self, seq: int) -> None:
        """There is nothing to replay."""

    async def replay(self) -> None:
        """There is nothing to replay."""

    async def run(self) -> None:
        while True:
            notice = await self._inbox.next()
            if isinstance(notice, Told):
                await self._send(notice.payload, notice.text)
            elif isinstance(notice, Reconnected):
                await self._send(_overflow(self._channel), None)


class SessionFollower:
    """A session's stream, from `last_event_id` on."""

    def __init__(
        self, session_id: uuid.UUID, channel: str, last_event_id: int, source: Source, send: Send
    ) -> None:
        self._session_id = session_id
        self._channel = channel
        self._cursor = last_event_id
        self._source = source
        self._send = send
        self._inbox = _Inbox()
        self._streaming: dict[str, bool] = {}
        """Blocks the client knows: does it still grow?"""
        self.notice = self._inbox.notice

    async def settle(self) -> None:
        """Come back to the head where the client is ahead of it: its `seq` is of another database.

        What is stored from here on reaches the client, so this comes before it is told that it
        follows.
        """
        if self._cursor:
            self._cursor = min(self._cursor, await self._source.head(self._session_id))

    def rewind(self, seq: int) -> None:
        """Replay everything behind `seq`, in turn with what arrives."""
        self._inbox.insist(_Rewind(seq))

    async def replay(self) -> None:
        """Send what is stored, at most `CATCHUP_LIMIT` messages."""
        await self._replay(self._cursor)

    async def run(self) -> None:
        """Replay, then follow until cancelled. Attach to the hub before."""
        await self.replay()
        while True:
            await self._take(await self._inbox.next())

    async def _take(self, notice: Notice | _Rewind) -> None:
        match notice:
            case Told(payload, text) if "db_event_id" in payload:
                await self._follow(payload, text)
            case Told(payload, text):
                await self._pass_on(payload, text)
            case Head(seq):
                if seq > self._cursor:
                    await self._catch_up(seq)
            case Reconnected():
                await self._catch_up(self._cursor)
            case _Rewind(seq):
                await self._replay(seq)

    async def _follow(self, payload: Payload, text: str) -> None:
        seq = payload["db_event_id"]
        if seq == self._cursor + 1:
            await self._send_stored(payload, text)
        elif seq > self._cursor:
            await self._catch_up(seq)

    async def _pass_on(self, payload: Payload, text: str) -> None:
        if payload["type"] == "stream.chunk" and not await self._still_grows(payload["event_id"]):
            return
        await self._send(payload, text)

    async def _still_grows(self, event_id: str) -> bool:
        if event_id not in self._streaming:
            found = await self._source.find_block(uuid.UUID(event_id))
            if found is None:
                return False
            announced_at, status = found
            if announced_at > self._cursor:
                await self._catch_up(announced_at)
            self._streaming.setdefault(event_id, status == TimelineEvent.Status.STREAMING)
        return self._streaming[event_id]

    async def _replay(self, after: int) -> None:
        """At most so many; a client with more to catch up loads over REST and follows from now."""
        head = await self._source.head(self._session_id)
        # A client that is ahead of us holds the `seq` of another database.
        self._cursor = min(after, head)
        rows = await self._source.read(self._session_id, self._cursor, CATCHUP_LIMIT + 1)
        has_more = len(rows) > CATCHUP_LIMIT or self._is_broken(rows, head)
        for payload in rows[:CATCHUP_LIMIT]:
            await self._send_stored(payload, None)
        if has_more:
            self._cursor = max(self._cursor, head)
            await self._send(_overflow(self._channel), None)

    async def _catch_up(self, known_head: int) -> None:
        """Send all that is stored behind the cursor, at least up to `known_head`."""
        while rows := await self._source.read(self._session_id, self._cursor, CATCHUP_LIMIT):
            if self._is_broken(rows, known_head):
                await self._send(_overflow(self._channel), None)
            for payload in rows:
                await self._send_stored(payload, None)
            if len(rows) < CATCHUP_LIMIT:
                break
        if self._cursor < known_head:
            self._cursor = known_head
            await self._send(_overflow(self._channel), None)

    def _is_broken(self, rows: list[Payload], head: int) -> bool:
        """Rows behind the cursor are gone: retention removes those of finished sessions."""
        following = rows[0]["db_event_id"] if rows else head + 1
        return bool(following > self._cursor + 1)

    async def _send_stored(self, payload: Payload, text: str | None) -> None:
        await self._send(payload, text)
        self._cursor = payload["db_event_id"]
        if payload["type"] == "timeline_event.created":
            self._streaming[payload["event_id"]] = payload["status"] == "streaming"
        elif payload["type"] == "timeline_event.completed":
            self._streaming[payload["event_id"]] = False


def _overflow(channel: str) -> Payload:
    return {"type": "catchup.overflow", "channel": channel, "has_more": True}
