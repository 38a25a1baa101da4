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
