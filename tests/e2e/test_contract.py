"""A client that was written from upstream's contract alone works against the whole product."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from websockets.sync.client import connect

from tests.e2e.conftest import Play
from tests.e2e.contract_client import (
    ACTIVE,
    EXECUTION,
    JSON,
    SESSION_DETAIL,
    SESSION_ITEM,
    STAGE,
    TIMELINE_ROW,
    Rest,
    Stream,
    has,
)
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER
from tests.processes import Process, find_free_port, start_web
from tests.rehearsal_server import RunningRehearsal

pytestmark = pytest.mark.worker

CHAT = """
  - when: {agent: ^ChatAgent}
    reply: {text: "The load is still normal, as far as can be seen.", hold: chat, hold_after: 2}
"""
SCRIPT = HELD_AT_FIRST_ANSWER.replace("rules:\n", "rules:\n" + CHAT, 1)
SESSIONS = "/sessions"


@pytest.fixture(scope="module")
def web_port(django_db_setup: None, product_environment: dict[str, str]) -> Iterator[int]:
    port = find_free_port()
    web = start_web(port, **product_environment)
    web.wait_until_ready()
    yield port
    web.stop()


@pytest.fixture
def rest(web_port: int, worker: Process) -> Iterator[Rest]:
    client = Rest(web_port)
    yield client
    client.close()


@pytest.fixture
def stream(web_port: int, worker: Process) -> Iterator[Stream]:
    with connect(f"ws://127.0.0.1:{web_port}/api/v1/ws") as socket:
        yield Stream(socket)


@pytest.fixture
def rehearsal(play: Play) -> RunningRehearsal:
    return play(SCRIPT)


def submit(rest: Rest, **fields: JSON) -> str:
    """The alert's session."""
    body = {"data": "the load is high", "alert_type": "parallel", "sent_by": "pager", **fields}
    taken = rest.post("/alerts", body, "session_id status message", expect=202)
    assert taken["status"] == "queued"
    return str(uuid.UUID(taken["session_id"]))


def finish(rest: Rest, stream: Stream, rehearsal: RunningRehearsal) -> str:
    """A session that was investigated to its end, without a question yet."""
    rehearsal.release("first")
    session_id = submit(rest)
    stream.say("subscribe", channel=f"session:{session_id}")
    wait_for_status(stream, session_id, "completed")
    return session_id


def wait_for_status(stream: Stream, session_id: str, status: str) -> JSON:
    return stream.wait_for(
        "session.status",
        lambda message: message["session_id"] == session_id and message["status"] == status,
    )


def test_an_investigation_is_followed_from_the_alert_to_its_end(
    rest: Rest, stream: Stream, rehearsal: RunningRehearsal
):
    stream.wait_for("connection.established")
    stream.say("subscribe", channel="sessions")
    stream.wait_for("subscription.confirmed", lambda message: message["channel"] == "sessions")
    session_id = submit(rest)
    channel = f"session:{session_id}"
    stream.say("subscribe", channel=channel)
    stream.wait_for("subscription.confirmed", lambda message: message["channel"] == channel)

    rehearsal.wait_until_held("first", timeout=30)
    created = stream.wait_for(
        "timeline_event.created", lambda message: message["status"] == "streaming"
    )
    stream.wait_for("stream.chunk", lambda message: message["event_id"] == created["event_id"])
    active = rest.get(f"{SESSIONS}/active", "active queued")
    (running,) = [each for each in active["active"] if each["id"] == session_id]
    assert has(running, ACTIVE)["status"] == "in_progress"
    assert session_id in [
        each["id"] for each in rest.get(f"{SESSIONS}/triage/investigating")["sessions"]
    ]
    rehearsal.release("first")
    wait_for_status(stream, session_id, "completed")

    done = stream.wait_for(
        "timeline_event.completed", lambda message: message["event_id"] == created["event_id"]
    )
    text = "".join(
        each["delta"]
        for each in stream.seen
        if each["type"] == "stream.chunk" and each["event_id"] == created["event_id"]
    )
    assert done["content"].startswith(text[: len(text) // 2])
    kinds = {each["type"] for each in stream.seen}
    assert kinds >= {
        "timeline_event.created", "timeline_event.completed", "session.status", "stage.status",
        "interaction.created", "stream.chunk", "session.progress", "execution.progress",
        "execution.status",
    }  # fmt: skip
    stream.wait_for(
        "session.status",
        lambda message: message["status"] == "completed" and "db_event_id" not in message,
    )
    stages = {each["status"] for each in stream.seen if each["type"] == "stage.status"}
    assert stages >= {"started", "completed"}
    seqs = stream.events_of(session_id)
    assert seqs == sorted(set(seqs))


def test_a_session_is_read_in_every_way_there_is(
    rest: Rest, stream: Stream, rehearsal: RunningRehearsal
):
    session_id = finish(rest, stream, rehearsal)
    path = f"{SESSIONS}/{session_id}"

    page = rest.get(
        SESSIONS, "sessions pagination cost_estimation_enabled",
        page="1", page_size="100", sort_by="duration", sort_order="asc", status="completed",
        alert_type="parallel", search="load", scoring_status="not_scored",
        start_date=(datetime.now(UTC) - timedelta(hours=1)).isoformat(),
    )  # fmt: skip
    has(page["pagination"], "page page_size total_pages total_items")
    (item,) = [each for each in page["sessions"] if each["id"] == session_id]
    assert has(item, SESSION_ITEM)["has_parallel_stages"] is True
    assert rest.get(f"{SESSIONS}/filter-options", "alert_types chain_ids statuses")["chain_ids"]

    detail = rest.get(path, SESSION_DETAIL)
    assert [has(stage, STAGE)["stage_type"] for stage in detail["stages"]] == [
        "investigation", "synthesis", "exec_summary",
    ]  # fmt: skip
    assert len(detail["stages"][0]["executions"]) == 2
    has(detail["stages"][0]["executions"][0], EXECUTION)
    status = rest.get(f"{path}/status", "id status final_analysis executive_summary error_message")
    assert status["final_analysis"] == detail["final_analysis"] != ""
    summary = rest.get(
        f"{path}/summary",
        """session_id total_interactions llm_interactions mcp_interactions total_tokens
           total_duration_ms chain_statistics""",
    )
    has(
        summary["chain_statistics"],
        "total_stages completed_stages failed_stages current_stage_index",
    )

    timeline = rest.get(f"{path}/timeline")
    assert {has(row, TIMELINE_ROW)["event_type"] for row in timeline} >= {
        "llm_response", "llm_tool_call", "final_analysis",
    }  # fmt: skip
    call = next(row for row in timeline if row["event_type"] == "llm_tool_call")
    has(call["metadata"], "server_name tool_name tool_type arguments is_error")

    trace = rest.get(f"{path}/trace", "stages session_interactions")
    execution = trace["stages"][0]["executions"][0]
    models, tools = execution["llm_interactions"], execution["mcp_interactions"]
    model = rest.get(
        f"{path}/trace/llm/{models[0]['id']}",
        "id interaction_type model_name created_at llm_request llm_response conversation",
    )
    has(model["llm_request"], "messages_count iteration")
    has(model["llm_response"], "text_length tool_calls_count")
    assert model["conversation"][0]["role"] == "system"
    has(model["conversation"][-1]["tool_calls"][0], "id name arguments")
    called = next(each for each in tools if each["interaction_type"] == "tool_call")
    tool = rest.get(
        f"{path}/trace/mcp/{called['id']}",
        "id interaction_type server_name tool_name tool_arguments tool_result",
    )
    has(tool["tool_result"], "content is_error")
    listed = next(each for each in tools if each["interaction_type"] == "tool_list")
    offered = rest.get(
        f"{path}/trace/mcp/{listed['id']}", "id interaction_type server_name available_tools"
    )
    has(offered["available_tools"][0], "name description")
    assert summary["llm_interactions"] == sum(
        len(each["llm_interactions"]) for stage in trace["stages"] for each in stage["executions"]
    )

    now = datetime.now(UTC)
    usage = rest.get(
        "/usage/summary",
        "cost_estimation_enabled window rank_by totals by_model by_alert_type by_chain "
        "top_sessions",
        start_date=(now - timedelta(days=1)).isoformat(), end_date=now.isoformat(),
        rank_by="tokens",
    )  # fmt: skip
    assert session_id in [each["session_id"] for each in usage["top_sessions"]]
    assert rest.get(f"{path}/review-activity") == {"activities": []}
    assert rest.get(f"{path}/memories") == rest.get(f"{path}/injected-memories") == []
    rest.get(f"{path}/score", expect=404)


def test_a_question_is_asked_answered_and_stopped(
    rest: Rest, stream: Stream, rehearsal: RunningRehearsal
):
    session_id = finish(rest, stream, rehearsal)
    path = f"{SESSIONS}/{session_id}"
    ask = {"content": "Is it still so?"}

    taken = rest.post(f"{path}/chat/messages", ask, "chat_id message_id stage_id", expect=202)
    rehearsal.wait_until_held("chat", timeout=30)
    rest.post(f"{path}/chat/messages", ask, expect=409)
    created = stream.wait_for("chat.created")
    stopped = rest.post(f"{path}/cancel", None, "session_id message")
    ended = stream.wait_for(
        "stage.status",
        lambda message: (
            message["stage_id"] == taken["stage_id"] and message["status"] == "cancelled"
        ),
    )
    rehearsal.release("chat")
    again = rest.post(f"{path}/chat/messages", ask, expect=202)
    stream.wait_for(
        "stage.status",
        lambda message: (
            message["stage_id"] == again["stage_id"] and message["status"] == "completed"
        ),
    )

    assert (created["chat_id"], stopped["session_id"]) == (taken["chat_id"], session_id)
    assert ended["stage_type"] == "chat"
    detail = rest.get(path, SESSION_DETAIL)
    assert (detail["status"], detail["chat_message_count"]) == ("completed", 2)
    questions = [
        row for row in rest.get(f"{path}/timeline") if row["event_type"] == "user_question"
    ]
    assert [row["content"] for row in questions] == ["Is it still so?"] * 2
    rest.post(f"{path}/chat/messages", {"content": " "}, expect=400)
    rest.post(f"{path}/chat/messages", {"content": "x" * 100_001}, expect=400)


def test_a_running_session_is_cancelled_once(
    rest: Rest, stream: Stream, rehearsal: RunningRehearsal
):
    session_id = submit(rest, alert_type="single")
    path = f"{SESSIONS}/{session_id}"
    stream.say("subscribe", channel=f"session:{session_id}")
    rehearsal.wait_until_held("first", timeout=30)
    rest.post(f"{path}/chat/messages", {"content": "And now?"}, expect=400)

    rest.post(f"{path}/cancel", None, "session_id message")

    wait_for_status(stream, session_id, "cancelled")
    rest.post(f"{path}/cancel", expect=409)
    rest.post(f"{path}/score", expect=409)
    rest.post(f"{path}/chat/messages", {"content": "And now?"}, expect=400)


def test_the_stream_answers_every_action(rest: Rest, stream: Stream, rehearsal: RunningRehearsal):
    session_id = finish(rest, stream, rehearsal)
    channel = f"session:{session_id}"
    told = stream.events_of(session_id)

    stream.forget()
    stream.say("catchup", channel=channel, last_event_id=told[0])
    stream.wait_for("session.status", lambda message: message.get("db_event_id") == told[-1])
    assert stream.events_of(session_id) == told[1:]
    stream.say("subscribe")
    stream.wait_for("error")
    for nonsense in ("cancellations", f"session:{uuid.uuid4()}"):
        stream.say("subscribe", channel=nonsense)
        stream.wait_for(
            "subscription.error", lambda message, name=nonsense: message["channel"] == name
        )
    stream.say("unsubscribe", channel=channel)
    stream.say("dance")
    stream.say_nonsense()
    stream.say("ping")
    stream.wait_for("pong")


def test_the_system_tells_of_itself(rest: Rest):
    health = rest.health()
    assert has(health["checks"], "database worker_pool")["database"]["status"] == "healthy"
    types = rest.get("/alert-types", "alert_types default_chain_id default_alert_type")
    has(types["alert_types"][0], "type chain_id description")
    assert rest.get("/runbooks") == []
    for warning in rest.get("/system/warnings", "warnings")["warnings"]:
        has(warning, "id category message details created_at")
    for server in rest.get("/system/mcp-servers", "servers")["servers"]:
        has(server, "id healthy last_check tool_count tools error")
    tools = rest.get("/system/default-tools", "alert_type mcp_servers native_tools",
                     alert_type="parallel")  # fmt: skip
    has(tools["native_tools"], "google_search code_execution url_context")
    rest.get(
        "/system/config",
        "defaults queue system agents chains mcp_servers llm_providers skills",
    )
    rest.get("/system/config/skills/nothing", expect=404)
    rest.get("/memories", "memories total page page_size total_pages")


def test_what_cannot_be_is_refused_with_the_code_of_the_contract(rest: Rest):
    nobody = f"{SESSIONS}/{uuid.uuid4()}"

    rest.ask("POST", "/alerts", expect=400, content=b"no JSON")
    for wrong in (
        {}, {"data": ""}, {"data": "x", "alert_type": "unheard-of"},
        {"data": "x", "mcp": {"servers": [{"name": "unheard-of"}]}},
        {"data": "x", "runbook": "ftp://example.com/x"},
    ):  # fmt: skip
        rest.post("/alerts", wrong, expect=400)
    rest.post("/alerts", {"data": "x" * (2**20 + 1)}, expect=413)
    for query in ({"sort_by": "luck"}, {"sort_order": "up"}, {"status": "lost"}, {"search": "ab"}):
        rest.get(SESSIONS, expect=400, **query)
    rest.get(f"{SESSIONS}/triage/nothing", expect=400)
    rest.get("/usage/summary", expect=400)
    for end in ("", "/summary", "/status", "/timeline", "/trace", "/score", "/review-activity",
                f"/trace/llm/{uuid.uuid4()}", f"/trace/mcp/{uuid.uuid4()}"):  # fmt: skip
        rest.get(f"{nobody}{end}", expect=404)
    rest.post(f"{nobody}/cancel", expect=404)
    rest.post(f"{nobody}/chat/messages", {"content": "?"}, expect=404)
    rest.ask("DELETE", f"/memories/{uuid.uuid4()}", expect=404)
    rest.ask("PATCH", f"{SESSIONS}/review", json={"session_ids": []}, expect=400)
    rest.get("/nothing", expect=404)
