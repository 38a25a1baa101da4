"""One answer on its way to a client: paced, held, cut or withheld as the script says."""

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Mapping
from typing import NoReturn

from starlette.types import Receive, Scope, Send
from typing_extensions import override

from agents.rehearsal.script import Pace, Reply
from agents.rehearsal.wire import MALFORMED_BODY, MALFORMED_EVENT, EncodedStream

# At full speed this many chunks share one write, as they would on a fast network.
_CHUNKS_PER_WRITE = 64


class Holds:
    """The names replies wait for. A released name stays released."""

    def __init__(self) -> None:
        self._released: dict[str, asyncio.Event] = {}
        self._waiting: Counter[str] = Counter()
        self._changed = threading.Condition()

    def release(self, name: str) -> None:
        self._event(name).set()

    def count_waiting(self, name: str) -> int:
        with self._changed:
            return self._waiting[name]

    def wait_until_held(self, name: str, *, replies: int, timeout: float) -> bool:
        """Block until so many replies wait for `name`; false when they do not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting[name] >= replies, timeout)

    async def wait_for_release(self, name: str) -> None:
        if not name or self._event(name).is_set():
            return
        self._count(name, 1)
        try:
            await self._event(name).wait()
        finally:
            self._count(name, -1)

    def _event(self, name: str) -> asyncio.Event:
        return self._released.setdefault(name, asyncio.Event())

    def _count(self, name: str, change: int) -> None:
        with self._changed:
            self._waiting[name] += change
            self._changed.notify_all()


class Playback:
    """An ASGI application that plays one reply and stops as soon as the client is gone."""

    def __init__(self, reply: Reply, pace: Pace, holds: Holds) -> None:
        self._reply = reply
        self._holds = holds
        self._delay = pace.delay if reply.delay is None else reply.delay
        self._interval = _choose_interval(reply, pace)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        playing = asyncio.ensure_future(self._play(send))
        leaving = asyncio.ensure_future(_wait_until_gone(receive))
        try:
            await asyncio.wait({playing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            playing.cancel()
            leaving.cancel()
            outcomes = await asyncio.gather(playing, leaving, return_exceptions=True)
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]

    def _play(self, send: Send) -> Coroutine[None, None, None]:
        raise NotImplementedError

    async def _wait_to_begin(self) -> None:
        await asyncio.sleep(self._delay)
        if self._reply.hang:
            await wait_forever()


class WholePlayback(Playback):
    """An answer in one body, or an error."""

    def __init__(
        self,
        body: bytes,
        reply: Reply,
        pace: Pace,
        holds: Holds,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reply, pace, holds)
        self._body = MALFORMED_BODY if reply.malformed else body
        self._status = status
        self._fields = {"content-type": "application/json", **(headers or {})}

    @override
    async def _play(self, send: Send) -> None:
        await self._wait_to_begin()
        await self._holds.wait_for_release(self._reply.hold)
        if self._reply.hang_after is not None:
            await wait_forever()
        headers = {**self._fields, "content-length": str(len(self._body))}
        await send(_start(self._status, headers))
        if self._reply.cut_after is not None:
            await send(_body(self._body[: len(self._body) // 2]))
            return  # The promised length was not sent, so the server drops the connection.
        await send(_body(self._body, more=False))


class StreamPlayback(Playback):
    """An answer as server-sent events."""

    def __init__(self, stream: EncodedStream, reply: Reply, pace: Pace, holds: Holds) -> None:
        super().__init__(reply, pace, holds)
        self._stream = stream

    @override
    async def _play(self, send: Send) -> None:
        reply = self._reply
        await self._wait_to_begin()
        await send(_start(200, {"content-type": "text/event-stream", "cache-control": "no-cache"}))
        await send(_body(self._stream.opening))
        if reply.hold:
            await self._send_chunks(send, 0, min(reply.hold_after, self._end))
            await self._holds.wait_for_release(reply.hold)
            await self._send_chunks(send, min(reply.hold_after, self._end), self._end)
        else:
            await self._send_chunks(send, 0, self._end)
        if reply.hang_after is not None:
            await wait_forever()
        if reply.cut_after is not None:
            return  # An unfinished body makes the server drop the connection.
        if reply.malformed:
            await send(_body(MALFORMED_EVENT))
        await send(_body(self._stream.closing, more=False))

    @property
    def _end(self) -> int:
        limits = (self._reply.cut_after, self._reply.hang_after, len(self._stream.content))
        return min(limit for limit in limits if limit is not None)

    async def _send_chunks(self, send: Send, first: int, end: int) -> None:
        content = self._stream.content
        if not self._interval:
            for start in range(first, end, _CHUNKS_PER_WRITE):
                await send(_body(b"".join(content[start : min(start + _CHUNKS_PER_WRITE, end)])))
                await asyncio.sleep(0)
            return
        now = asyncio.get_running_loop().time
        due = now()
        for index in range(first, end):
            # Due times are absolute, so a late wake-up does not slow the whole stream.
            due += self._interval
            if (wait := due - now()) > 0:
                await asyncio.sleep(wait)
            await send(_body(content[index]))


async def wait_forever() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("a future nobody completes was completed")


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _choose_interval(reply: Reply, pace: Pace) -> float:
    if reply.chunk_delay is not None:
        return reply.chunk_delay
    tokens_per_second = reply.tokens_per_second or pace.tokens_per_second
    return 1 / tokens_per_second if tokens_per_second else 0.0


def _start(status: int, headers: Mapping[str, str]) -> dict[str, object]:
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": encoded}


def _body(body: bytes, *, more: bool = True) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": more}
