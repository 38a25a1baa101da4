"""Why a server cannot be reached, by the exceptions below the one that was raised."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Obstacle:
    """`reason` is a clause for people; one that `is_lasting` is there the next time as well."""

    reason: str
    is_lasting: bool = False


def find_obstacle(error: BaseException) -> Obstacle | None:
    """None where nobody says more than that it failed."""
    for cause in _walk(error):
        # aiohttp's own exceptions derive from these and know nothing of what they know.
        if message := getattr(cause, "verify_message", ""):
            reason = f"its certificate is not trusted ({message})"
            return Obstacle(f"{reason}; name its authority in SSL_CERT_FILE", is_lasting=True)
        if isinstance(cause, ssl.SSLError) and _reason(cause) == "WRONG_VERSION_NUMBER":
            return Obstacle("it speaks no TLS; its address may begin with http://", is_lasting=True)
        if isinstance(cause, socket.gaierror):
            return Obstacle("its name is not known here")
        if isinstance(cause, ConnectionRefusedError):
            return Obstacle("nothing listens there")
        # By its name: both HTTP libraries have one.
        if type(cause).__name__ == "TooManyRedirects":
            reason = "it sends us on and on from one address to the next. Check base_url"
            return Obstacle(reason, is_lasting=True)
    return None


def _reason(error: ssl.SSLError) -> str:
    return getattr(error, "reason", "")


def _walk(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
