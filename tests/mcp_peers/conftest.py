"""A place with something to look at, and what every server shows of it."""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.mcp_peers.backends import run_backends
from tests.mcp_peers.looking import Seen, look_over_http, look_over_stdio
from tests.mcp_peers.peers import Place, furnish


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    with run_backends() as (_, url):
        furnish(folder, url)
        yield Place(folder, url, os.environ["DATABASE_URL"], os.environ["REDIS_URL"])


@pytest.fixture(scope="module")
def seen(place: Place) -> tuple[Seen, ...]:
    """Every server, opened once over stdio, with what it lists and answers."""
    return _run(look_over_stdio(place))


@pytest.fixture(scope="module")
def seen_over_http(place: Place) -> tuple[Seen, ...]:
    """Those that answer over HTTP as well, once over each transport."""
    return _run(look_over_http(place))


def _run(look: Coroutine[None, None, tuple[Seen, ...]]) -> tuple[Seen, ...]:
    with ThreadPoolExecutor(1) as thread:  # A loop of its own, beside that of the tests.
        return thread.submit(asyncio.run, look).result()
