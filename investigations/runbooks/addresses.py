"""Which addresses we open, and which network addresses a name may lead to.

The alert names the address and anybody may send an alert, so nothing is guessed or repaired here:
what two parsers could read differently is refused.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, urljoin

from typing_extensions import override

from tarsy.errors import TarsyError

LONGEST_URL = 2048

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*", re.ASCII)
# ASCII, for else a long s would pass as the last letter of https.
_PARTS = re.compile(r"https://(?P<authority>[^/?]*)(?P<target>.*)", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_KEPT_AS_IS = "/?%:@!$&'()*+,;=~[]"

_NOT_FOR_PAGES_4 = (
    ip_network("192.0.0.0/24"),  # protocol assignments, a cloud's metadata among them
    ip_network("192.88.99.0/24"),  # relays of 6to4
    ip_network("168.63.129.16/32"),  # metadata and agents of a cloud, at a public address
)
_GLOBAL_6 = IPv6Network("2000::/3")
_NOT_FOR_PAGES_6 = (
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2002::/16"),  # 6to4: leads to whatever IPv4 address stands in it
    IPv6Network("3fff::/20"),  # documentation
)
_NAT64 = IPv6Network("64:ff9b::/96")


class Unavailable(TarsyError):
    """A runbook cannot be had. The text says why, in words of ours."""


@dataclass(frozen=True)
class Address:
    """An HTTPS address of a plain host name, on port 443, ready to be sent."""

    host: str
    target: str
    """Path and query, in ASCII."""

    @override
    def __str__(self) -> str:
        return f"https://{self.host}{self.target}"


def read_address(url: str) -> Address:
    """The address that `url` names. Raises Unavailable where it is no plain HTTPS address.

    By form only: nothing is looked up. A host of digits is a name as well; what it leads to is
    for `is_public` to judge.
    """
    if len(url) > LONGEST_URL:
        raise Unavailable(f"must not be longer than {LONGEST_URL:,} characters")
    _check_characters(url)
    parts = _PARTS.fullmatch(url.partition("#")[0])
    if parts is None:
        raise Unavailable("must start with https://")
    authority = parts["authority"]
    if "@" in authority:
        raise Unavailable("must not carry a user or password")
    name, colon, port = authority.partition(":")
    host = name.lower()
    # Some foreign letters are lowered to ASCII ones.
    if not name.isascii() or not _NAME.fullmatch(host):
        raise Unavailable("must have a plain host name of ASCII letters, digits, dots and dashes")
    if colon and port != "443":
        raise Unavailable("must use port 443")
    target = parts["target"]
    rooted = target if target.startswith("/") else f"/{target}"
    return Address(host, quote(rooted, safe=_KEPT_AS_IS))


def read_next_address(current: Address, location: str) -> Address:
    """The address that a redirect names, which may be relative to the current one."""
    _check_characters(location)
    if not location:
        raise Unavailable("must not be empty")
    if _SCHEME.match(location):
        return read_address(location)
    if location.startswith("//"):
        return read_address(f"https:{location}")
    return read_address(urljoin(str(current), location))


def _check_characters(url: str) -> None:
    # What some parsers drop (tabs, line breaks) and others read as a slash (backslashes).
    if not url.isprintable() or " " in url or "\\" in url:
        raise Unavailable("must be a plain address without blanks and backslashes")


def check_host(address: Address, allowed_domains: Collection[str]) -> None:
    """Raise Unavailable unless the host is one of these, or one of these behind `www.`."""
    allowed = {domain.lower() for domain in allowed_domains}
    if address.host in allowed or address.host.removeprefix("www.") in allowed:
        return
    listed = ", ".join(allowed_domains) or "none"
    raise Unavailable(f'has the host "{address.host}"; allowed are {listed}')


def is_public(text: str) -> bool:
    """Whether a resolved address is an ordinary one of the public internet.

    What stands for an IPv4 address (mapped, or translated by NAT64) is judged as that one.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_4(address)
    if address.scope_id is not None:
        return False
    if address.ipv4_mapped is not None:
        return _is_public_4(address.ipv4_mapped)
    if address in _NAT64:
        return _is_public_4(IPv4Address(int(address) & 0xFFFFFFFF))
    return _is_public_6(address)


def _is_public_4(address: IPv4Address) -> bool:
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address in network for network in _NOT_FOR_PAGES_4)


def _is_public_6(address: IPv6Address) -> bool:
    if address not in _GLOBAL_6 or not address.is_global:
        return False
    return not any(address in network for network in _NOT_FOR_PAGES_6)
