import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from agents.llm.http import close_sessions
from agents.llm.quirks import forget_lessons


@pytest.fixture(autouse=True)
def new_process() -> Iterator[None]:
    forget_lessons()
    yield
    forget_lessons()


@pytest.fixture(autouse=True)
async def connections_closed() -> AsyncIterator[None]:
    yield
    await close_sessions()
    if "litellm" in sys.modules:
        from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

        await close_litellm_async_clients()
