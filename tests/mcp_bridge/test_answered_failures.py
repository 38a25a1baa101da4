"""What may be said of a call that a server answered with an error, or took and did not finish."""

import json
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from masking import build_masker
from mcp_bridge.call_failures import CallTimes, judge_failure
from mcp_bridge.connection import ServerConnection
from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.wire.attempts import Attempt, attempting
from mcp_bridge.wire.http import build_http_client
from mcp_bridge.wire.taming import NotedStream, Wire
from safety.tool_rules import ClassRule
from tests.cases import check_each
from tests.mcp_bridge.conftest import nothing_left_behind, quick, run  # noqa: F401 (fixture)
from tests.mcp_bridge.open_gate import OpenGate
from tests.mcp_bridge.scripted import open_over_http, open_scripted, serving, web_server
from tests.mcp_bridge.test_call_failures import DONE, plan_of, read_fate
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

OURS = object()
"""The id of the request that is answered."""


class Answering:
    """Refuses the first call with a status and, it may be, an error of JSON-RPC; then succeeds."""

    def __init__(self, status: int, code: int | None, identity: Any, kind: str) -> None:
        self._status, self._code, self._identity, self._kind = status, code, identity, kind
        self.calls = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        asked = json.loads(request.content)["id"]
        if self.calls > 1:
            return httpx2.Response(200, json={"jsonrpc": "2.0", "id": asked, "result": DONE})
        headers = {"retry-after": "0", "content-type": self._kind}
        if self._code is None:
            return httpx2.Response(self._status, text="no", headers=headers)
        identity = asked if self._identity is OURS else self._identity
        error = {"code": self._code, "message": "no"}
        said = json.dumps({"jsonrpc": "2.0", "id": identity, "error": error})
        text = f"data: {said}\n\n" if "event-stream" in self._kind else said
        return httpx2.Response(self._status, text=text, headers=headers)


JSON_TYPE, STREAM = "application/json", "text/event-stream"
# Status, code, id and type of the answer; whether a session is open; fate and calls of a write.
ENDS = [
    *((status, None, None, "text/plain", False, "unknown", 1)
      for status in (303, 304, 402, 408, 409, 410, 412, 423, 424, 425, 451, 499, 500, 599)),
    *((status, None, None, "text/plain", False, "no", 1)
      for status in (301, 302, 307, 308, 400, 401, 403, 404, 405, 406, 407, 411, 413, 414, 415,
                     422, 431)),
    (429, None, None, "text/plain", False, "yes", 2),
    (404, None, None, "text/plain", True, "yes", 2),
    (404, -32001, None, JSON_TYPE, True, "yes", 2),
    (404, -32001, "server-error", JSON_TYPE, True, "yes", 2),
    (404, -32001, OURS, JSON_TYPE, True, "unknown", 1),
    (404, -32601, OURS, JSON_TYPE, True, "no", 1),
    (404, -32001, OURS, STREAM, True, "unknown", 1),
    (429, -32000, OURS, JSON_TYPE, False, "unknown", 1),
    (403, -32603, OURS, JSON_TYPE, False, "unknown", 1),
    (401, -32000, OURS, JSON_TYPE, False, "unknown", 1),
    (400, -32603, OURS, JSON_TYPE, False, "unknown", 1),
    (400, -32602, OURS, JSON_TYPE, False, "no", 1),
    (422, -32602, OURS, STREAM, False, "unknown", 1),
    (400, -32600, OURS, JSON_TYPE, False, "unknown", 1),
    (400, -32700, OURS, JSON_TYPE, False, "unknown", 1),
    (500, -32601, OURS, JSON_TYPE, False, "no", 1),
    (400, -32600, "server-error", JSON_TYPE, False, "no", 1),
]  # fmt: skip


async def test_only_what_a_server_says_before_it_begins_is_told_as_never_begun():
    seen: dict[Any, tuple[str, int]] = {}
    for end in ENDS:
        status, code, identity, kind, has_session, _, _ = end
        server = Answering(status, code, identity, kind)
        respond = web_server(server, session="s-1" if has_session else "")
        async with open_over_http(respond, plan_of("write"), quick()) as toolbox:
            seen[end] = read_fate(await run(toolbox, "x__first"))[0], server.calls

    def check(end: Any) -> None:
        assert seen[end] == end[-2:]

    check_each(check, ENDS, str)


# ---- Several requests of one call ----------------------------------------------------------------


async def post(method: str, attempt: Attempt, respond: Any) -> None:
    """Send a request of a call as the SDK does."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method}
    headers = {"accept": "application/json, text/event-stream", "mcp-session-id": "s-1"}
    plan = TransportPlan("http", url="http://x.example/mcp")
    async with build_http_client(plan, {}) as client:
        client._transport = httpx2.MockTransport(respond)
        with attempting(attempt):
            try:
                await client.post("http://x.example/mcp", json=message, headers=headers)
            except httpx2.HTTPError as error:
                raise httpx2.ReadError("") from error


def judge(attempt: Attempt, error: Exception | None = None, *, is_write: bool = True):
    return judge_failure(
        error or httpx2.ReadError(""),
        attempt,
        is_write=is_write,
        times=CallTimes(1.0, 5.0),
        end_reason="",
    )


@pytest.mark.parametrize("status", [401, 404, 429, 302])
async def test_a_later_round_of_a_call_that_is_refused_leaves_open_what_the_first_one_did(status):
    attempt = Attempt(rounds=2)
    try:
        await post("tools/call", attempt, lambda request: httpx2.Response(status, text="no"))
    except httpx2.ReadError:
        assert status == 404, "only a lost session ends the connection"

    failed = judge(attempt)
    assert (failed.fate, failed.may_repeat(is_write=True)) == ("unknown", False)


async def test_a_later_round_that_finds_nobody_leaves_open_what_the_first_one_did():
    def respond(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("")

    attempt = Attempt(rounds=2)
    with pytest.raises(httpx2.ReadError):
        await post("tools/call", attempt, respond)

    assert judge(attempt).fate == "unknown"


@pytest.mark.parametrize("said", [httpx2.Response(404), httpx2.Response(503), None])
async def test_a_listing_that_fails_beside_a_call_says_nothing_of_the_call(said):
    def respond(request: httpx2.Request) -> httpx2.Response:
        if said is None:
            raise httpx2.ConnectError("")
        return said

    attempt = Attempt(rounds=1)
    with pytest.raises(httpx2.ReadError):
        await post("tools/list", attempt, respond)

    assert (attempt.status, attempt.has_left) == (0, True)
    assert judge(attempt).fate == "unknown"


async def test_a_server_that_asks_back_has_begun_whatever_it_says_in_the_next_round():
    """By the revision 2026-07-28, in which a call is sent anew with what was asked for."""
    answers = [
        {"result": {"resultType": "input_required", "requestState": "half"}},
        {"error": {"code": -32602, "message": "no such row"}},
    ]

    def script(method: str, params: dict[str, Any]):
        if method == "server/discover":
            about = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            return {"result": {**about, "resultType": "complete", "serverInfo": {}}}
        return answers.pop(0) if method == "tools/call" else serving()(method, params)

    async with open_scripted(script, plan_of("write")) as (toolbox, connection):
        assert connection.protocol_version == "2026-07-28"
        result = await run(toolbox, "x__first")

    assert "no such row" in result.content
    assert (read_fate(result)[0], answers) == ("unknown", [])


async def test_the_wire_counts_how_often_a_call_was_sent():
    class Sink:
        async def send(self, item: SessionMessage) -> None:
            return None

    stream, attempt = NotedStream(Sink(), Wire()), Attempt(has_left=False)  # type: ignore[arg-type]
    with attempting(attempt):
        for method in ("tools/list", "tools/call", "tools/list", "tools/call"):
            request = JSONRPCRequest(jsonrpc="2.0", id=1, method=method)
            await stream.send(SessionMessage(request))

    assert attempt.rounds == 2


# ---- Errors of JSON-RPC --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "is_write", "shows_progress", "fate"),
    [
        (-32601, True, False, "not carried out"),
        (-32602, True, False, "not carried out"),
        (-32602, True, True, "unknown"),
        (-32602, False, True, "unknown"),
        (-32600, True, False, "unknown"),
        (-32700, True, False, "unknown"),
        (-32600, False, False, "not carried out"),
        (-32603, True, False, "unknown"),
    ],
)
def test_an_error_says_that_nothing_ran_only_where_no_running_tool_would_say_it(
    code, is_write, shows_progress, fate
):
    failed = judge(Attempt(shows_progress=shows_progress), MCPError(code, "no"), is_write=is_write)

    assert failed.fate == fate
    assert not failed.may_repeat(is_write=is_write)


async def test_a_call_that_reported_progress_before_it_found_its_arguments_wrong_has_begun():
    server = MCPServer("x")

    @server.tool()
    async def first(context: Context) -> str:
        await context.report_progress(1, 3)
        raise MCPError(-32602, "the third row is no number")

    plan = ServerPlan(TransportPlan("in_process"), tools={"first": ClassRule("write")})
    async with open_toolbox(
        {"x": plan}, gate=OpenGate(), in_process={"x": lambda: server}, deadlines=quick()
    ) as toolbox:
        result = await run(toolbox, "x__first")

    assert "the third row is no number" in result.content
    assert read_fate(result)[0] == "unknown"


def test_a_busy_server_is_waited_for_as_it_asks_even_where_the_connection_broke():
    connection = ServerConnection("x", None, quick(busy_pause=2.0), build_masker())  # type: ignore[arg-type]
    connection._owner.client = object()  # type: ignore[assignment]
    told = Attempt(status=429, retry_after=7.0, is_deaf=True)
    silent = Attempt(status=429, is_deaf=True)
    lost = Attempt(status=404, lost_session=True)

    pauses = [
        [connection._pause_before_repeat(judge(attempt), number, False) for number in (1, 2)]
        for attempt in (told, silent, lost)
    ]

    assert pauses == [[7.0, None], [2.0, None], [0.0, None]]
