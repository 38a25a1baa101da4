"""Whether programs of this machine reach each other at all."""

import socket

from tarsy.embedded.errors import EmbeddedError

HOST = "127.0.0.1"
CONNECT_WITHIN = 10.0


def check_loopback() -> None:
    """Raises EmbeddedError where nobody here could connect to the servers: a container without a
    network, or one that has IPv6 alone. They start even so, and wait for an answer in vain."""
    try:
        with socket.create_server((HOST, 0)) as listening:
            socket.create_connection(listening.getsockname(), CONNECT_WITHIN).close()
    except OSError as error:
        raise EmbeddedError(
            f"this machine cannot connect to itself at {HOST} ({error.strerror or error}); give "
            f"its loopback interface that address and bring it up (`ip link set lo up`), or set "
            "DATABASE_URL and REDIS_URL"
        ) from error
