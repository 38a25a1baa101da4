"""Which machines a text names: hosts of addresses, domains and IP addresses.

Reads words only; asks no resolver.
"""

import ipaddress
import re
from collections.abc import Iterator

_HOST = r"(\[[^\]\s]{1,100}\]|[^\s/:?#\"'<>\\@]+)"
_HOST_HERE = re.compile(_HOST)
_SLASHES = re.compile(r":[/\\]{1,3}|[/\\]{2}")
_SCHEME = re.compile(r"(?<!\w)[a-z][a-z0-9+.-]*\Z", re.IGNORECASE)
_LONGEST_SCHEME = 60
_USER = re.compile(r"[^\s/@\"'<>]*")
_ALONE = re.compile(rf"(?:[^\s@/]+@)?{_HOST}(?::\d{{1,5}})?(?:[/?#]\S*)?")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+))*\.?", re.IGNORECASE)
"""An address in one of the spellings that only resolvers read."""
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.)+(?:xn--[\w-]+|[^\W\d_]{2,})\.?")
_UNIT = re.compile(r".*\.(?:service|socket|timer|target|mount|slice|scope|path|device|swap)",
                   re.IGNORECASE)  # fmt: skip
_INTERNAL = (".local", ".localhost", ".localdomain", ".internal", ".lan", ".svc", ".home.arpa")
_OWN_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128",
                 "fc00::/7")
)  # fmt: skip


def find_destinations(text: str) -> tuple[str, ...]:
    """The hosts that a text names as addresses, or is itself; each as it is written."""
    found = [host for _start, host in _find_addresses(text)]
    word = text.strip().translate(_DOTS)
    alone = _ALONE.fullmatch(word)
    if _read_ip(word) is not None:
        found.append(word)
    elif alone is not None and is_host(alone[1]):
        found.append(alone[1])
    return tuple(dict.fromkeys(host.strip("[]") for host in found))


def starts_with_address(text: str) -> bool:
    """Whether a text is the address of something, rather than one that mentions an address."""
    found = next(_find_addresses(text), None)
    return found is not None and not text[: found[0]].strip(" \t\r\n\"'<([{")


def _find_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Where each address begins, and its host. Every character is looked at a few times only."""
    position = end_of_user = 0
    while slashes := _SLASHES.search(text, position):
        position = slashes.start() + 1
        start = slashes.start() if slashes[0][0] != ":" else _start_of_scheme(text, slashes.start())
        if start is None:
            continue
        begin = slashes.end()
        if begin >= end_of_user:
            user = _USER.match(text, begin)
            end_of_user = user.end() if user else begin
        behind_user = end_of_user + 1 if text.startswith("@", end_of_user) else begin
        host = _HOST_HERE.match(text, behind_user) or _HOST_HERE.match(text, begin)
        if host is not None:
            position = host.end()
            yield start, host[1]


def _start_of_scheme(text: str, colon: int) -> int | None:
    """Where the scheme before a colon begins; None where none stands there."""
    window = text[max(0, colon - _LONGEST_SCHEME) : colon]
    scheme = _SCHEME.search(window)
    if scheme is None:
        return None
    return colon - len(window) + scheme.start()


def is_number(text: str) -> bool:
    """Whether a word is numbers that a resolver would take for an address."""
    return bool(_NUMBERS.fullmatch(text)) and (len(text) > 6 or "." in text or "x" in text.lower())


def is_host(text: str) -> bool:
    """Whether a word can only mean a machine: a domain or an address, no unit and no bare name."""
    return _read_ip(text) is not None or (
        bool(_DOMAIN.fullmatch(text)) and not _UNIT.fullmatch(text)
    )


def is_inside(host: str) -> bool:
    """Whether a host is this machine or one of a private network, whatever its name is."""
    if (address := _read_ip(host)) is not None:
        return any(address in network for network in _OWN_NETWORKS)
    name = host.translate(_DOTS).casefold().rstrip(".")
    if not name.isascii() or _NUMBERS.fullmatch(name) or "%" in name:
        return False
    return "." not in name or name.endswith(_INTERNAL)


def _read_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
