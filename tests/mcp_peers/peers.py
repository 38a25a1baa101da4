"""How each program of `make peers` is started, and a loud skip where it is not installed."""

from pathlib import Path

import pytest

from tests.server_plans import ServerPlan, TransportPlan

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
OFFICIAL = MODULES / "@modelcontextprotocol"


def node_server(package: str, *args: str, **fields) -> ServerPlan:
    """A server that is a program for Node."""
    script = OFFICIAL / package / "dist" / "index.js"
    return ServerPlan(
        TransportPlan("stdio", command=str(node()), args=(str(need(script)), *args), **fields)
    )


def kubernetes(kubeconfig: Path) -> ServerPlan:
    binary = next(MODULES.glob("kubernetes-mcp-server-linux-*/bin/kubernetes-mcp-server*"), None)
    args = ("--kubeconfig", str(kubeconfig))
    return ServerPlan(TransportPlan("stdio", command=str(need(binary)), args=args))


def grafana() -> ServerPlan:
    binary = need(HERE / "venv" / "bin" / "mcp-grafana")
    environment = {"GRAFANA_URL": "http://127.0.0.1:9", "GRAFANA_SERVICE_ACCOUNT_TOKEN": "none"}
    return ServerPlan(TransportPlan("stdio", command=str(binary), env=environment))


def node() -> Path:
    return need(next(MODULES.glob("node-linux-*/bin/node"), None))


def need(path: Path | None) -> Path:
    if path is not None and path.exists():
        return path
    pytest.skip("NO TOOL SERVERS OF OTHER PEOPLE HERE: they were not tried (make peers)")
