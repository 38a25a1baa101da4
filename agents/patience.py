"""How many bad answers in a row an execution bears."""

from dataclasses import dataclass, replace

from agents.answers import Failure

MAX_ASKED_AGAIN = 2
"""How often in a row a useless or a broken answer is asked for again."""
MAX_TIMEOUTS = 2
"""Timeouts in a row that end an execution."""


@dataclass
class Patience:
    """Bad answers in a row; each count returns the failure to end with once it is too many."""

    timeouts: int = 0
    broken: int = 0
    useless: int = 0
    last: str = ""

    def count_timeout(self, failure: Failure) -> Failure | None:
        self.timeouts += 1
        self.last = failure.message
        return failure if self.timeouts >= MAX_TIMEOUTS else None

    def count_broken(self, failure: Failure) -> Failure | None:
        self.broken += 1
        self.last = failure.message
        return _too_often(failure, self.broken)

    def count_useless(self, failure: Failure) -> Failure | None:
        self.timeouts = self.broken = 0
        self.useless += 1
        self.last = failure.message
        return _too_often(failure, self.useless)

    def note_calls(self) -> None:
        """The model asked for tools, so its answer was of use."""
        self.broken = self.useless = 0

    def note_results(self) -> None:
        """Those tools ended in time."""
        self.timeouts = 0


def _too_often(failure: Failure, times: int) -> Failure | None:
    if times <= MAX_ASKED_AGAIN:
        return None
    return replace(failure, message=f"{failure.message} It did so {times} times in a row.")
