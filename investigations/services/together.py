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


@dataclass
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
    ) -> None:
        """`take` returns one result for each item: None for one that is not to be taken in company.
        Items are taken together as long as they weigh no more than `most`."""
        self._take = take
        self._weigh = weigh
        self._most = most
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
        with it.
        """
        place: _Place[Item, Result] = _Place(item)
        with self._lock:
            self._waiting.append(place)
            leads, self._is_led = not self._is_led, True
        if not leads:
            place.is_called.wait()
        if not place.is_taken:
            self._lead()
        return place.result

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
            self._is_led = bool(self._waiting)
            if self._is_led:
                self._waiting[0].is_called.set()
        for place in taken:
            place.is_called.set()
