"""`/metrics` tells the same from every process, never counts down, and not to strangers."""

import json
import re
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from investigations.models import AlertSession, LLMInteraction
from investigations.selectors.system import prometheus_metrics, workers
from investigations.selectors.system.prometheus_metrics import Family, Series, read_metrics
from investigations.services.audit import record_audit
from investigations.services.tokens import create_token
from safety.refusals import Refusal
from tarsy.prometheus_endpoint import render
from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    SessionFactory,
    StageFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty(clean_redis):
    return clean_redis


@pytest.fixture
def no_redis(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    workers.client.cache_clear()
    yield
    workers.client.cache_clear()


def scrape(**headers: str) -> str:
    answer = Client(headers={"host": "localhost", **headers}).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.content.decode()


def value(text: str, series: str) -> float | None:
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, flags=re.MULTILINE)
    return float(found[1]) if found else None


def ended(*, seconds: float, days_ago: float = 0) -> AlertSession:
    end = timezone.now() - timedelta(days=days_ago)
    start = end - timedelta(seconds=seconds)
    return SessionFactory(
        completed=True,
        created_at=start - timedelta(seconds=2),
        started_at=start,
        completed_at=end,
    )


def test_sessions_are_counted_by_type_and_end():
    SessionFactory()
    SessionFactory(running=True)
    SessionFactory(cancelling=True)
    SessionFactory(failed=True, alert_type="host")
    ended(seconds=45)

    text = scrape()

    assert value(text, 'tarsy_sessions_submitted_total{alert_type="kubernetes"}') == 4
    assert value(text, 'tarsy_sessions_submitted_total{alert_type="host"}') == 1
    ends = 'tarsy_sessions_terminal_total{alert_type="%s",status="%s"}'
    assert value(text, ends % ("kubernetes", "completed")) == 1
    assert value(text, ends % ("host", "failed")) == 1
    assert value(text, "tarsy_sessions_active") == 2
    assert value(text, "tarsy_sessions_queued") == 1


def test_durations_fall_into_buckets_that_add_up():
    for seconds in (30, 31, 100, 5000):
        ended(seconds=seconds)

    text = scrape()

    name = 'tarsy_session_duration_seconds%s{alert_type="kubernetes",status="completed"%s}'
    edges = {"30": 1, "60": 2, "120": 3, "300": 3, "2400": 3, "+Inf": 4}
    for edge, count in edges.items():
        assert value(text, name % ("_bucket", f',le="{edge}"')) == count
    assert value(text, name % ("_count", "")) == 4
    assert value(text, name % ("_sum", "")) == pytest.approx(5161)
    waits = 'tarsy_session_wait_seconds_bucket{alert_type="kubernetes",le="%s"}'
    assert value(text, waits % 1) == 0
    assert value(text, waits % 5) == 4


def test_model_calls_are_counted_by_provider_and_model():
    same = {"provider_name": "acme", "model_name": "m-1"}
    LLMInteractionFactory(**same, input_tokens=100, output_tokens=20, thinking_tokens=None)
    LLMInteractionFactory(**same, input_tokens=1, output_tokens=2, thinking_tokens=3)
    for error in ("The model m-1 fell silent for 60 s", "the session was cancelled", "refused"):
        LLMInteractionFactory(
            **same, error_message=error, input_tokens=None, output_tokens=None, duration_ms=1500
        )

    text = scrape()

    labels = 'provider="acme",model="m-1"'
    assert value(text, f"tarsy_llm_calls_total{{{labels}}}") == 5
    for code in ("timeout", "canceled", "error"):
        assert value(text, f'tarsy_llm_errors_total{{{labels},error_code="{code}"}}') == 1
    for direction, tokens in {"input": 101, "output": 22, "thinking": 3}.items():
        name = f'tarsy_llm_tokens_total{{{labels},direction="{direction}"}}'
        assert value(text, name) == tokens
    assert value(text, f'tarsy_llm_duration_seconds_bucket{{{labels},le="1"}}') == 2
    assert value(text, f'tarsy_llm_duration_seconds_bucket{{{labels},le="2.5"}}') == 5
    assert value(text, f"tarsy_llm_duration_seconds_sum{{{labels}}}") == pytest.approx(6.3)


def test_tool_calls_are_counted_by_server_and_tool_but_not_by_invented_names():
    MCPInteractionFactory(server_name="ops", tool_name="logs")
    MCPInteractionFactory(server_name="ops", tool_name="logs", error_message="no such unit")
    refused = Refusal("APPROVAL_REQUIRED", "Timed out.", {"verdict": "expired"}, rule=None)
    MCPInteractionFactory(server_name="ops", tool_name="logs", error_message=refused.to_text())
    for name in ("hack_a", "hack_b"):
        MCPInteractionFactory(server_name="", tool_name=name, error_message="no such tool")
    MCPInteractionFactory(server_name="ops", interaction_type="tool_list", tool_name="")

    text = scrape()

    assert value(text, 'tarsy_mcp_calls_total{server="ops",tool="logs"}') == 3
    assert value(text, 'tarsy_mcp_errors_total{server="ops",tool="logs"}') == 1
    assert value(text, 'tarsy_mcp_calls_total{server="",tool=""}') == 2
    assert value(text, 'tarsy_mcp_duration_seconds_count{server="ops",tool="logs"}') == 3
    assert "hack" not in text


def test_fallbacks_and_recovered_executions_are_counted_once_they_ended():
    stage = StageFactory(active=True)
    ExecutionFactory(stage=stage, completed=True, attempt=3)
    ExecutionFactory(stage=stage, completed=True, attempt=1, original_llm_provider="google",
                     llm_provider="openai")  # fmt: skip
    ExecutionFactory(stage=stage, active=True, attempt=2)

    text = scrape()

    assert value(text, "tarsy_orphans_recovered_total") == 2
    moved = 'tarsy_llm_fallbacks_total{from_provider="google",to_provider="openai"}'
    assert value(text, moved) == 1


def test_what_the_gate_did_is_counted_from_the_trail():
    count = {"counter": "tarsy_ai_fsm_tool_block_total",
             "labels": {"state": "RESOLVING", "tool": "ops.control", "kind": "write"}}  # fmt: skip
    bare = {"counter": "tarsy_ai_fsm_final_block_total", "labels": {}}
    record_audit("tarsy", "call.block", "session", "1", counts=[count, bare])
    record_audit("tarsy", "call.block", "session", "1", counts=[count])
    record_audit("ana", "thing.do", "thing", "1", counts=7)
    record_audit("ana", "thing.do", "thing", "1")
    LLMInteractionFactory(interaction_type="iteration", provider_name="a b", model_name="m")
    LLMInteractionFactory(interaction_type="summarization", provider_name="a b", model_name="m")

    text = scrape()

    labels = 'state="RESOLVING",tool="ops.control",kind="write"'
    assert value(text, f"tarsy_ai_fsm_tool_block_total{{{labels}}}") == 2
    assert value(text, 'tarsy_ai_fsm_final_block_total{state="unknown"}') == 1
    turns = 'tarsy_ai_agentic_iterations_total{provider="a_b",model="m"}'
    assert value(text, turns) == 1


def test_workers_are_those_heard_of_lately(empty):
    for name, silent, active in (("a", 0, 2), ("b", 0, 0), ("c", 600, 1)):
        presence = {"seen_at": time.time() - silent, "active": active}
        empty.hset(workers.WORKERS_KEY, name, json.dumps(presence))

    text = scrape()

    assert value(text, "tarsy_workers_total") == 2
    assert value(text, "tarsy_workers_active") == 1


def test_a_counter_goes_on_where_it_was_when_retention_deletes_what_it_counted():
    counted = 'tarsy_sessions_submitted_total{alert_type="kubernetes"}'
    calls = 'tarsy_llm_duration_seconds_sum{provider="acme",model="m-1"}'
    old = ended(seconds=60, days_ago=400)
    stage = StageFactory(session=old, completed=True)
    LLMInteractionFactory(
        execution=ExecutionFactory(stage=stage, completed=True), provider_name="acme",
        model_name="m-1", created_at=old.completed_at, duration_ms=1500,
    )  # fmt: skip
    ended(seconds=60)
    assert value(scrape(), counted) == 2

    AlertSession.objects.filter(pk=old.pk)._raw_delete(connection.alias)
    SessionFactory()

    assert not LLMInteraction.objects.exists()
    text = scrape()
    assert value(text, counted) == 3
    assert value(text, calls) == 1.5


def test_nothing_is_counted_twice_or_left_out_while_time_passes(monkeypatch):
    counted = 'tarsy_sessions_submitted_total{alert_type="kubernetes"}'
    now = timezone.now()
    for hours in range(12):
        SessionFactory(created_at=now + timedelta(hours=hours))

    for hours in range(0, 15, 3):
        monkeypatch.setattr(
            prometheus_metrics, "_database_now", lambda at=hours: now + timedelta(hours=at)
        )
        assert value(scrape(), counted) == 12


def test_only_recent_rows_are_read_once_the_rest_was_added_up(django_assert_max_num_queries):
    ended(seconds=60, days_ago=3)
    scrape()

    with django_assert_max_num_queries(len(prometheus_metrics._MEASURES) + 3) as asked:
        scrape()

    windows = [query["sql"] for query in asked if "infinity" in query["sql"]]
    assert len(windows) == len(prometheus_metrics._MEASURES)
    assert not any("1970" in query for query in windows)


def test_without_redis_everything_that_is_there_is_counted(no_redis):
    ended(seconds=60, days_ago=3)

    text = scrape()

    assert value(text, 'tarsy_sessions_submitted_total{alert_type="kubernetes"}') == 1
    assert value(text, "tarsy_workers_total") == 0


def test_families_without_a_series_are_announced():
    text = scrape()

    assert "# TYPE tarsy_llm_calls_total counter\n" in text
    assert "# TYPE tarsy_mcp_duration_seconds histogram\n" in text
    assert len({family.name for family in read_metrics()}) == len(read_metrics())


def test_every_line_is_one_that_a_collector_understands():
    ended(seconds=60)
    LLMInteractionFactory(error_message="refused")
    MCPInteractionFactory(error_message="refused")
    label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"[a-z_]+(\{{{label}(,{label})*\}})? (\d+(\.\d+)?(e[+-]\d+)?)")

    wrong = [
        line
        for line in scrape().splitlines()
        if not line.startswith(("# HELP tarsy_", "# TYPE tarsy_")) and not sample.fullmatch(line)
    ]

    assert wrong == []


def test_labels_from_outside_cannot_break_the_format():
    family = Family("x_total", "Back\\slash\nand line", "counter", ("kind",))

    text = render({family: [Series(('a"b\\c\nd',), 2.5)]})

    assert text == (
        "# HELP x_total Back\\\\slash\\nand line\n"
        "# TYPE x_total counter\n"
        'x_total{kind="a\\"b\\\\c\\nd"} 2.5\n'
    )


# ---- Who may read ------------------------------------------------------------------------------


def ask(settings, *, address: str = "203.0.113.9", **headers: str) -> int:
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost", **headers}, REMOTE_ADDR=address)
    return client.get("/metrics").status_code


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_collector_on_this_machine_may_read(settings, address):
    assert ask(settings, address=address) == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"])
def test_a_stranger_behind_a_proxy_on_this_machine_may_not(settings, header):
    assert ask(settings, address="127.0.0.1", **{header: "203.0.113.9"}) == 401


def test_a_stranger_may_not_and_is_told_what_would_help(settings):
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"}, REMOTE_ADDR="203.0.113.9")

    answer = client.get("/metrics")

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "TARSY_METRICS_TOKEN" in answer.content.decode()


def test_the_token_opens_it_and_another_does_not(settings):
    settings.METRICS_TOKEN = "invented-metrics-token"

    assert ask(settings, authorization="Bearer invented-metrics-token") == 200
    assert ask(settings, authorization="Bearer invented-metrics-tokem") == 401
    assert ask(settings, authorization="Bearer \u00e4") == 401


def test_without_a_token_configured_an_empty_one_opens_nothing(settings):
    settings.METRICS_TOKEN = ""

    assert ask(settings, authorization="Bearer ") == 401


def test_who_may_use_the_api_may_read(settings):
    token = create_token(owner=UserFactory.create(), name="prometheus", actor="test")

    assert ask(settings, authorization=f"Bearer {token}") == 200
