"""What `make demo` is asked to do, before anything starts."""

import socket

import pytest

from tarsy import quickstart
from tarsy.errors import ConfigError


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_a_port_that_is_none_is_a_mistake_with_a_remedy(monkeypatch, port):
    monkeypatch.setenv("PORT", port)

    with pytest.raises(ConfigError, match=r"PORT must be (a whole number|at (least|most) \d+)"):
        quickstart._make_plan(with_sample=False)


def test_a_port_that_is_taken_is_a_mistake_with_a_remedy(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))

        with pytest.raises(ConfigError, match=f"PORT {port} is taken; set PORT to a free one"):
            quickstart._make_plan(with_sample=False)
