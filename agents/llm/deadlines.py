"""Deadlines around a stream of chunks: to the first one, between two, and for the whole."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TypeVar

from agents.ports import LLMOptions
from tarsy.errors import LLMError

Chunk = TypeVar("Chunk")
OpenStream = Callable[[], AbstractAsyncContextManager[AsyncIterator[Chunk]]]


async def stream_within(
    open_stream: OpenStream[Chunk], options: LLMOptions, *, model: str
) -> AsyncGenerator[Chunk, None]:
    """The chunks of a stream that is opened here and left when this generator is closed.

    Raises `LLMError` with `initial_response_timeout` when no chunk came in time, opening included,
    and with `stall_timeout` when the stream stopped or did not end in time.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + options.call_timeout
    chunks: AsyncIterator[Chunk] | None = None
    is_first = True
    async with AsyncExitStack() as stack:
        while True:
            wait = options.first_chunk_timeout if is_first else options.stall_timeout
            limit = asyncio.timeout_at(min(loop.time() + wait, ends_at))
            try:
                async with limit:
                    if chunks is None:
                        chunks = await stack.enter_async_context(open_stream())
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if not limit.expired():
                    raise
                raise _describe(options, model, is_first, loop.time() >= ends_at) from error
            is_first = False
            yield chunk


def _describe(options: LLMOptions, model: str, is_first: bool, is_whole: bool) -> LLMError:
    limit = options.call_timeout if is_whole else options.first_chunk_timeout
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
        f"The model {model} fell silent for {options.stall_timeout:g} s in the middle of its "
        "answer.",
    )
