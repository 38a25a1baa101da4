"""When there was a worker that could take over, and what it took to start one."""

import math
from dataclasses import dataclass
from pathlib import Path

STARTED_WITHIN = 30.0
"""Seconds that a worker may take to be ready, beside those in which it waits for a processor."""


@dataclass(frozen=True)
class Start:
    """What it took a worker to be ready."""

    pid: int
    seconds: float
    starved: float
    """Seconds of them in which its main thread could have run and got no processor."""

    @property
    def is_late(self) -> bool:
        return self.seconds - self.starved > STARTED_WITHIN


def read_starved(pid: int) -> float:
    """Seconds that the main thread of a process has waited for a processor so far; 0 where the
    kernel does not tell."""
    try:
        _, waited, _ = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9


class Presence:
    """Times without any worker: all were killed or frozen, and none had started in their place.

    Nothing can be taken over then, whatever the product does.
    """

    def __init__(self) -> None:
        self.absences: list[tuple[float, float]] = []
        self._missing_at: float | None = None

    def note(self, *, is_there: bool, at: float) -> None:
        """One look, in order of time. Only what lies between two that found nobody counts."""
        before, self._missing_at = self._missing_at, None if is_there else at
        if is_there or before is None:
            return
        if self.absences and self.absences[-1][1] == before:
            before = self.absences.pop()[0]
        self.absences.append((before, at))

    def seconds_without(self, begin: float, end: float) -> float:
        """How much of a time there was nobody."""
        return sum(max(0.0, min(end, last) - max(begin, first)) for first, last in self.absences)

    @property
    def total(self) -> float:
        return self.seconds_without(-math.inf, math.inf)
