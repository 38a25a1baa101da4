"""Tool servers over HTTP and SSE, on loopback, spoken to over real sockets."""

import contextlib
import json
import socket
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.transports import child_environment
from mcp_bridge.wire.http import HttpClients, http_headers
from safety.tool_rules import ClassRule
from tests.certificates import write_certificate
from tests.mcp_bridge.conftest import quick, run
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

READS = {"headers": ClassRule("read")}


class HeaderKeeper:
    """Remembers the headers of the latest request, as a gateway in front of a server would."""

    def __init__(self, app) -> None:
        self.app = app
        self.headers: dict[str, str] = {}

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "http":
            self.headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        await self.app(scope, receive, send)


@contextlib.contextmanager
def serving(app, port: int = 0, **tls: Path):
    """Run an ASGI app on a loopback port, a free one unless given, and yield its address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        config = uvicorn.Config(
            app, log_level="critical", ws="none", timeout_graceful_shutdown=1, **tls
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        scheme = "https" if tls else "http"
        yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


def wait_until(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "the server did not start"
        threading.Event().wait(0.01)


def remote_server() -> tuple[MCPServer, list[HeaderKeeper]]:
    server = MCPServer("remote")
    keepers: list[HeaderKeeper] = []

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def headers() -> str:
        """Show which headers came."""
        return json.dumps(keepers[0].headers)

    return server, keepers


@pytest.fixture
def http_url():
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.streamable_http_app()))
    with serving(keepers[0]) as url:
        yield f"{url}/mcp"


@pytest.fixture
def sse_url():
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.sse_app()))
    with serving(keepers[0]) as url:
        yield f"{url}/sse"


async def test_http_server_is_called_with_its_credentials_which_are_masked(http_url):
    plan = ServerPlan(
        TransportPlan(
            "http",
            url=http_url,
            bearer_token="abcd1234efgh5678ijkl",
            custom_headers={"x-tenant": "blue"},
        ),
        tools=READS,
    )

    async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "remote__headers")

    headers = json.loads(result.content)
    assert headers["x-tenant"] == "blue"
    assert headers["authorization"].startswith("Bearer [MASKED:")


async def test_sse_server_is_called_with_its_credentials(sse_url):
    plan = ServerPlan(
        TransportPlan("sse", url=sse_url, custom_headers={"x-tenant": "green"}), tools=READS
    )

    async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "remote__headers")

    assert json.loads(result.content)["x-tenant"] == "green"


class Cleaner:
    """Stands before a server: remembers what is cleaned up, and sends some requests elsewhere."""

    def __init__(self, app, elsewhere: str = "", status: int = 200) -> None:
        self._app = app
        self._elsewhere = elsewhere
        self._status = status
        self.cleaned: list[tuple[str, dict[str, str]]] = []
        self.requests = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.requests += 1
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if scope["path"].startswith("/sandboxes"):
            self.cleaned.append((f"{scope['method']} {scope['path']}", headers))
            await _answer(send, self._status)
        elif self._elsewhere:
            await _answer(send, 307, [(b"location", self._elsewhere.encode())])
        else:
            await self._app(scope, receive, send)


async def _answer(send, status: int, headers=()) -> None:
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": b""})


NAMED = {"x-session-id": "run-{{.SESSION_ID}}", "x-tenant": "blue"}


def sandboxed(url: str, cleanup: str, kind="http", **fields) -> ServerPlan:
    transport = TransportPlan(
        kind, url=url, bearer_token="abcd1234efgh5678ijkl", custom_headers=NAMED,
        session_cleanup_url=cleanup, **fields,
    )  # fmt: skip
    return ServerPlan(transport, tools=READS)


@pytest.mark.parametrize("status", [200, 404, 500])
async def test_server_is_told_whose_execution_it_serves_and_when_that_is_over(status):
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.streamable_http_app()))
    cleaner = Cleaner(keepers[0], status=status)
    with serving(cleaner) as url:
        plan = sandboxed(f"{url}/mcp", f"{url}/sandboxes/{{{{.SESSION_ID}}}}")
        async with open_toolbox({"remote": plan}, execution_id="e-1", deadlines=quick()) as toolbox:
            seen = json.loads((await run(toolbox, "remote__headers")).content)
            assert cleaner.cleaned == []

    assert seen["x-session-id"] == "run-e-1"
    ((request, headers),) = cleaner.cleaned
    assert request == "DELETE /sandboxes/e-1"
    assert headers["x-session-id"] == "run-e-1"
    assert headers["authorization"] == "Bearer abcd1234efgh5678ijkl"


async def test_cleaning_up_elsewhere_gets_no_credentials():
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.streamable_http_app()))
    cleaner = Cleaner(None)
    with serving(keepers[0]) as url, serving(cleaner) as other:
        plan = sandboxed(f"{url}/mcp", f"{other.replace('127.0.0.1', 'localhost')}/sandboxes")
        async with open_toolbox({"remote": plan}, execution_id="e-1", deadlines=quick()):
            pass

    ((_, headers),) = cleaner.cleaned
    assert headers["x-session-id"] == "run-e-1"
    assert not {"authorization", "x-tenant"} & headers.keys()


async def test_nothing_is_cleaned_up_without_an_execution():
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.streamable_http_app()))
    cleaner = Cleaner(keepers[0])
    only_named = TransportPlan("http", custom_headers={"x-session-id": "{{.SESSION_ID}}"})
    with serving(cleaner) as url:
        plan = sandboxed(f"{url}/mcp", f"{url}/sandboxes")
        async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
            assert not toolbox.unavailable

    assert cleaner.cleaned == []
    assert http_headers(only_named) == {}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_headers_do_not_follow_a_redirect_to_another_host(kind):
    thief = Cleaner(None)
    with serving(thief) as other:
        elsewhere = f"{other.replace('127.0.0.1', 'localhost')}/mcp"
        with serving(Cleaner(None, elsewhere)) as url:
            plan = sandboxed(f"{url}/mcp", "", kind)
            async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
                assert "remote" in toolbox.unavailable

    assert thief.requests == 0


@pytest.fixture
def own_certificate(tmp_path: Path) -> dict[str, Path]:
    certificate, key = write_certificate(tmp_path)
    return {"ssl_certfile": certificate, "ssl_keyfile": key}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_own_certificate_is_accepted_where_verify_ssl_is_off_and_nowhere_else(
    kind, own_certificate
):
    server, keepers = remote_server()
    app = server.streamable_http_app() if kind == "http" else server.sse_app()
    keepers.append(HeaderKeeper(app))
    with serving(keepers[0], **own_certificate) as url:
        url = f"{url}/{'mcp' if kind == 'http' else 'sse'}"
        trusting = ServerPlan(TransportPlan(kind, url=url, verify_ssl=False), tools=READS)
        async with open_toolbox({"remote": trusting}, deadlines=quick()) as toolbox:
            accepted = await run(toolbox, "remote__headers")
        keepers[0].headers = {}
        careful = ServerPlan(
            TransportPlan(kind, url=url, bearer_token="abcd1234efgh5678ijkl"), tools=READS
        )
        async with open_toolbox({"remote": careful}, deadlines=quick()) as toolbox:
            assert "remote" in toolbox.unavailable
            assert toolbox.specs == ()

    assert not accepted.is_error
    assert keepers[0].headers == {}, "nothing was sent to a server that could be anybody"


async def test_refused_credentials_are_the_reason_that_is_told():
    async def refuse(scope, receive, send) -> None:
        await _answer(send, 401)

    with serving(refuse) as url:
        plan = ServerPlan(TransportPlan("http", url=f"{url}/mcp"))
        async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
            assert toolbox.unavailable == {"remote": "the server answered with HTTP status 401"}


async def test_compressed_answer_is_refused_because_nobody_knows_its_size():
    async def compress(scope, receive, send) -> None:
        await _answer(
            send, 200, [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")]
        )

    with serving(compress) as url:
        plan = ServerPlan(TransportPlan("http", url=f"{url}/mcp"))
        async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
            assert "compressed" in toolbox.unavailable["remote"]


async def test_annotations_of_a_remote_server_are_not_trusted_by_default(http_url):
    plan = ServerPlan(TransportPlan("http", url=http_url))

    async with open_toolbox({"remote": plan}, deadlines=quick()) as toolbox:
        assert toolbox.specs == ()


async def test_agents_share_one_client_per_server_and_credentials(http_url):
    plan = ServerPlan(TransportPlan("http", url=http_url), tools=READS)
    other = TransportPlan("http", url=http_url, bearer_token="another")

    async with HttpClients() as clients:
        for _ in range(2):
            async with open_toolbox(
                {"remote": plan}, http_clients=clients, deadlines=quick()
            ) as toolbox:
                assert not (await run(toolbox, "remote__headers")).is_error
        shared = clients.get(plan.transport)

        assert not shared.is_closed
        assert clients.get(plan.transport) is shared
        assert clients.get(other) is not shared
    assert shared.is_closed


async def test_server_that_goes_away_is_reported_as_lost():
    server, keepers = remote_server()
    keepers.append(HeaderKeeper(server.streamable_http_app()))
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serving(keepers[0]))
        plan = ServerPlan(TransportPlan("http", url=f"{url}/mcp"), tools=READS)
        async with open_toolbox({"remote": plan}, deadlines=quick(restart=2.0)) as toolbox:
            stack.close()
            result = await run(toolbox, "remote__headers")

    assert result.is_error
    assert "remote" in result.content


def test_child_environment_holds_nothing_but_what_is_listed(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://app:secret@db/x")

    environment = child_environment(TransportPlan("stdio", command="x", env={"HOME": "/nowhere"}))

    assert "DATABASE_URL" not in environment
    assert environment["HOME"] == "/nowhere"
