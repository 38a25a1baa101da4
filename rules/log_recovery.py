"""Whether what a log tells of is over by the log's end.

A program says little where all is well, and much that has nothing to do with what failed: probes of
its health, other callers, other work. So only two things show that an error is over: that it was
not said again for much longer than it ever was apart, or that the same subject is said to be well.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rules.functions import UNKNOWN, moment
from rules.log_entries import Entry, tell
from rules.log_words import FATAL, strip_level, strip_recovery, tells_of_arrival, tells_of_recovery

QUIET = 300.0
"""Seconds that an error is not said again, at the least, before that means anything."""
TIMES_APART = 4.0
"""How much longer than it ever was apart from itself it has to stay away."""
_KINDS = frozenset(
    {"server", "service", "host", "node", "backend", "broker"}
    | {"database", "cluster", "connection", "instance", "peer"}
)
"""What many things are, so that two that share it need not be the same."""
_WORD = re.compile(r"[^\W\d_]{4,}|[\w.:/@-]*\d[\w.:/@-]*\w")


@dataclass(frozen=True)
class Recoveries:
    """What of a log says that something is well."""

    entries: Sequence[Entry]

    @cached_property
    def _last(self) -> float:
        return max((moment(each.at) for each in self.entries[-20:]), default=UNKNOWN)

    @cached_property
    def _arrivals(self) -> Sequence[int]:
        """Where the whole program says that it is up."""
        return [n for n, each in enumerate(self.entries) if tells_of_arrival(each.said)]

    @cached_property
    def _recoveries(self) -> Sequence[tuple[int, frozenset[str]]]:
        """Where something else is said to be well, with the words that name it."""
        return [
            (n, _words_of(strip_recovery(strip_level(each.said))))
            for n, each in enumerate(self.entries)
            if tells_of_recovery(each.said)
        ]

    @cached_property
    def last_place(self) -> int:
        """Behind which nothing is said to be well."""
        return max([-1, *self._arrivals, *(place for place, _ in self._recoveries)])

    def has_recovered(self, place: int) -> bool:
        """Whether what was said there is said to be well behind it."""
        if any(each > place for each in self._arrivals):
            return True
        said = _words_of(tell(self.entries[place]))
        return any(
            behind > place and _names_the_same(named, said) for behind, named in self._recoveries
        )

    def is_over(self, places: Sequence[int]) -> bool:
        """Whether what was said at these places did not come again."""
        if self.has_recovered(places[-1]):
            return True
        at = [moment(self.entries[place].at) for place in places]
        # What ended something need not be said again.
        is_end = len(at) == 1 and self.entries[places[0]].level == FATAL
        if is_end or UNKNOWN in (*at, self._last):
            return False
        # Of what was said once, nobody knows how often it comes.
        apart = max((then - before for before, then in pairwise(at)), default=QUIET)
        return self._last - at[-1] > max(QUIET, TIMES_APART * apart)


def _names_the_same(named: frozenset[str], said: frozenset[str]) -> bool:
    """Whether a message that something is well is about what another one tells of: it shares an
    address or a number with it, or half of its words without those that only tell its kind."""
    own = named - _KINDS or named
    return 2 * len(own & said) >= len(own) > 0 or any(_is_address(each) for each in named & said)


def _is_address(word: str) -> bool:
    return len(word) > 5 and not word.isalpha() and not word.isdigit()


def _words_of(text: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for found in _WORD.finditer(text[:1_000]))
