"""What the proxies in front of us say about a request, as far as each may be believed.

A request has passed a chain of machines. The nearest one is whoever holds our connection. Each
proxy adds to the right end of `X-Forwarded-For` the address that it was asked from, and of
`X-Forwarded-Proto` the scheme. So both are read from the right, for as long as the machine that
wrote an entry is one of our proxies: what stands further left anybody may have written.

Two lists say who they are. A forwarding proxy (TARSY_FORWARDING_PROXIES) hands requests on: nginx,
whatever ends TLS, a load balancer. A trusted one (TARSY_TRUSTED_PROXIES) has also asked people who
they are, and has thrown away what a browser itself says about that.
"""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from tarsy.proxy_names import Network, find_addresses

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

SCHEME = "tarsy.scheme"
"""Where `SECURE_PROXY_SSL_HEADER` has Django look. No header of a request has such a name."""
_SIGNS_OF_PROXIES = ("HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED_HOST")
_SCHEMES = {"https": "https", "wss": "https", "http": "http", "ws": "http"}


@dataclass(frozen=True)
class Route:
    """How a request came here."""

    address: str
    """Of the nearest machine that is no proxy of ours: whoever asks, for all that we know."""
    scheme: str | None
    """What it asked with; None where no proxy said so, and the server's own answer holds."""
    may_name: bool
    """Whether the identity headers are those of a proxy that has asked people who they are."""


def trace_route(request: HttpRequest) -> Route:
    """Judge the headers of a request by whom it came through."""
    hops = list(_walk(request.META))
    proxies = sum(_is_forwarding(hop) or _is_trusted(hop) for hop in hops)
    return Route(hops[-1], _find_scheme(request.META, proxies), _may_name(hops))


def came_straight(request: HttpRequest) -> bool:
    """Whether no proxy stands in between that we were not told of, as far as such ones tell.

    Where one does, the address that `trace_route` finds is that proxy's, whoever asks.
    """
    proxies = len(list(_walk(request.META))) - 1
    if proxies < len(_entries(request.META, "HTTP_X_FORWARDED_FOR")):
        return False
    return proxies > 0 or not any(request.META.get(name) for name in _SIGNS_OF_PROXIES)


class BelieveProxies(MiddlewareMixin):
    """Lets `request.scheme` be what the person asked with, so that links and checks are right."""

    def process_request(self, request: HttpRequest) -> None:
        settle_scheme(request)


def settle_scheme(request: HttpRequest) -> None:
    """As the middleware does; for requests that pass none."""
    scheme = trace_route(request).scheme
    if scheme is not None:
        request.META[SCHEME] = scheme


def address_asked(request: HttpRequest) -> str:
    """Scheme and host for whoever asks to use again.

    Under its own host the dashboard is where BASE_URL says, also where the end of TLS is not one of
    the proxies that we were told of.
    """
    host = request.get_host()
    if settings.DASHBOARD_ORIGIN.endswith(f"://{host.lower()}"):
        return str(settings.DASHBOARD_ORIGIN)
    return f"{request.scheme}://{host}"


def _walk(meta: Mapping[str, Any]) -> Iterator[str]:
    """The machines from the nearest on: proxies of ours, and then the first that is none.

    The last one may be a proxy where it does not say whom it speaks for.
    """
    hop = str(meta.get("REMOTE_ADDR", ""))
    said = _entries(meta, "HTTP_X_FORWARDED_FOR")
    yield hop
    while said and (_is_forwarding(hop) or _is_trusted(hop)):
        address = _read_address(said.pop())
        if address is None:
            return
        hop = str(address)
        yield hop


def _may_name(hops: Sequence[str]) -> bool:
    """A proxy that only forwards vouches for nobody: the one before it must be asked.

    Also where a trusted network has it inside, for it hands on what browsers write.
    """
    for hop in hops:
        if not _is_forwarding(hop):
            return _is_trusted(hop)
    return False


def _find_scheme(meta: Mapping[str, Any], proxies: int) -> str | None:
    """The farthest that our proxies say; one that adds nothing has handed on what it was told."""
    said = _entries(meta, "HTTP_X_FORWARDED_PROTO")
    believed = said[-proxies:] if proxies else []
    return _SCHEMES.get(believed[0].lower()) if believed else None


def _entries(meta: Mapping[str, Any], name: str) -> list[str]:
    return [entry.strip() for entry in str(meta.get(name, "")).split(",") if entry.strip()]


def _read_address(text: str) -> Address | None:
    """`192.0.2.1`, `2001:db8::1`, and both with a port behind them."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _is_trusted(hop: str) -> bool:
    return _is_listed(hop, settings.TRUSTED_PROXIES)


def _is_forwarding(hop: str) -> bool:
    return _is_listed(hop, settings.FORWARDING_PROXIES)


def _is_listed(hop: str, proxies: Sequence[str]) -> bool:
    address = _read_address(hop) if proxies else None
    if address is None:
        return False
    return any(address in network for proxy in proxies for network in _networks_of(proxy))


def _networks_of(proxy: str) -> tuple[Network, ...]:
    try:
        return (_read_network(proxy),)
    except ValueError:
        return find_addresses(proxy)


@lru_cache(maxsize=64)
def _read_network(proxy: str) -> Network:
    return ipaddress.ip_network(proxy, strict=False)
