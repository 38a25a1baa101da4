from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_bridge.ops.envelope_server import EnvelopeServer
from mcp_bridge.ops.server import build_server
from mcp_bridge.ops.settings import OpsSettings
from tests.mcp_bridge.ops.calls import call_tool

Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def settings(tmp_path: Path) -> OpsSettings:
    """A machine without systemd, journal and Docker, whose logs lie in `tmp_path`."""
    (tmp_path / "log").mkdir()
    return OpsSettings(
        host="web-1",
        docker_sockets=(tmp_path / "docker.sock",),
        log_directory=tmp_path / "log",
        systemd_directory=tmp_path / "no-systemd",
        journalctl="no-such-journalctl",
        protected=(tmp_path / "var",),
    )


@pytest.fixture
def server(settings: OpsSettings) -> EnvelopeServer:
    return build_server(settings)


@pytest.fixture
def call(server: EnvelopeServer) -> Call:
    """Calls a tool of the server through a real client and returns the envelope."""

    async def call_server(tool: str, **arguments: Any) -> dict[str, Any]:
        return await call_tool(server, tool, arguments)

    return call_server
