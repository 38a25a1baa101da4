"""The resources this execution resolved. In memory only: what was true once may be so no more."""

import time
from collections import OrderedDict
from collections.abc import Callable

from safety.gate.resources import Resource

SECONDS_KEPT = 45 * 60.0
MAX_ENTRIES = 500

Clock = Callable[[], float]
"""Seconds that only ever grow."""


class ResolvedContext:
    """Finds resources by id, name and alias; forgets what was not used for 45 minutes.

    Two records that must not be confused: when an entry was last used, which decides what is
    forgotten, and what was explicitly asked for in this turn, which says what is meant.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        *,
        seconds_kept: float = SECONDS_KEPT,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        self._clock = clock
        self.seconds_kept = seconds_kept
        self.max_entries = max_entries
        # Least recently used first.
        self._entries: OrderedDict[str, tuple[Resource, float]] = OrderedDict()
        self._pinned: set[str] = set()
        self._explicit: dict[str, int] = {}
        self._turn = 0

    def add(self, resource: Resource) -> None:
        """Keep a resource; only what resolve tools returned belongs here."""
        known = self._entries.get(resource.resource_id)
        if known is not None and not resource.executors:
            # A row of a list knows less than the whole resource seen before.
            resource = known[0]
        self._entries[resource.resource_id] = (resource, self._clock())
        self._entries.move_to_end(resource.resource_id)
        self._forget()

    def find_all(self, name: str) -> tuple[Resource, ...]:
        """What answers to an id, a name or an alias. An id is never taken for a name."""
        self._forget()
        folded = name.casefold()
        exact = [each for each, _ in self._entries.values() if each.resource_id == name]
        found = exact or [each for each, _ in self._entries.values() if folded in each.names]
        for each in found:
            self._entries[each.resource_id] = (each, self._clock())
            self._entries.move_to_end(each.resource_id)
        return tuple(found)

    def find(self, name: str) -> Resource | None:
        """The one resource of that name; None when there is none, or more than one."""
        found = self.find_all(name)
        return found[0] if len(found) == 1 else None

    @property
    def resources(self) -> tuple[Resource, ...]:
        self._forget()
        return tuple(each for each, _ in self._entries.values())

    def __len__(self) -> int:
        self._forget()
        return len(self._entries)

    def pin(self, resource_id: str) -> None:
        """Never forget this one."""
        self._pinned.add(resource_id)

    # What is meant

    def begin_turn(self) -> None:
        """A person asked something new: what was meant before no longer is."""
        self._turn += 1
        self._explicit = {}

    def mark_explicit(self, resource_id: str) -> None:
        """This very resource was asked for; a list that happens to contain it does not count."""
        self._explicit[resource_id] = self._turn

    def is_explicit(self, resource_id: str) -> bool:
        return self._explicit.get(resource_id) == self._turn

    # Forgetting

    def clear(self, *, keep_pinned: bool = False) -> None:
        kept = self._pinned if keep_pinned else set()
        self._entries = OrderedDict(
            (key, entry) for key, entry in self._entries.items() if key in kept
        )
        self._explicit = {key: turn for key, turn in self._explicit.items() if key in kept}
        self._pinned = set(kept)

    def _forget(self) -> None:
        oldest = self._clock() - self.seconds_kept
        over = len(self._entries) - self.max_entries
        for key, (_, used_at) in list(self._entries.items()):
            if used_at > oldest and over <= 0:
                return
            if key not in self._pinned:
                del self._entries[key]
                over -= 1
