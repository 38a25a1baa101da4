"""Tries a model call again while nothing of it was shown."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from agents.llm_events import CallProposed, LLMEvent, TextDelta, ThinkingDelta
from tarsy.errors import LLMError

MAX_TRIES = 3
BACKOFF = (1.0, 2.0, 4.0)
JITTER = 0.25
MAX_LESSONS = 5
"""Requests written anew after a refusal that said how; a server may take one lesson back."""


@dataclass(frozen=True)
class Retry:
    """A failed attempt that is followed by another one after `delay` seconds."""

    error: LLMError
    attempt: int
    delay: float


Attempt = Callable[[], AsyncIterator[LLMEvent]]


async def stream_with_retries(
    attempt: Attempt,
    *,
    on_retry: Callable[[Retry], Awaitable[None]],
) -> AsyncGenerator[LLMEvent, None]:
    """The events of the first attempt that shows anything.

    Raises `LLMError`: `max_retries` when every attempt failed, with `partial` set when the answer
    broke off after some of it was shown.
    """
    number = lessons = 0
    while True:
        number += 1
        is_shown = False
        try:
            # Every client is an async generator; closing it ends the call.
            stream = cast(AsyncGenerator[LLMEvent, None], attempt())
            async with aclosing(stream):
                async for event in stream:
                    is_shown = is_shown or isinstance(
                        event, TextDelta | ThinkingDelta | CallProposed
                    )
                    yield event
            return
        except LLMError as error:
            if is_shown:
                raise _mark_partial(error) from error
            delay = choose_delay(error, number)
            if delay is None:
                raise
            attempt_number = number
            if error.is_taught and lessons < MAX_LESSONS:
                number, lessons = number - 1, lessons + 1
            elif number >= MAX_TRIES:
                raise _give_up(error) from error
            await on_retry(Retry(error, attempt_number, delay))
            await asyncio.sleep(delay)


def choose_delay(error: LLMError, attempt: int) -> float | None:
    """Seconds to wait before the next attempt; None when asking again cannot help.

    A client that was asked to wait longer than its provider may ask for says that it cannot.
    """
    if not error.retryable:
        return None
    if error.retry_after is None:
        return BACKOFF[attempt - 1] * (1 + random.uniform(0, JITTER))
    return max(0.0, error.retry_after)


def _mark_partial(error: LLMError) -> LLMError:
    is_told_apart = error.code in ("stall_timeout", "endless_answer")
    code = error.code if is_told_apart else "partial_stream_error"
    return LLMError(code, f"The answer broke off. {error}", partial=True)


def _give_up(error: LLMError) -> LLMError:
    return LLMError("max_retries", f"{error} It was tried {MAX_TRIES} times.")
