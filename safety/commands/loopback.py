"""Names of the machine itself: whoever talks to them reaches nobody else."""

import ipaddress
import re

_OWN = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1|\[::1\]", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    return _OWN.fullmatch(host) is not None


def is_local(value: str) -> bool:
    """Whether a word or the value of an option can name no other machine: a port, a count, a
    socket's path, or a name of this machine, with a port behind it or not. A longer number is an
    address to a resolver."""
    host, mark, port = value.rpartition(":")
    if mark and is_loopback(host):
        return _is_small(port)
    return _is_small(value) or value.startswith("/") or is_loopback(value)


def _is_small(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5


def needs_no_lookup(value: str) -> bool:
    """Whether no resolver is asked for this operand: an address in numbers, with a port or the
    length of a network, or nothing that is elsewhere. Nobody talks to the machine either."""
    address = re.fullmatch(
        r"(?:inet6?:)?(?:\[([^\]]*)\]|([0-9a-fA-F:]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)|([^:/]*))"
        r"(?:/\d{1,3}(?:\.\d{1,3}){0,3})?(?::[\w*-]*)?",
        value,
    )
    if is_local(value) or value in ("", "*"):
        return True
    if address is None:
        return False
    host = address[1] or address[2] or address[3]
    return host in ("", "*", None) or is_loopback(host) or _is_ip(host)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
