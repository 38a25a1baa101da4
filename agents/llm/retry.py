"""Tries a model call again while nothing of it was shown."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from agents.llm_events import CallProposed, LLMEvent, TextDelta, ThinkingDelta
from tarsy.errors import LLMError

BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before each next attempt where nobody asks for any; the last one before all further."""
JITTER = 0.25
MAX_LESSONS = 5
"""Requests written anew after a refusal that said how; a server may take one lesson back."""
SHORTEST_WAIT = 1.0
"""What is asked for and shorter is an attempt like any other."""
MAX_WAITS = 100
"""For one question. Long waits end with the session's time; this bounds a thousand short ones."""


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
    max_retries: int,
    on_retry: Callable[[Retry], Awaitable[None]],
    wait: Callable[[LLMError], Awaitable[None]],
) -> AsyncGenerator[LLMEvent, None]:
    """The events of the first attempt that shows anything.

    Where the provider asks for some time, `wait` lets it pass, or raises why it does not; what
    follows such a wait counts as no further attempt. Raises `LLMError`: `max_retries` when every
    attempt failed, with `partial` set when the answer broke off after some of it was shown.
    """
    count = _Count()
    while True:
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
            if not error.retryable:
                raise
            failed = error
        if asks_to_wait(failed):
            count.add_wait(failed)
            await wait(failed)
            continue
        retry = count.plan_retry(failed, max_retries)
        await on_retry(retry)
        await asyncio.sleep(retry.delay)


def asks_to_wait(error: LLMError) -> bool:
    """Whether the provider wants so much time that people should know."""
    return error.retry_after is not None and error.retry_after >= SHORTEST_WAIT


@dataclass
class _Count:
    """What was tried for one question. Raises where it was tried often enough."""

    attempts: int = 1
    lessons: int = 0
    waits: int = 0

    def add_wait(self, error: LLMError) -> None:
        self.waits += 1
        if self.waits > MAX_WAITS:
            raise _give_up(error, f"It was waited for {MAX_WAITS} times.")

    def plan_retry(self, error: LLMError, max_retries: int) -> Retry:
        retry = Retry(error, self.attempts, choose_delay(error, self.attempts))
        if error.is_taught and self.lessons < MAX_LESSONS:
            self.lessons += 1
            return retry
        if self.attempts > max_retries:
            times = "once" if self.attempts == 1 else f"{self.attempts} times"
            raise _give_up(error, f"It was tried {times}.")
        self.attempts += 1
        return retry


def choose_delay(error: LLMError, attempt: int) -> float:
    """Seconds to wait before the next attempt."""
    if error.retry_after is not None:
        return max(0.0, error.retry_after)
    usual = BACKOFF[min(attempt, len(BACKOFF)) - 1]
    return usual * (1 + random.uniform(0, JITTER))


def _mark_partial(error: LLMError) -> LLMError:
    is_told_apart = error.code in ("stall_timeout", "endless_answer")
    code = error.code if is_told_apart else "partial_stream_error"
    return LLMError(code, f"The answer broke off. {error}", partial=True)


def _give_up(error: LLMError, why: str) -> LLMError:
    return LLMError("max_retries", f"{error} {why}")
