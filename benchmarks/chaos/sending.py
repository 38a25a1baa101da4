"""A thread that posts to the stack while faults happen to it."""

import threading
from abc import ABC, abstractmethod


class Sender(ABC):
    """Posts on a thread of its own, from `start` until it is done or told to stop."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._post_all, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(20)

    @property
    def is_done(self) -> bool:
        """Everything has been accepted."""
        return not self._thread.is_alive()

    @abstractmethod
    def _post_all(self) -> None: ...
