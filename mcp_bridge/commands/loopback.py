"""Names of the machine itself: whoever talks to them reaches nobody else."""

import re

_OWN = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1|\[::1\]", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    return _OWN.fullmatch(host) is not None


def is_local(value: str) -> bool:
    """Whether a word or the value of an option can name no other machine: a port, a count, a
    socket's path, or a name of this machine. A longer number is an address to a resolver."""
    is_small = value.isascii() and value.isdecimal() and len(value) <= 5
    return is_small or value.startswith("/") or is_loopback(value)
