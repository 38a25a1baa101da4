"""Why a command is not proven to be a read."""

from enum import StrEnum


class Category(StrEnum):
    """The ways in which a command does not end by itself."""

    TTY_FLAG = "tty_flag"
    PAGER = "pager"
    UNBOUNDED_STREAM = "unbounded_stream"
    INTERACTIVE_REPL = "interactive_repl"


class Refused(Exception):
    """The command is not proven; `reason` is for the model and the person who reads along."""

    def __init__(self, reason: str, category: Category | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.category = category


class SensitivePath(Refused):
    """It would read what is never read out."""
