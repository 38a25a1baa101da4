"""A word for the page that is opened first, which has nothing of the demo until that began.

It is left by what starts the demo, and when it was left says what has come since.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_NAME = "demo"
_WAITS = "waits"


@dataclass(frozen=True)
class DemoWord:
    """What is about to happen, and whether it waits for somebody to open the link that was told."""

    fault: str
    waits: bool
    left_at: datetime


def leave_word(directory: Path, fault: str, *, waits: bool) -> None:
    text = f"{fault} {_WAITS}" if waits else fault
    (directory / _NAME).write_text(text, encoding="utf-8")


def take_word_away(directory: Path) -> None:
    (directory / _NAME).unlink(missing_ok=True)


def read_word(directory: Path) -> DemoWord | None:
    """None where no demo was started."""
    path = directory / _NAME
    try:
        fault, *rest = path.read_text(encoding="utf-8").split()
        left_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (FileNotFoundError, ValueError):
        return None
    return DemoWord(fault, _WAITS in rest, left_at)
