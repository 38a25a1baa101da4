"""What came of a program, or of a whole script of them, wherever it ran."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finished:
    """What was printed, not yet masked. `exit_code` is None where it was killed.

    `timed_out`: the deadline ended it. `cut`: it printed more than was allowed.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    cut: bool = False
