"""The addresses of proxies that are listed by the names of their hosts.

A container that was made anew has another address under its name, so names are asked for again and
again; and a name server may be silent for many seconds. So only the first question of a process is
waited for: from then on what is known holds, and is asked for anew beside the requests.
"""

import ipaddress
import logging
import socket
import threading
import time
from dataclasses import dataclass

logger = logging.getLogger(__name__)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

REMEMBERED_SECONDS = 2.0


@dataclass(frozen=True)
class _Answer:
    networks: tuple[Network, ...]
    asked_at: float
    failed: bool = False


_answers: dict[str, _Answer] = {}
_asking: set[str] = set()
_lock = threading.Lock()
_first = threading.Lock()


def find_addresses(name: str) -> tuple[Network, ...]:
    """The addresses of a host as they were known last; none of one that nobody ever knew."""
    known = _answers.get(name)
    if known is None:
        with _first:  # However many requests wait for it, one question is asked.
            known = _answers.get(name) or ask(name)
    elif time.monotonic() - known.asked_at > REMEMBERED_SECONDS and _take_turn(name):
        threading.Thread(target=_ask_again, args=(name,), daemon=True).start()
    return known.networks


def ask(name: str) -> _Answer:
    """Ask the name server. While it fails, the addresses of before hold; told once per change."""
    known = _answers.get(name)
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        if known is None or not known.failed:
            logger.warning("Proxy %s cannot be looked up, its last addresses hold: %s", name, error)
        networks = known.networks if known else ()
        _answers[name] = _Answer(networks, time.monotonic(), failed=True)
        return _answers[name]
    if known is not None and known.failed:
        logger.info("Proxy %s can be looked up again", name)
    networks = tuple(ipaddress.ip_network(str(entry[4][0]).partition("%")[0]) for entry in found)
    _answers[name] = _Answer(networks, time.monotonic())
    return _answers[name]


def forget() -> None:
    """Know nothing any more, as a new process does."""
    _answers.clear()


def _take_turn(name: str) -> bool:
    with _lock:
        if name in _asking:
            return False
        _asking.add(name)
        return True


def _ask_again(name: str) -> None:
    try:
        ask(name)
    finally:
        with _lock:
            _asking.discard(name)
