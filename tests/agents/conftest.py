import pytest

from agents.llm.client import warm_up
from agents.llm.http import close_sessions
from tests.agents.wire_server import run_wire_server


@pytest.fixture(scope="session")
def warm() -> None:
    """As in a worker that has started: what clients import takes seconds that no answer gets."""
    warm_up(with_litellm=True)


@pytest.fixture
async def wire(warm: None):
    async with run_wire_server() as server:
        yield server
        await close_sessions()
