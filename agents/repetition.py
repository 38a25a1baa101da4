"""Notices when a model has fallen into repeating itself."""

import re

CHECK_EVERY = 2000
WINDOW = 6000
SHORTEST_UNIT = 30
LONGEST_UNIT = 500
MIN_REPEATS = 5


class RepetitionWatch:
    """Keeps a growing text and says where it began to repeat itself, if it did."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._next_check = CHECK_EVERY

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def length(self) -> int:
        return self._length

    def add(self, delta: str) -> bool:
        """Keep more text; True when it repeats itself, and is then cut after the first copy."""
        self._parts.append(delta)
        self._length += len(delta)
        if self._length < self._next_check:
            return False
        self._next_check = self._length + CHECK_EVERY
        text = self.text
        self._parts = [text]  # Joining thousands of parts again and again is quadratic.
        cut = find_repetition(text)
        if cut is None:
            return False
        self._parts = [text[:cut]]
        return True


def find_repetition(text: str) -> int | None:
    """Where a text that ends in at least five copies of one unit should be cut, else None."""
    start = max(0, len(text) - WINDOW)
    window = text[start:]
    for unit in range(SHORTEST_UNIT, LONGEST_UNIT + 1):
        if _ends_in_copies(window, unit):
            return start + _first_copy_end(window, unit)
    return None


def _ends_in_copies(window: str, unit: int) -> bool:
    span = unit * MIN_REPEATS
    if len(window) < span:
        return False
    tail = window[-span:]
    # A text has period `unit` exactly when it equals itself shifted by `unit`.
    return tail[unit:] == tail[:-unit] and not _is_ruler(tail[:unit])


def _first_copy_end(window: str, unit: int) -> int:
    position = len(window) - unit
    while position > 0 and window[position - 1] == window[position - 1 + unit]:
        position -= 1
    return position + unit


def _is_ruler(unit: str) -> bool:
    """A line of dashes or spaces, as tables have them, is no repetition of thought."""
    return re.search(r"\w", unit) is None
