"""Remembers what was fetched, for a while, so that agents who start together read the same."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Entry(Generic[T]):
    value: T
    fresh_until: float


class Cache(Generic[T]):
    """The latest `size` values, each as long as it was told to keep it.

    Who asks for what is being loaded waits for that load. For one event loop.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._entries: OrderedDict[str, _Entry[T]] = OrderedDict()
        self._loading: dict[str, asyncio.Task[T]] = {}

    async def get(
        self, key: str, load: Callable[[], Awaitable[T]], *, seconds: Callable[[T], float]
    ) -> T:
        """The value under `key`, loaded when there is none or it is older than its `seconds`."""
        entry = self._entries.get(key)
        if entry is not None and self._clock() < entry.fresh_until:
            return entry.value
        task = self._loading.get(key)
        if task is None:
            task = asyncio.create_task(self._load(key, load, seconds))
            self._loading[key] = task
        # One of those who wait may be cancelled; the others still want it.
        return await asyncio.shield(task)

    async def _load(
        self, key: str, load: Callable[[], Awaitable[T]], seconds: Callable[[T], float]
    ) -> T:
        try:
            value = await load()
        finally:
            del self._loading[key]
        self._entries[key] = _Entry(value, self._clock() + seconds(value))
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return value
