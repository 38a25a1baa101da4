"""A rehearsal server on a real port, and the real client to ask it with."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack

import pytest
from openai import AsyncOpenAI

from agents.rehearsal.loading import parse_script
from agents.rehearsal.script import Script
from tests.rehearsal_server import RunningRehearsal, start_rehearsal


@pytest.fixture
def rehearse() -> Iterator[Callable[..., RunningRehearsal]]:
    """Serve a script, given as YAML or as a `Script`, until the test ends."""
    with ExitStack() as servers:

        def start(script: str | Script, pace: float | None = None) -> RunningRehearsal:
            parsed = parse_script(script) if isinstance(script, str) else script
            return servers.enter_context(start_rehearsal(parsed, pace=pace))

        yield start


@pytest.fixture
async def connect() -> AsyncIterator[Callable[[RunningRehearsal], Awaitable[AsyncOpenAI]]]:
    """Open a client to a running rehearsal; it is closed when the test ends."""
    async with AsyncExitStack() as clients:

        async def open_client(server: RunningRehearsal) -> AsyncOpenAI:
            client = AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=10)
            return await clients.enter_async_context(client)

        yield open_client
