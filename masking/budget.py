"""Bounds what masking one text may cost, so that no text made for it can hold a process."""

import time
from dataclasses import dataclass

HITS = 20_000
"""Places of one text that rules look at closely. A megabyte of 50-character lines has as many."""
TOKENS = 150_000
"""Strings and brackets of the JSON that is walked; a megabyte of a cluster's JSON has 60,000."""
LINES = 50_000
"""Lines that are read as YAML because a manifest or a variable is among them."""
ESCAPES = 200_000
"""Runs of escapes and encoded words that are undone."""


CHECK_EVERY = 32
SECONDS = 30.0
"""Of CPU. Nothing that fits into the other bounds should take as long."""


class TooMuchToMask(Exception):
    """The text holds more that may be secret than is looked at. Nothing of it may be shown."""


@dataclass
class Budget:
    """What is left for one text, its nested texts included."""

    hits: int = HITS
    tokens: int = TOKENS
    lines: int = LINES
    escapes: int = ESCAPES
    seconds: float = SECONDS
    _ends_at: float = 0.0

    def __post_init__(self) -> None:
        # The thread's own time: what others do on the machine does not count.
        if not self._ends_at:
            self._ends_at = time.thread_time() + self.seconds

    def for_one_round(self) -> "Budget":
        """A whole budget, of which no more time is left than of this one."""
        return Budget(_ends_at=self._ends_at)

    def check_time(self) -> None:
        if time.thread_time() > self._ends_at:
            raise TooMuchToMask("masking it takes too long")

    def spend_hits(self, count: int = 1) -> None:
        self.hits -= count
        if self.hits % CHECK_EVERY == 0:
            self.check_time()
        if self.hits < 0:
            raise TooMuchToMask(f"more than {HITS} places look like secrets")

    def spend_tokens(self, count: int) -> None:
        self.tokens -= count
        if self.tokens < 0:
            raise TooMuchToMask(f"more than {TOKENS} pieces of JSON around secrets")

    def spend_lines(self, count: int = 1) -> None:
        self.lines -= count
        if self.lines < 0:
            raise TooMuchToMask(f"more than {LINES} lines around secrets")

    def spend_escapes(self, count: int = 1) -> None:
        self.escapes -= count
        if self.escapes % CHECK_EVERY == 0:
            self.check_time()
        if self.escapes < 0:
            raise TooMuchToMask(f"more than {ESCAPES} escapes around secrets")
