from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ops.envelope_server import EnvelopeServer
from ops.executors.ssh import SshAccess
from ops.server import build_server
from ops.settings import OpsSettings
from ops.targets import Cluster, RemoteHost, Targets
from safety.commands.running import PATH
from tests.ops.calls import call_tool
from tests.ops.fake_programs import FakePrograms

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
        path=f"{tmp_path / 'bin'}:{PATH}",
    )


@pytest.fixture
def programs(tmp_path: Path) -> FakePrograms:
    """Programs that lead to a container engine, a cluster, another host and guests."""
    fakes = FakePrograms(tmp_path / "bin")
    for name in ("docker", "kubectl", "ssh", "pct", "qm"):
        fakes.add(name)
    return fakes


@pytest.fixture
def reach(settings: OpsSettings, programs: FakePrograms) -> Call:
    """Calls a server that also reaches the host `db-1` and the cluster `prod`."""
    targets = Targets(
        hosts=(RemoteHost("db-1", SshAccess("db-1.internal", user="ops")),),
        clusters=(Cluster("prod", "prod-context"),),
    )
    wide = build_server(replace(settings, targets=targets))

    async def call_server(tool: str, **arguments: Any) -> dict[str, Any]:
        return await call_tool(wide, tool, arguments)

    return call_server


@pytest.fixture
def server(settings: OpsSettings) -> EnvelopeServer:
    return build_server(settings)


@pytest.fixture
def call(server: EnvelopeServer) -> Call:
    """Calls a tool of the server through a real client and returns the envelope."""

    async def call_server(tool: str, **arguments: Any) -> dict[str, Any]:
        return await call_tool(server, tool, arguments)

    return call_server
