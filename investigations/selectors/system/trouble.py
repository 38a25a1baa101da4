"""Whether something is wrong, for a mark on every page: known beforehand, so that no page waits."""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache

from django.db import connections

from investigations.selectors.system.warnings import is_in_trouble

logger = logging.getLogger(__name__)

FRESH_SECONDS = 10.0


class Watch:
    """The last answer to a question, asked again in a thread of its own once it is old.

    Until the first answer is there, it is no. Who reads never waits, however long an answer takes.
    """

    def __init__(self, ask: Callable[[], bool], fresh_seconds: float) -> None:
        self._ask = ask
        self._fresh_seconds = fresh_seconds
        self._lock = threading.Lock()
        self._answer = False
        self._asked_at = float("-inf")
        self._is_asking = False

    def read(self) -> bool:
        with self._lock:
            is_old = time.monotonic() - self._asked_at > self._fresh_seconds
            if is_old and not self._is_asking:
                self._is_asking = True
                threading.Thread(target=self._look, name="trouble", daemon=True).start()
            return self._answer

    def _look(self) -> None:
        answer = self._answer
        try:
            answer = self._ask()
        except Exception:
            logger.exception("Whether something is wrong could not be found out")
        finally:
            # Of this thread, which ends here.
            connections.close_all()
        with self._lock:
            self._answer, self._is_asking = answer, False
            self._asked_at = time.monotonic()


def sees_trouble() -> bool:
    """Whether the last look, some seconds ago, found something missing."""
    return _watch().read()


@cache
def _watch() -> Watch:
    return Watch(is_in_trouble, FRESH_SECONDS)
