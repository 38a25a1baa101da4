"""What became of a call that brought no answer: did it run, why not, and may it be repeated.

`tool_failures.jsonl` holds the samples that were agreed on.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.server.mcpserver import MCPServer

from agents.types import ToolResult
from mcp_bridge.toolbox import open_toolbox
from safety.tool_rules import ClassRule
from tests.cases import check_each
from tests.mcp_bridge.conftest import nothing_left_behind, quick, run  # noqa: F401 (fixture)
from tests.mcp_bridge.open_gate import OpenGate
from tests.mcp_bridge.scripted import open_over_http, open_scripted, serving, web_server
from tests.mcp_bridge.test_http_servers import serving as serving_app
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

CASES = Path(__file__).parent / "cases"
DYING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if method == "tools/call":
        sys.exit(sys.argv[1])
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "dying", "version": "1"}},
        "tools/list": {"tools": [{"name": "first", "inputSchema": {"type": "object"}}]},
    }
    if identity is None:
        continue
    missing = {"error": {"code": -32601, "message": "no"}}
    said = {"result": results[method]} if method in results else missing
    print(json.dumps({"jsonrpc": "2.0", "id": identity, **said}), flush=True)
"""
SCALE = 200
"""Seconds of a case are so many times as long as those of its test."""


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


FAILURES = [
    case
    for name in ("tool_failures", "more_failures", "further_failures", "reported_failures")
    for case in load(f"{name}.jsonl")
]


def plan_of(tool_class: str, kind: str = "http", **fields) -> ServerPlan:
    transport = TransportPlan(kind, url="http://x.example/mcp", bearer_token="Ex4mple-Token-7")
    return ServerPlan(transport, tools={"first": ClassRule(tool_class)}, **fields)


def answering(event: dict[str, Any]):
    """A server over HTTP that answers every call with a status; `$ID` is that of the call."""
    body = event["body"]
    is_page = isinstance(body, str) and body.startswith("<")

    def respond(request: httpx2.Request) -> httpx2.Response:
        if isinstance(body, str):
            kind = {"content-type": "text/html" if is_page else "text/plain"}
            return httpx2.Response(event["status"], text=body, headers={**kind, **event["headers"]})
        said = (
            {**body, "id": json.loads(request.content)["id"]} if body.get("id") == "$ID" else body
        )
        return httpx2.Response(event["status"], json=said, headers=event["headers"])

    return respond


def raising(error: Exception, cause: Exception | None = None):
    def respond(request: httpx2.Request) -> httpx2.Response:
        raise error from cause

    return respond


async def meet(event: dict[str, Any], tool_class: str) -> ToolResult:
    """What an agent gets of a call that ends so."""
    match event["what"], event.get("phase"):
        case "http", _:
            server = web_server(answering(event), session="s-1" if event.get("had_session") else "")
            return await call_over_http(server, tool_class)
        case "jsonrpc_error", _:
            return await call(serving(answer={"error": event["error"]}), tool_class)
        case "answer", _:
            return await call(serving(result=event["result"]), tool_class)
        case "timeout", "after_send":
            return await call_in_vain(tool_class, event["seconds"] / SCALE)
        case "timeout", "connect":
            late = web_server(raising(httpx2.ConnectTimeout("")))
            return await call_over_http(late, tool_class, timeout=event["seconds"])
        case "timeout", "handshake":
            return await call_without_handshake(tool_class, event["seconds"] / SCALE)
        case "closed", "before_send":
            refused = ConnectionRefusedError(111, "Connection refused")
            nobody = web_server(
                raising(httpx2.ConnectError("All connection attempts failed"), refused)
            )
            return await call_over_http(nobody, tool_class)
        case "closed", "after_send":
            return await call_over_http(web_server(raising(httpx2.ReadError(""))), tool_class)
        case "process_exit", _:
            return await call_dying(tool_class, event["stderr"])
    raise AssertionError(event)


async def call(script, tool_class: str, **deadlines) -> ToolResult:
    plan = plan_of(tool_class)
    async with open_scripted(script, plan, quick(**deadlines)) as (toolbox, _):
        return await run(toolbox, "x__first")


async def call_in_vain(tool_class: str, seconds: float) -> ToolResult:
    def script(method, params):
        return None if method == "tools/call" else serving()(method, params)

    return await call(script, tool_class, call=seconds)


async def call_without_handshake(tool_class: str, seconds: float) -> ToolResult:
    """The connection is lost, and what opens it anew does not get beyond the handshake."""
    opened = 0

    def script(method, params):
        nonlocal opened
        opened += method == "initialize"
        return serving()(method, params) if opened <= 1 else None

    plan = plan_of(tool_class)
    async with open_scripted(script, plan, quick(restart=seconds)) as (toolbox, connection):
        connection._owner.wire.is_ended = True
        return await run(toolbox, "x__first")


async def call_over_http(server, tool_class: str, timeout: float | None = None) -> ToolResult:
    plan = plan_of(tool_class)
    if timeout is not None:
        transport = TransportPlan("http", url="http://x.example/mcp", timeout=timeout)
        plan = ServerPlan(transport, tools=plan.tools)
    async with open_over_http(server, plan, quick(longest_wait=0.0)) as toolbox:
        return await run(toolbox, "x__first")


async def call_dying(tool_class: str, said: str) -> ToolResult:
    transport = TransportPlan("stdio", command=sys.executable, args=("-c", DYING, said))
    plan = ServerPlan(transport, tools={"first": ClassRule(tool_class)})
    async with open_toolbox({"x": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        return await run(toolbox, "x__first")


def read_fate(result: ToolResult) -> tuple[str, bool]:
    """Whether it was carried out, and whether it may be repeated, by what the agent is told."""
    if not result.content.startswith('{"ok": false'):
        return "yes", False
    error = json.loads(result.content)["error"]
    is_undone = error["details"].get("outcome") == "not carried out"
    return "no" if is_undone else "unknown", error["retryable"]


def check_failure(case: dict[str, Any], result: ToolResult) -> None:
    expected, event = case["expect"], case["event"]
    fate, may_retry = read_fate(result)
    fates = expected["was_carried_out"]
    assert fate in (fates if isinstance(fates, list) else [fates])
    if expected["may_retry"] is not None:
        assert may_retry is expected["may_retry"]
    told = result.content if fate == "yes" else json.loads(result.content)["error"]["message"]
    for word in expected["words"]:
        is_scaled = word == str(event.get("seconds")) and event.get("phase") != "connect"
        wanted = f"{int(word) / SCALE:g}" if is_scaled else word
        assert wanted in told, told
    for word in expected.get("not_words", ()):
        assert word not in told, told


async def test_each_end_of_a_call_is_told_as_what_it_was_with_the_servers_own_reason():
    seen = {case["id"]: await meet(case["event"], case["class"]) for case in FAILURES}

    check_each(
        lambda case: check_failure(case, seen[case["id"]]), FAILURES, lambda case: case["id"]
    )


# ---- What is sent again --------------------------------------------------------------------------

DONE = {"content": [{"type": "text", "text": "done"}]}


class Counting:
    """Answers the first calls in one way each, and all later ones with success."""

    def __init__(self, *first: httpx2.Response | Exception) -> None:
        self._first = list(first)
        self.calls = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        if not self._first:
            body = {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": DONE}
            return httpx2.Response(200, json=body)
        said = self._first.pop(0)
        if isinstance(said, Exception):
            raise said
        return said(request) if callable(said) else said


def busy(status: int, seconds: str | None = "0") -> httpx2.Response:
    return httpx2.Response(status, headers={"retry-after": seconds} if seconds else {}, text="busy")


def forgotten(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(404, json={"error": "no such session"})


def forgotten_by_code(request: httpx2.Request) -> httpx2.Response:
    """As an answer to the request, although nobody took it."""
    error = {"code": -32001, "message": "Session not found"}
    body = {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "error": error}
    return httpx2.Response(404, json=body)


def forgotten_as_forbidden(request: httpx2.Request) -> httpx2.Response:
    error = {"code": -32001, "message": "Mcp-Session-Id principal mismatch"}
    return httpx2.Response(403, json={"jsonrpc": "2.0", "id": None, "error": error})


async def call_counted(
    server: Counting, tool_class: str, *, session: str = "", **deadlines
) -> ToolResult:
    respond = web_server(server, session=session)
    async with open_over_http(respond, plan_of(tool_class), quick(**deadlines)) as toolbox:
        return await run(toolbox, "x__first")


@pytest.mark.parametrize(
    ("tool_class", "first", "calls"),
    [
        ("read", (busy(429), busy(503)), 3),
        ("read", (busy(429), busy(429), busy(429)), 3),
        ("write", (busy(429),), 2),
        ("write", (busy(503),), 1),
        ("write", (httpx2.Response(500, text="worker crashed"),), 1),
        ("read", (httpx2.Response(500, text="worker crashed"),), 1),
        ("read", (httpx2.ReadError(""),), 2),
        ("write", (httpx2.ReadError(""),), 1),
        ("write", (httpx2.ConnectError(""),), 2),
        ("write", (httpx2.Response(403, text="no"),), 1),
        ("write", (httpx2.Response(502, text="no"),), 1),
        ("write", (httpx2.Response(202),), 1),
        ("write", (httpx2.Response(200, text="<html>"),), 1),
    ],
    ids=str,
)
async def test_a_call_is_sent_again_only_where_that_is_safe(tool_class, first, calls):
    server = Counting(*first)

    await call_counted(server, tool_class)

    assert server.calls == calls


@pytest.mark.parametrize("tool_class", ["read", "write"])
@pytest.mark.parametrize("said", [forgotten, forgotten_by_code, forgotten_as_forbidden])
async def test_a_call_that_a_lost_session_kept_from_running_is_made_once_more(said, tool_class):
    server = Counting(said)

    result = await call_counted(server, tool_class, session="s-1")

    assert (result.content, server.calls) == ("done", 2)


async def test_a_server_that_wants_too_much_patience_is_not_waited_for():
    server = Counting(busy(429, "3600"))

    result = await call_counted(server, "read")

    assert server.calls == 1
    assert "it asks to be asked again after 3600 s" in result.content


@pytest.mark.parametrize(
    "said", [httpx2.Response(202), httpx2.Response(200, text="<html><title>Welcome</title>")]
)
async def test_a_success_without_an_answer_leaves_open_what_became_of_a_write(said):
    result = await call_counted(Counting(said), "write")

    assert read_fate(result) == ("unknown", False)


async def test_a_redirect_to_elsewhere_is_a_wrong_address_and_nothing_ran():
    elsewhere = httpx2.Response(302, headers={"location": "https://login.example/"})

    result = await call_counted(Counting(elsewhere), "write")

    assert read_fate(result) == ("no", False)
    assert "has to correct the address of x" in result.content


async def test_a_token_that_ran_out_in_a_session_is_named_by_its_variable(monkeypatch):
    monkeypatch.setenv("X_SERVER_TOKEN", "Ex4mple-Token-7")
    ran_out = httpx2.Response(401, json={"error": "invalid_token"})

    result = await call_counted(Counting(ran_out), "read")

    assert "X_SERVER_TOKEN" in result.content
    assert "whoever runs TARSy has to renew the credentials for x" in result.content
    assert "Ex4mple-Token-7" not in result.content


async def test_what_a_server_says_of_a_failure_is_masked():
    said = httpx2.Response(403, json={"message": "password=Ex4mple-Pass1 is wrong"})

    result = await call_counted(Counting(said), "read")

    assert "Ex4mple-Pass1" not in result.content
    assert "[MASKED:" in result.content


async def test_a_stuck_server_is_started_anew_and_costs_no_later_call_its_time():
    opened = 0

    def script(method, params):
        nonlocal opened
        opened += method == "initialize"
        has_hung.append(method == "tools/call")
        is_stuck = opened == 1 and any(has_hung) and method != "server/discover"
        return None if is_stuck else serving(result=DONE)(method, params)

    has_hung: list[bool] = []
    deadlines = quick(call=0.2, silence=0.2)
    async with open_scripted(script, plan_of("read"), deadlines) as (toolbox, _):
        late = await run(toolbox, "x__first")
        after = await run(toolbox, "x__first")

    assert "it did not answer within 0.2 s" in late.content
    assert (after.content, opened) == ("done", 2)


async def test_a_slow_server_that_shows_life_is_left_alone():
    opened = 0

    def script(method, params):
        nonlocal opened
        opened += method == "initialize"
        if method == "tools/call" and params["arguments"].get("slow"):
            return None
        return serving(result=DONE)(method, params)

    deadlines = quick(call=0.2, silence=5.0)
    async with open_scripted(script, plan_of("read"), deadlines) as (toolbox, _):
        await run(toolbox, "x__first", '{"slow": true}')
        after = await run(toolbox, "x__first")

    assert (after.content, opened) == ("done", 1)


async def test_a_write_of_a_server_in_this_process_that_is_late_may_have_run():
    server = MCPServer("x")

    @server.tool()
    async def first() -> str:
        await asyncio.Event().wait()
        return "never"

    plan = ServerPlan(TransportPlan("in_process"), tools={"first": ClassRule("write")})
    async with open_toolbox(
        {"x": plan}, gate=OpenGate(), in_process={"x": lambda: server}, deadlines=quick(call=0.2)
    ) as toolbox:
        result = await run(toolbox, "x__first")

    assert read_fate(result) == ("unknown", False)


class Refusing:
    """Stands before a server and refuses calls of tools, whatever else it lets through."""

    def __init__(self, app) -> None:
        self._app = app
        self.calls = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        said = await receive()
        if b'"tools/call"' not in said["body"]:
            heard = iter([said])

            async def hear():
                return next(heard, None) or await receive()

            await self._app(scope, hear, send)
            return
        self.calls += 1
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": b"not for you"})


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_refusal_over_either_transport_is_told_at_once_and_costs_one_call(kind):
    server = MCPServer("x")

    @server.tool()
    def first() -> str:
        return "done"

    gate = Refusing(server.streamable_http_app() if kind == "http" else server.sse_app())
    with serving_app(gate) as url:
        transport = TransportPlan(kind, url=f"{url}/{'mcp' if kind == 'http' else 'sse'}")
        plan = ServerPlan(transport, tools={"first": ClassRule("write")})
        async with open_toolbox({"x": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
            results = [await run(toolbox, "x__first") for _ in range(2)]

    assert [read_fate(result) for result in results] == [("no", False)] * 2
    assert all("HTTP status 403: not for you" in result.content for result in results)
    assert gate.calls == 2


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_refuses_to_begin_says_why_in_its_own_words(method):
    usual = web_server(Counting())

    def respond(request: httpx2.Request):
        if request.method == "POST" and json.loads(request.content)["method"] == method:
            return httpx2.Response(402, json={"message": "the plan has ended"})
        return usual(request)

    async with open_over_http(respond, plan_of("read")) as toolbox:
        reason = toolbox.unavailable["x"]

    assert "HTTP status 402: the plan has ended" in reason
