"""Says quickly which of many patterns may occur in a text, in bounded time whatever the text is.

One automaton for all of them is the quickest way through text that it has seen the like of. On
random text nearly every character leads to a state that has to be made first, at a thousandth of
the speed. So it is tried on a little, and left alone for a while where it is slow: then the letters
that a pattern cannot do without are looked for, and only patterns of which those occur are tried, a
few in one automaton, without the counts that multiply states.
"""

import re
import time
from collections.abc import Iterable, Sequence

import re2

GROUP = 6
"""Patterns that share an automaton: more are slow on random text, fewer on all other text."""
_TRIED = 256
_SAMPLES = 8
_SLOW = 100
"""Nanoseconds of CPU for a byte; in familiar text it is about two."""
_SPARED = 100_000
"""Nanoseconds that no text is called slow for."""
_PATIENCE = 20_000_000
_SHORTEST_PAUSE = 65_536
_LONGEST_PAUSE = 1 << 20
"""Bytes for which the one automaton is left alone."""
# RE2 gives up silently when its automaton outgrows its memory; nothing may pass for that reason.
MEMORY = 64 * 1024 * 1024
_COUNT = re.compile(r"(?<!\\)\{([0-9]+)(,?)([0-9]*)\}")


class Sieve:
    """Lets through every pattern that occurs, and some that do not."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._all = _compile_set(f"(?m){pattern}".encode() for pattern in patterns)
        # Threads may overwrite each other's pauses, which costs a little time and nothing else.
        self._pause = _SHORTEST_PAUSE
        self._left = 0
        self._turn = 0
        self._patience = 2 * _PATIENCE
        self._filter = re2.Filter()
        coarse = [f"(?m){_without_counts(pattern)}".encode() for pattern in patterns]
        for pattern in coarse:
            self._filter.Add(pattern, options())
        self._filter.Compile()
        always = frozenset(self._filter.Match(b"\x01", potential=True) or ())
        # Those that are always tried stand together, so that the others need no automaton.
        order = sorted(range(len(patterns)), key=lambda index: index not in always)
        self._groups = [order[start : start + GROUP] for start in range(0, len(order), GROUP)]
        self._group_of = {
            index: number for number, group in enumerate(self._groups) for index in group
        }
        self._sets = [_compile_set(coarse[index] for index in group) for group in self._groups]

    def match(self, data: bytes) -> list[int]:
        """The patterns that may occur, in their order."""
        if self._left > 0:
            self._left -= len(data)
            return self._match_in_groups(data)
        if len(data) > _TRIED * _SAMPLES and not self._is_familiar(data):
            return self._match_in_groups(data)
        began = time.thread_time_ns()
        found = self._all.Match(data) or ()
        self._judge(time.thread_time_ns() - began, len(data))
        return sorted(found)

    def _is_familiar(self, data: bytes) -> bool:
        """Tries samples from all over the text, which are learned on the way."""
        are_quick = True
        step = len(data) // _SAMPLES
        # Elsewhere each time: the same text may be looked at again, of which samples are known.
        self._turn += 1
        for start in range(self._turn * 997 % step, len(data), step):
            sample = data[start : start + _TRIED]
            began = time.thread_time_ns()
            self._all.Match(sample)
            are_quick &= self._judge(time.thread_time_ns() - began, len(sample))
            if self._left > 0:
                return False
        return are_quick

    def _judge(self, took: int, size: int) -> bool:
        """Whether to go on so. What is new is learned for a while, what stays new never is."""
        if took <= _SPARED + _SLOW * size:
            self._pause = _SHORTEST_PAUSE
            return True
        self._patience -= took
        if self._patience < 0:
            self._patience = _PATIENCE
            self._left = self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return False

    def _match_in_groups(self, data: bytes) -> list[int]:
        possible = self._filter.Match(data.lower(), potential=True) or ()
        groups = {self._group_of[index] for index in possible}
        found: list[int] = []
        for number in groups:
            group = self._groups[number]
            found += [group[place] for place in self._sets[number].Match(data) or ()]
        return sorted(found)


def options(*, captures: bool = False) -> re2.Options:
    chosen = re2.Options()
    # Without groups the fast automaton does all the work.
    chosen.never_capture = not captures
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.max_mem = MEMORY
    return chosen


def _compile_set(patterns: Iterable[bytes]) -> re2.Set:
    compiled = re2.Set.SearchSet(options())
    for pattern in patterns:
        compiled.Add(pattern)
    compiled.Compile()
    return compiled


def _without_counts(pattern: str) -> str:
    """What matches wherever the pattern does: a count of twenty is twenty states, one is one."""

    def loosen(match: re.Match[str]) -> str:
        low = int(match[1])
        return match[0] if low <= 1 and not match[3] else f"{{{min(low, 1)},}}"

    return _COUNT.sub(loosen, pattern)
