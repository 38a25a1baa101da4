"""Ports that nobody listens on."""

import socket

from tarsy.shop.layout import HOST


def find_free_port() -> int:
    """A port that is free now; somebody else may take it before us."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
