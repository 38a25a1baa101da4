"""Deadlines around a stream of chunks: to the first one, between two, and for the whole."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TypeVar

from agents.llm.settings import CallTimes
from tarsy.errors import LLMError

Chunk = TypeVar("Chunk")
Beat = Callable[[], None]
"""Says that the provider is there, though what it sent is no chunk."""
OpenStream = Callable[[Beat], AbstractAsyncContextManager[AsyncIterator[Chunk]]]


async def stream_within(
    open_stream: OpenStream[Chunk], times: CallTimes, *, model: str
) -> AsyncGenerator[Chunk, None]:
    """The chunks of a stream that is opened here and left when this generator is closed.

    Whatever the provider sends counts as life, comments and empty lines too; only the time for the
    whole call is never prolonged. Raises `LLMError` with `initial_response_timeout` when no chunk
    came in time, opening included, and with `stall_timeout` when the stream stopped or did not end
    in time.
    """
    loop = asyncio.get_running_loop()
    clock = _Clock(times, ends_at=loop.time() + times.call)
    chunks: AsyncIterator[Chunk] | None = None
    async with AsyncExitStack() as stack:
        while True:
            limit = clock.start()
            try:
                async with limit:
                    if chunks is None:
                        chunks = await stack.enter_async_context(open_stream(clock.beat))
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if not limit.expired():
                    raise
                is_whole = loop.time() >= clock.ends_at
                raise _describe(times, model, clock.is_first, is_whole) from error
            clock.stop()
            yield chunk


class _Clock:
    """How long the next chunk may take. Each sign of life starts it anew."""

    def __init__(self, times: CallTimes, *, ends_at: float) -> None:
        self.ends_at = ends_at
        self.is_first = True
        self._times = times
        self._limit: asyncio.Timeout | None = None

    def start(self) -> asyncio.Timeout:
        self._limit = asyncio.timeout_at(self._next())
        return self._limit

    def beat(self) -> None:
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(self._next())

    def stop(self) -> None:
        self.is_first = False
        self._limit = None

    def _next(self) -> float:
        wait = self._times.first_chunk if self.is_first else self._times.stall
        return min(asyncio.get_running_loop().time() + wait, self.ends_at)


def _describe(times: CallTimes, model: str, is_first: bool, is_whole: bool) -> LLMError:
    limit = times.call if is_whole else times.first_chunk
    if is_first:
        return LLMError(
            "initial_response_timeout",
            f"The model {model} did not begin to answer within {limit:g} s.",
        )
    if is_whole:
        return LLMError(
            "stall_timeout", f"The model {model} did not finish its answer within {limit:g} s."
        )
    return LLMError(
        "stall_timeout",
        f"The model {model} fell silent for {times.stall:g} s in the middle of its answer.",
    )
