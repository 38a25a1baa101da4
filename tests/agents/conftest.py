import pytest

from agents.llm.http import close_sessions
from tests.agents.wire_server import run_wire_server


@pytest.fixture
async def wire():
    async with run_wire_server() as server:
        yield server
        await close_sessions()
