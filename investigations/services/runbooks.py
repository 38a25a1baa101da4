"""Runbook addresses of alerts, and the runbooks to choose from."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache

from config import environment, get_config
from investigations.runbooks.addresses import Unavailable, check_host, read_address
from investigations.runbooks.fetch import public_network
from investigations.runbooks.shelf import SECONDS_OF_FAILURE, list_runbooks
from tarsy.errors import InvalidInput

logger = logging.getLogger(__name__)

FIELD = "runbook"
LISTING_SECONDS = 5.0


def check_runbook_url(url: str, allowed_domains: Sequence[str]) -> None:
    """Raise InvalidInput unless it is HTTPS on port 443 of an allowed domain.

    Checked by form only, nothing is looked up: fetching repeats the check at each hop.
    """
    try:
        check_host(read_address(url), allowed_domains)
    except Unavailable as error:
        raise InvalidInput(FIELD, str(error)) from error


def available_runbooks(patience: float = LISTING_SECONDS) -> tuple[str, ...]:
    """The addresses of the runbooks in the configured repository; none when it cannot be read, or
    not within `patience` seconds."""
    system = get_config().system
    if not system.runbooks.repo_url:
        return ()
    return _listing().read(system.runbooks.cache_ttl.total_seconds(), patience)


class Listing:
    """A list that takes a while to load, kept for a while, and loaded by one thread at a time.

    Who asks waits as long as they say, for a name server or GitHub may not answer at all; what
    comes later is there for the next one. `load` gives None where no list could be had.
    """

    def __init__(self, load: Callable[[], tuple[str, ...] | None]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="runbooks")
        self._latest: Future[tuple[str, ...] | None] | None = None
        self._begun = 0.0

    def read(self, fresh_seconds: float, patience: float) -> tuple[str, ...]:
        """The list, at most `fresh_seconds` old; empty when it did not come within `patience`."""
        latest = self._begin(fresh_seconds)
        wait((latest,), timeout=patience)
        return (latest.result() or ()) if latest.done() else ()

    def _begin(self, fresh_seconds: float) -> "Future[tuple[str, ...] | None]":
        with self._lock:
            now = time.monotonic()
            latest = self._latest
            if latest is None or (
                latest.done() and now - self._begun > _kept(latest, fresh_seconds)
            ):
                self._latest = latest = self._thread.submit(self._load)
                self._begun = now
            return latest


def _kept(loaded: "Future[tuple[str, ...] | None]", fresh_seconds: float) -> float:
    failed = loaded.exception() is not None or loaded.result() is None
    return min(fresh_seconds, SECONDS_OF_FAILURE) if failed else fresh_seconds


@cache
def _listing() -> Listing:
    return Listing(_list_or_warn)


def _list_or_warn() -> tuple[str, ...] | None:
    system = get_config().system
    token = environment().get(system.github.token_env, "").strip()
    listing = list_runbooks(
        system.runbooks.repo_url or "", token, public_network(), seconds=LISTING_SECONDS
    )
    try:
        return asyncio.run(listing)
    except Unavailable as error:
        logger.warning("The runbooks cannot be listed: system.runbooks.repo_url %s", error)
        return None
