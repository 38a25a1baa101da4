"""Group commit: what comes while something is being written waits, and is written together next."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


PATIENCE = 20
"""Seconds that an item waits for its turn: longer than the database takes to end what hangs."""


@dataclass(eq=False)
class _Place(Generic[Item, Result]):
    """Of one item in the queue. `is_called` says that its thread is to go on: to take the next
    items, its own among them, unless it `is_taken`."""

    item: Item
    is_called: threading.Event = field(default_factory=threading.Event)
    is_taken: bool = False
    result: Result | None = None


class Together(Generic[Item, Result]):
    """Items that threads bring at the same time are taken together, by one of these threads.

    Nobody waits for company: an item that comes alone is taken at once, and those that come
    meanwhile are taken together after it. There is no thread of its own, so a process that dies
    loses what its callers were not told of, and nothing else.
    """

    def __init__(
        self,
        take: Callable[[Sequence[Item]], Sequence[Result | None]],
        *,
        weigh: Callable[[Item], int],
        most: int,
        patience: float = PATIENCE,
    ) -> None:
        """`take` returns one result for each item: None for one that is not to be taken in company.
        Items are taken together as long as they weigh no more than `most`."""
        self._take = take
        self._weigh = weigh
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._waiting: deque[_Place[Item, Result]] = deque()
        self._is_led = False

    @property
    def waiting(self) -> int:
        """How many items wait for those that are being taken."""
        return len(self._waiting)

    def take(self, item: Item) -> Result | None:
        """The result of an item; None where its caller is to take it alone.

        Also where those that it was taken with failed together: each meets alone what was wrong
        with it. And where its turn does not come, because the one before it hangs.
        """
        place: _Place[Item, Result] = _Place(item)
        with self._lock:
            self._waiting.append(place)
            leads, self._is_led = not self._is_led, True
        if not leads and not self._is_called(place):
            return None
        if not place.is_taken:
            self._lead()
        return place.result

    def _is_called(self, place: _Place[Item, Result]) -> bool:
        """Wait until it is; False where it has left the queue instead."""
        try:
            if place.is_called.wait(self._patience):
                return True
        except BaseException:
            self._leave(place)
            raise
        if self._leave(place):
            return False
        # Somebody has it: what becomes of it is being decided.
        return place.is_called.wait()

    def _leave(self, place: _Place[Item, Result]) -> bool:
        """Whether it still waited. Where it was to lead, the next one does."""
        with self._lock:
            if place not in self._waiting:
                return False
            self._waiting.remove(place)
            if place.is_called.is_set():
                self._call_next()
        return True

    def _lead(self) -> None:
        """Take the items that wait, as many as go together, the caller's own first."""
        places = self._next_places()
        try:
            results = self._take([each.item for each in places])
            for place, result in zip(places, results, strict=True):
                place.result = result
        except Exception:
            if len(places) == 1:
                raise
            # What is wrong with one of them is told to its caller; a fault of theirs together would
            # show as nothing but slowness.
            logger.warning(
                "%s items failed together: each is taken alone", len(places), exc_info=True
            )
        finally:
            self._call(places)

    def _next_places(self) -> list[_Place[Item, Result]]:
        with self._lock:
            places = [self._waiting.popleft()]
            weight = self._weigh(places[0].item)
            while self._waiting:
                weight += self._weigh(self._waiting[0].item)
                if weight > self._most:
                    break
                places.append(self._waiting.popleft())
        for place in places:
            place.is_taken = True
        return places

    def _call(self, taken: Sequence[_Place[Item, Result]]) -> None:
        """Whoever is next leads; those that were taken go on."""
        with self._lock:
            self._call_next()
        for place in taken:
            place.is_called.set()

    def _call_next(self) -> None:
        self._is_led = bool(self._waiting)
        if self._is_led:
            self._waiting[0].is_called.set()
