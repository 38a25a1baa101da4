"""Tool servers of other people: how each program of `make peers` is started, and what it is asked.

A loud skip stands for them where they are not installed.
"""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agents.types import JSON
from safety.tool_rules import ClassRule
from tests.server_plans import ServerPlan, TransportPlan

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: here, cluster: {{server: "{url}"}}}}]
users: [{{name: nobody, user: {{token: none}}}}]
contexts: [{{name: here, context: {{cluster: here, user: nobody}}}}]
current-context: here
"""
TOKEN = "letters-and-digits-0123456789-0123456789"


@dataclass(frozen=True)
class Place:
    """What the servers are pointed at."""

    folder: Path
    """A repository of git with one empty commit, and in it `notes.txt` and a `kubeconfig`."""
    url: str
    """Where the backends answer."""
    database_url: str
    redis_url: str


def furnish(folder: Path, url: str) -> None:
    """Put into a folder what a place has; `url` is where the cluster answers."""
    (folder / "notes.txt").write_text("the disk is full\n")
    (folder / "kubeconfig").write_text(KUBECONFIG.format(url=url))
    who = ("-c", "user.name=ann", "-c", "user.email=ann@example.com")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "one")):
        subprocess.run(("git", "-C", str(folder), *words), check=True)


@dataclass(frozen=True)
class Program:
    """How a server is started. Over HTTP it answers at `path` of a port of this machine."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    path: str = ""


@dataclass(frozen=True)
class Read:
    """A call that only looks, and what its answer has to show. `named` by the operator are tools
    that are no reads otherwise."""

    tool: str
    arguments: Callable[[Place], Mapping[str, JSON]]
    shows: str
    named: bool = False


@dataclass(frozen=True, eq=False)
class Peer:
    """A server. `serve` gives its program for a transport over HTTP and a port."""

    name: str
    package: str
    start: Callable[[Place], Program]
    read: Read
    serve: Mapping[str, Callable[[Place, int], Program]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.package.rpartition("/")[2]

    @property
    def shown_package(self) -> str:
        """As people install it; it brings the package for their machine along."""
        return re.sub(r"-linux-\w+$", "", self.package)

    def plan(self, place: Place) -> ServerPlan:
        """Over stdio."""
        program = self.start(place)
        transport = TransportPlan(
            "stdio", command=program.command, args=program.args, env=program.env
        )
        return ServerPlan(transport, tools=self.named_tools)

    @property
    def named_tools(self) -> dict[str, ClassRule]:
        """What an operator has to say before the read may be called."""
        return {self.read.tool: ClassRule("read")} if self.read.named else {}


def node(name: str, *args: str, path: str = "", **env: str) -> Program:
    """A program for Node by the name of its command."""
    script = need(MODULES / ".bin" / name)
    return Program(str(find_node()), (str(script), *args), env, path)


def python(name: str, *args: str, room: str = "venv", path: str = "", **env: str) -> Program:
    return Program(str(need(HERE / room / "bin" / name)), args, env, path)


def older(name: str, *args: str, **env: str) -> Program:
    """A program whose newest release needs the first generation of the SDK."""
    return python(name, *args, room="venv-older", **env)


def find_node() -> Path:
    return need(next(MODULES.glob("node-linux-*/bin/node"), None))


def need(path: Path | None) -> Path:
    if path is not None and path.exists():
        return path
    pytest.skip("NO TOOL SERVERS OF OTHER PEOPLE HERE: they were not tried (make peers)")


def _kubernetes(place: Place, *args: str, path: str = "") -> Program:
    found = next(MODULES.glob("kubernetes-mcp-server-linux-*/bin/kubernetes-mcp-server*"), None)
    kubeconfig = str(place.folder / "kubeconfig")
    return Program(str(need(found)), ("--kubeconfig", kubeconfig, *args), path=path)


def _serve_kubernetes(path: str) -> Callable[[Place, int], Program]:
    bound = ("--bind-address", "127.0.0.1", "--port")
    return lambda place, port: _kubernetes(place, *bound, str(port), path=path)


def _grafana(place: Place, *args: str, path: str = "") -> Program:
    given = {"GRAFANA_URL": place.url, "GRAFANA_SERVICE_ACCOUNT_TOKEN": TOKEN}
    return python("mcp-grafana", *args, path=path, **given)


def _serve_grafana(kind: str, path: str) -> Callable[[Place, int], Program]:
    return lambda place, port: _grafana(
        place, "-t", kind, "-address", f"127.0.0.1:{port}", path=path
    )


def _prometheus(place: Place, path: str = "", **env: str) -> Program:
    return python("prometheus-mcp-server", path=path, PROMETHEUS_URL=place.url, **env)


def _serve_prometheus(kind: str, path: str) -> Callable[[Place, int], Program]:
    return lambda place, port: _prometheus(
        place, path, PROMETHEUS_MCP_SERVER_TRANSPORT=kind, PROMETHEUS_MCP_BIND_PORT=str(port)
    )


def _argocd(place: Place, *args: str, path: str = "") -> Program:
    given = {"ARGOCD_BASE_URL": place.url, "ARGOCD_API_TOKEN": TOKEN}
    return node("argocd-mcp", *args, path=path, **given)


def _serve_argocd(kind: str, path: str) -> Callable[[Place, int], Program]:
    return lambda place, port: _argocd(place, kind, "--port", str(port), path=path)


def _gitlab(place: Place, path: str = "", **env: str) -> Program:
    given = {"GITLAB_API_URL": f"{place.url}/api/v4", "GITLAB_PERSONAL_ACCESS_TOKEN": TOKEN}
    return node("mcp-gitlab", path=path, **given, **env)


def _serve_gitlab(kind: str, path: str) -> Callable[[Place, int], Program]:
    wanted = {kind: "true", f"{kind}_AUTH_TOKEN": TOKEN, "HOST": "127.0.0.1"}
    return lambda place, port: _gitlab(place, path, PORT=str(port), **wanted)


def _serve_everything(kind: str, path: str) -> Callable[[Place, int], Program]:
    return lambda place, port: node("mcp-server-everything", kind, path=path, PORT=str(port))


def _redis(place: Place) -> str:
    """The address without the number of a database: one of the two knows no other."""
    return urlsplit(place.redis_url)._replace(path="").geturl()


def _nothing(place: Place) -> dict[str, JSON]:
    return {}


PEERS = (
    Peer(
        "mcp-servers/everything", "@modelcontextprotocol/server-everything",
        lambda place: node("mcp-server-everything", "stdio"),
        Read("echo", lambda place: {"message": "hello"}, "Echo: hello"),
        {"http": _serve_everything("streamableHttp", "/mcp"),
         "sse": _serve_everything("sse", "/sse")},
    ),
    Peer(
        "secure-filesystem-server", "@modelcontextprotocol/server-filesystem",
        lambda place: node("mcp-server-filesystem", str(place.folder)),
        Read("read_text_file", lambda place: {"path": str(place.folder / "notes.txt")},
             "the disk is full"),
    ),
    Peer(
        "memory-server", "@modelcontextprotocol/server-memory",
        lambda place: node(
            "mcp-server-memory", MEMORY_FILE_PATH=str(place.folder / "memory.jsonl")
        ),
        Read("read_graph", _nothing, '"relations": []'),
    ),
    Peer(
        "sequential-thinking-server", "@modelcontextprotocol/server-sequential-thinking",
        lambda place: node("mcp-server-sequential-thinking"),
        Read("sequentialthinking",
             lambda place: {"thought": "look at the disk", "nextThoughtNeeded": False,
                            "thoughtNumber": 1, "totalThoughts": 1},
             '"thoughtHistoryLength": 1'),
    ),
    Peer(
        "example-servers/postgres", "@modelcontextprotocol/server-postgres",
        lambda place: node("mcp-server-postgres", place.database_url),
        Read("query", lambda place: {"sql": "SELECT 41 + 1 AS answer"}, '"answer": 42', named=True),
    ),
    Peer(
        "redis", "@modelcontextprotocol/server-redis",
        lambda place: node("mcp-server-redis", _redis(place)),
        Read("list", lambda place: {"pattern": "none:*"}, "No keys found"),
    ),
    Peer(
        "argocd-mcp", "argocd-mcp",
        lambda place: _argocd(place, "stdio"),
        Read("list_applications", _nothing, '"OutOfSync"'),
        {"http": _serve_argocd("http", "/mcp"), "sse": _serve_argocd("sse", "/sse")},
    ),
    Peer(
        "zereight-gitlab-mcp-server", "@zereight/mcp-gitlab",
        _gitlab,
        Read("get_project", lambda place: {"project_id": "shop"}, '"default_branch":"main"'),
        {"http": _serve_gitlab("STREAMABLE_HTTP", "/mcp"), "sse": _serve_gitlab("SSE", "/sse")},
    ),
    Peer(
        "mcp-server-commands", "mcp-server-commands",
        lambda place: node("mcp-server-commands"),
        Read("run_command", lambda place: {"command": f"ls {place.folder}"}, "notes.txt",
             named=True),
    ),
    Peer(
        "kubernetes-mcp-server", "kubernetes-mcp-server-linux-amd64",
        _kubernetes,
        Read("pods_get", lambda place: {"namespace": "default", "name": "web-1"}, "Running"),
        {"http": _serve_kubernetes("/mcp"), "sse": _serve_kubernetes("/sse")},
    ),
    Peer(
        "mcp-grafana", "mcp-grafana",
        _grafana,
        Read("list_datasources", _nothing, '"uid":"prom"'),
        {"http": _serve_grafana("streamable-http", "/mcp"), "sse": _serve_grafana("sse", "/sse")},
    ),
    Peer(
        "mcp-git", "mcp-server-git",
        lambda place: python("mcp-server-git", "--repository", str(place.folder)),
        Read("git_log", lambda place: {"repo_path": str(place.folder)}, "Message: one"),
    ),
    Peer(
        "mcp-time", "mcp-server-time",
        lambda place: python("mcp-server-time"),
        Read("convert_time",
             lambda place: {"source_timezone": "UTC", "time": "12:00",
                            "target_timezone": "Asia/Tokyo"},
             "T21:00:00+09:00"),
    ),
    Peer(
        "mcp-fetch", "mcp-server-fetch",
        lambda place: python("mcp-server-fetch", "--allow-private-ips"),
        Read("fetch", lambda place: {"url": f"{place.url}/runbook"}, "Restart the import",
             named=True),
    ),
    Peer(
        "Prometheus MCP", "prometheus-mcp-server",
        _prometheus,
        Read("execute_query", lambda place: {"query": "up"}, '"job":"shop"'),
        {"http": _serve_prometheus("http", "/mcp"), "sse": _serve_prometheus("sse", "/sse")},
    ),
    Peer(
        "cli-mcp-server", "cli-mcp-server",
        lambda place: older("cli-mcp-server", ALLOWED_DIR=str(place.folder),
                            ALLOWED_COMMANDS="ls,cat"),
        Read("show_security_rules", _nothing, "cat, ls"),
    ),
    Peer(
        "sqlite", "mcp-server-sqlite",
        lambda place: older("mcp-server-sqlite", "--db-path", str(place.folder / "notes.db")),
        Read("list_tables", _nothing, "[]"),
    ),
    Peer(
        "Redis MCP Server", "redis-mcp-server",
        lambda place: older("redis-mcp-server", "--url", place.redis_url),
        Read("info", lambda place: {"section": "server"}, "redis_version"),
    ),
    Peer(
        "mcp-shell-server", "mcp-shell-server",
        lambda place: older("mcp-shell-server", ALLOW_COMMANDS="ls,cat"),
        Read("shell_execute",
             lambda place: {"command": ["ls"], "directory": str(place.folder)}, "notes.txt",
             named=True),
    ),
)  # fmt: skip
