"""The certificates of Amazon, and the addresses that confirm a subscription."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from investigations.runbooks.addresses import Address, Unavailable
from investigations.runbooks.fetch import Request, fetch, public_network

_SECONDS = 10.0
_MOST_BYTES = 64 * 1024
_MOST_KEPT = 32
_WAIT_SECONDS = 15.0
_KEPT_SECONDS = 24 * 3600.0
_FAILURE_SECONDS = 60.0


def fetch_once(address: Address) -> bytes:
    """What lies at an address, within ten seconds and 64 kB. Raises Unavailable.

    For a thread without an event loop. The name is resolved once, and leads to public addresses
    only; a redirect stays on the host.
    """
    request = Request(address, (address.host,), max_bytes=_MOST_BYTES, seconds=_SECONDS)
    return asyncio.run(fetch(request, public_network()))


@dataclass(frozen=True)
class _Kept:
    told: bytes | Unavailable
    until: float


class Shelf:
    """What was fetched, for a day, and what could not be had, for a minute.

    One thread fetches at a time: others wait for it, some seconds long, and take what it brought.
    What is here already, nobody waits for, and no failure takes its place: strangers say which
    addresses are asked.
    """

    def __init__(
        self,
        fetch_one: Callable[[Address], bytes] = fetch_once,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _WAIT_SECONDS,
    ) -> None:
        self._fetch = fetch_one
        self._clock = clock
        self._patience = patience
        self._contents: OrderedDict[str, _Kept] = OrderedDict()
        self._failures: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, address: Address) -> bytes:
        """Raises Unavailable, also for what could not be had a moment ago."""
        told = self._find(address)
        if told is None:
            if not self._lock.acquire(timeout=self._patience):
                raise Unavailable("is asked for too many others at once")
            try:
                told = self._find(address) or self._load(address)
            finally:
                self._lock.release()
        if isinstance(told, Unavailable):
            raise Unavailable(str(told))
        return told

    def _find(self, address: Address) -> bytes | Unavailable | None:
        kept = self._contents.get(str(address)) or self._failures.get(str(address))
        return kept.told if kept and kept.until > self._clock() else None

    def _load(self, address: Address) -> bytes | Unavailable:
        try:
            content = self._fetch(address)
        except Unavailable as error:
            self._keep(self._failures, address, error, _FAILURE_SECONDS)
            return error
        self._keep(self._contents, address, content, _KEPT_SECONDS)
        return content

    def _keep(
        self,
        place: OrderedDict[str, _Kept],
        address: Address,
        told: bytes | Unavailable,
        seconds: float,
    ) -> None:
        for each in (self._contents, self._failures):
            each.pop(str(address), None)
        place[str(address)] = _Kept(told, self._clock() + seconds)
        while len(place) > _MOST_KEPT:
            place.popitem(last=False)
