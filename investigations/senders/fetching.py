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
    content: bytes
    failure: str
    until: float


class Shelf:
    """What was fetched, for a day, and what could not be had, for a minute.

    One thread fetches at a time: others who want the same wait, and take what it brought. What is
    here already, nobody waits for.
    """

    def __init__(
        self,
        fetch_one: Callable[[Address], bytes] = fetch_once,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch_one
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, address: Address) -> bytes:
        """Raises Unavailable, also for what could not be had a moment ago."""
        kept = self._find(address)
        if kept is None:
            with self._lock:
                kept = self._find(address) or self._load(address)
        if kept.failure:
            raise Unavailable(kept.failure)
        return kept.content

    def _find(self, address: Address) -> _Kept | None:
        kept = self._kept.get(str(address))
        return kept if kept and kept.until > self._clock() else None

    def _load(self, address: Address) -> _Kept:
        try:
            kept = _Kept(self._fetch(address), "", self._clock() + _KEPT_SECONDS)
        except Unavailable as error:
            kept = _Kept(b"", str(error), self._clock() + _FAILURE_SECONDS)
        self._kept[str(address)] = kept
        self._kept.move_to_end(str(address))
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return kept
