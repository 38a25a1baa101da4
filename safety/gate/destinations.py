"""Which machines a text names: hosts of addresses, domains and IP addresses.

Reads words only; asks no resolver.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterator

from linkify_it.tlds import TLDS

_HOST = r"(\[[^\]\s]{1,100}\]|[^\s/:?#\"'<>\\@]+)"
_HOST_HERE = re.compile(_HOST)
_SLASHES = re.compile(r"(:?)([/\\]+)")
_NO_SLASHES = re.compile(r"(?<![\w+.-])(?:https?|ftp|wss?):(?![/\\])", re.IGNORECASE)
"""Where browsers read a host behind the colon all the same."""
_AUTHORITY = re.compile(r"[^\s/\"'<>]{0,600}")
"""As far as any reader may look for the host; some end it at a backslash, `?` or `#`."""
_LONGEST_HOST = 253
_METADATA_NAMES = frozenset({"metadata", "instance-data"})
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text) for text in ("fd00:ec2::254", "fd20:ce::254")
)
_TOP_LEVELS = frozenset(map(str.casefold, TLDS)) | {"example", "test", "invalid", "onion"}
_SCHEME = re.compile(r"(?<!\w)[a-z][a-z0-9+.-]*\Z", re.IGNORECASE)
_LONGEST_SCHEME = 60
_ALONE = re.compile(rf"(?:[^\s@/]+@)?{_HOST}(?::\d{{1,5}})?(?:[/?#]\S*)?")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+))*\.?", re.IGNORECASE)
"""An address in one of the spellings that only resolvers read."""
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.)+(?:xn--[\w-]+|[^\W\d_]{2,})\.?")
_OUTER = "".join(map(chr, range(33)))
_DROPPED = dict.fromkeys(map(ord, "\t\r\n"))
_UNIT = re.compile(r".*\.(?:service|socket|timer|target|mount|slice|scope|path|device|swap)",
                   re.IGNORECASE)  # fmt: skip
_INTERNAL = (".local", ".localhost", ".localdomain", ".internal", ".lan", ".svc", ".home.arpa")
_OWN_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128",
                 "fc00::/7")
)  # fmt: skip


def find_destinations(text: str) -> tuple[str, ...]:
    """The hosts that a text names as addresses, or is itself; each as it is written.

    Where readers of addresses disagree, each of their answers is among them.
    """
    found = [host for each in _readings(text) for _start, host in _find_addresses(each)]
    for each in _readings(text):
        word = each.strip(_OUTER).translate(_DOTS)
        alone = _ALONE.fullmatch(word)
        if _read_ip(word) is not None:
            found.append(word)
        elif alone is not None and is_host(alone[1]):
            found.append(alone[1])
    return tuple(dict.fromkeys(host.strip("[]") for host in found))


def starts_with_address(text: str) -> bool:
    """Whether a text is the address of something, rather than one that mentions an address."""
    for each in _readings(text):
        found = next(_find_addresses(each), None)
        if found is not None and not each[: found[0]].strip(_OUTER + "\"'<([{"):
            return True
    return False


def find_public_host(text: str) -> str | None:
    """The host that a whole text is, whatever it is meant to be, if somebody could be asked for it:
    it ends in a domain that exists, or is an address in numbers."""
    word = unicodedata.normalize("NFKC", text.strip(_OUTER).translate(_DOTS))
    alone = _ALONE.fullmatch("".join(filter(str.isprintable, word)))
    host = alone[1].rstrip(".").casefold() if alone is not None else ""
    last = host.rpartition(".")[2]
    exists = last in _TOP_LEVELS or last.startswith("xn--") or not last.isascii()
    return host if _read_ip(host) is not None or (exists and is_host(host)) else None


def _readings(text: str) -> tuple[str, ...]:
    """The text as it stands, and as browsers read an address: without tabs and line ends."""
    joined = text.translate(_DROPPED)
    return (text,) if joined == text else (text, joined)


def _find_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Where each address begins, and its hosts. Every character is looked at a few times only."""
    for match in _NO_SLASHES.finditer(text):
        yield from ((match.start(), host) for host in _hosts_at(text, match.end()))
    for slashes in _SLASHES.finditer(text):
        start = _start_of_scheme(text, slashes.start()) if slashes[1] else None
        if start is None and len(slashes[2]) > 1:
            start = slashes.start(2)
        if start is not None:
            yield from ((start, host) for host in _hosts_at(text, slashes.end()))


def _hosts_at(text: str, begin: int) -> Iterator[str]:
    """Every host that some reader would find in an address whose slashes end here."""
    found = _AUTHORITY.match(text, begin)
    authority = found[0] if found else ""
    if len(authority) > _LONGEST_HOST:
        yield authority
    front = re.split(r"[?#]", authority, maxsplit=1)[0]
    parts = authority[len(front) :].split("@")[1:]
    for part in (*re.split(r"[@\\]", front), *parts):
        host = _HOST_HERE.match(part.lstrip("."))
        if host is not None:
            yield host[1]


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
        is_own = any(address in network for network in _OWN_NETWORKS)
        return is_own and address not in _METADATA_ADDRESSES
    name = host.translate(_DOTS).casefold().rstrip(".")
    if not name.isascii() or _NUMBERS.fullmatch(name) or "%" in name or len(name) > _LONGEST_HOST:
        return False
    # What hands out the credentials of a machine is asked by the machine alone.
    if name.partition(".")[0] in _METADATA_NAMES:
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
