"""How much one source may ask of us in a minute, counted in Redis over all web processes.

The first request of a source in a minute is never refused. Where Redis cannot be asked, nothing
is: a limit is a comfort, an alert is not.
"""

import hashlib
import ipaddress
import logging
import time
import unicodedata
from functools import cache
from typing import Literal

import redis
from django.conf import settings
from django.http import HttpRequest
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import get_config
from investigations.access.identity import Identity, Sender, address_of, find_identity
from tarsy.errors import TooManyRequests

logger = logging.getLogger(__name__)

Kind = Literal["alerts", "requests", "questions", "decisions", "logins"]

WINDOW_SECONDS = 60
SPRAYING = 10
"""How many times the attempts for one account an address may make for all accounts together."""
_PATIENCE_SECONDS = 0.5
_PAUSE_SECONDS = 5.0
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('TTL', KEYS[1])}
"""
"""One step, or a process that dies in between leaves a counter that nothing ever clears."""


class _Counter:
    """Counts in Redis; after a failure it does not ask again for a moment."""

    def __init__(self) -> None:
        client = redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=_PATIENCE_SECONDS,
            socket_connect_timeout=_PATIENCE_SECONDS,
            health_check_interval=30,
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._count = client.register_script(_COUNT)
        self._asks_again_at = 0.0

    def count(self, key: str) -> tuple[int, int]:
        """How often in this window, and the seconds until it ends; (0, 0) where nobody knows."""
        if time.monotonic() < self._asks_again_at:
            return 0, 0
        try:
            count, left = self._count(keys=[key], args=[WINDOW_SECONDS])
        except redis.RedisError as error:
            self._asks_again_at = time.monotonic() + _PAUSE_SECONDS
            logger.warning("Nothing is limited for %d s: %s", _PAUSE_SECONDS, error)
            return 0, 0
        return int(count), int(left)


@cache
def _counter() -> _Counter:
    return _Counter()


def count_request(request: HttpRequest, kind: Kind, identity: Identity | None = None) -> None:
    """Count a request of whoever asks. Raises TooManyRequests with the seconds to wait."""
    limit = getattr(get_config().system.limits, kind)
    if limit is not None:
        _count(kind, source_of(request, identity or find_identity(request)), limit)


def count_login(request: HttpRequest, username: str) -> None:
    """Count an attempt to log in, for its account and for its address. Raises TooManyRequests."""
    limit = get_config().system.limits.logins
    address = _place_of(request)
    _count("logins", f"{_account_named(username)} at {address}", limit)
    _count("logins", f"anybody at {address}", limit and limit * SPRAYING)


def count_false_token(request: HttpRequest) -> None:
    """Count a token that is none, for its address. Raises TooManyRequests."""
    limit = get_config().system.limits.logins
    _count("logins", f"a token at {_place_of(request)}", limit and limit * SPRAYING)


def _place_of(request: HttpRequest) -> str:
    """The address, and of one of IPv6 the network: whoever has one there has all of them."""
    try:
        address = ipaddress.ip_address(address_of(request).partition("%")[0])
    except ValueError:
        return address_of(request)
    if not isinstance(address, ipaddress.IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def _account_named(username: str) -> str:
    """One name for all spellings that the login form takes for the same account."""
    return unicodedata.normalize("NFKC", username).strip().casefold()


def _count(kind: Kind, source: str, limit: int | None) -> None:
    if limit is None:
        return
    digest = hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:32]
    count, left = _counter().count(f"tarsy:{settings.REDIS_DATABASE}:limit:{kind}:{digest}")
    if count > limit:
        raise TooManyRequests(kind, limit, retry_after=max(left, 1))


def source_of(request: HttpRequest, identity: Identity | None) -> str:
    """A token, a person, an alert source, or the address of nobody in particular."""
    if isinstance(identity, Sender) and identity.form:
        return f"sender {identity.name}"
    if identity is None or identity.kind in ("open", "sender"):
        return f"address {_place_of(request)}"
    token = f" token {identity.name}" if identity.kind == "token" else ""
    return f"account {identity.username}{token}"
