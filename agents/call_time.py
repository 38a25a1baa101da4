"""The time that a call may take. It stands still while a person or a provider is waited for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType


class CallTime:
    """A context that ends with TimeoutError at `at`, in the loop's time, and no sooner.

    `at` moves on by what it stood still within.
    """

    def __init__(self, at: float) -> None:
        self.at = at
        self._limit = asyncio.timeout_at(at)
        self._token: Token[CallTime | None] | None = None

    async def __aenter__(self) -> "CallTime":
        await self._limit.__aenter__()
        self._token = _current.set(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        await self._limit.__aexit__(kind, error, trace)

    @property
    def is_over(self) -> bool:
        return self._limit.expired()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        if self.is_over:
            yield
            return
        clock = asyncio.get_running_loop().time
        began = clock()
        self._limit.reschedule(None)
        try:
            yield
        finally:
            self.at += clock() - began
            self._limit.reschedule(self.at)


@contextmanager
def asking_a_person() -> Iterator[None]:
    """What is done within counts against no time of the call it belongs to.

    Whoever asks says how long a person may take; the times of stage and session go on.
    """
    call = _current.get()
    if call is None:
        yield
        return
    with call.stopped():
        yield


_current: ContextVar[CallTime | None] = ContextVar("call_time", default=None)
