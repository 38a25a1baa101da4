"""How many sockets of one source a web process keeps open.

Each costs a file descriptor, and a process may have about a thousand of those unless told
otherwise. A page that gets no socket asks for what is new now and then instead.
"""

from collections import Counter


class OpenSockets:
    """Counts them for one event loop."""

    def __init__(self) -> None:
        self._of_source: Counter[str] = Counter()

    def enter(self, source: str, most: int) -> bool:
        """Whether there is room for one more; if so it counts until it leaves."""
        if self._of_source[source] >= most:
            return False
        self._of_source[source] += 1
        return True

    def leave(self, source: str) -> None:
        self._of_source[source] -= 1
        if self._of_source[source] <= 0:
            del self._of_source[source]
