"""Tool servers over the API, from what a monitor in another process has told."""

import json
import time
from typing import Any

import pytest
from redis import Redis

from investigations.selectors.system import tool_servers, warnings, workers
from tests.investigations.conftest import CONFIG_DIR

WARNINGS = "/api/v1/system/warnings"
SERVERS = "/api/v1/system/mcp-servers"
DEFAULTS = "/api/v1/system/default-tools"
REMOTE = """
mcp_servers:
  remote:
    transport: {type: http, url: "http://127.0.0.1:1/mcp"}
    tools: {look: read}
  other:
    transport: {type: http, url: "http://127.0.0.1:1/mcp"}
    tools: {look: read}
"""
TOOL = {"name": "look", "description": "Looks.", "classes": {"": "read"}, "schema_hash": "ab12",
        "is_classed": True}  # fmt: skip
UNCLASSED = {**TOOL, "name": "peek", "classes": {"": "write"}, "is_classed": False}


@pytest.fixture(autouse=True)
def two_servers(clean_redis: Redis, reconfigure):
    """Two servers of the operator's, and a worker that was heard of."""
    warnings._about_configuration.cache_clear()
    reconfigure((CONFIG_DIR / "tarsy.yaml").read_text() + REMOTE)
    presence = {"seen_at": time.time(), "active": 0}
    clean_redis.hset(workers.WORKERS_KEY, "worker-1", json.dumps(presence))
    yield clean_redis
    warnings._about_configuration.cache_clear()


def tell(redis: Redis, *servers: dict[str, Any], seconds_ago: float = 0.0) -> None:
    moment = time.time() - seconds_ago
    whole = [{"since": moment, "checked_at": moment, **each} for each in servers]
    report = {"worker_id": "worker-1", "reported_at": moment, "servers": whole}
    redis.set(tool_servers.HEALTH_KEY, json.dumps(report))
    redis.set(tool_servers.TOOLS_KEY, json.dumps({"remote": [TOOL]}))


def tell_tools(redis: Redis, **tools: list[dict[str, Any]]) -> None:
    redis.set(tool_servers.TOOLS_KEY, json.dumps(tools))


def get_server(api, name: str) -> dict[str, Any]:
    found = {each["id"]: each for each in api.get(SERVERS).json()["servers"]}
    return found[name]


def test_servers_are_listed_in_order_with_their_tools(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True, "latency_ms": 7})

    listed = api.get(SERVERS).json()["servers"]
    remote = get_server(api, "remote")

    assert [each["id"] for each in listed] == ["kubernetes-server", "ops", "other", "remote"]
    assert (remote["healthy"], remote["state"], remote["error"]) == (True, "healthy", None)
    assert (remote["tool_count"], remote["tools"]) == (1, [TOOL])
    assert remote["last_check"] is not None


def test_servers_that_nobody_counts_on_are_neither_watched_nor_missed(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True}, {"id": "other", "healthy": True})

    assert get_server(api, "kubernetes-server")["state"] == "unwatched"
    assert api.get(WARNINGS).json() == {"warnings": []}


def test_a_server_that_nobody_watches_says_why_it_is_not_healthy(api, two_servers):
    unwatched = get_server(api, "kubernetes-server")

    assert (unwatched["healthy"], unwatched["state"]) == (False, "unwatched")
    assert "no chain" in unwatched["error"]


def test_tools_that_nobody_has_classed_are_counted_and_warned_of(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True}, {"id": "other", "healthy": True})
    tell_tools(two_servers, remote=[TOOL, UNCLASSED], other=[UNCLASSED, {**UNCLASSED, "name": "b"}])

    (warning,) = api.get(WARNINGS).json()["warnings"]
    remote = get_server(api, "remote")

    assert warning["category"] == "mcp_tools"
    assert warning["message"] == "2 servers, 3 tools that nobody has classed: not offered"
    assert "other (2 of 2), remote (1 of 2)" in warning["details"]
    assert "manage.py mcp_tools remote --suggest" in warning["details"]
    assert "trust_annotations: true" in warning["details"]
    assert (remote["tool_count"], remote["unclassed_count"]) == (2, 1)
    assert "1 server, 1 tool that nobody has classed: not offered" in remote["hint"]
    assert [each["is_classed"] for each in remote["tools"]] == [True, False]


def test_a_write_that_somebody_classed_is_no_reason_to_warn(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True}, {"id": "other", "healthy": True})
    tell_tools(two_servers, remote=[{**TOOL, "name": "scale", "classes": {"": "write"}}])

    assert api.get(WARNINGS).json() == {"warnings": []}
    assert get_server(api, "remote")["unclassed_count"] == 0


def test_the_files_are_warned_of_until_the_tools_were_seen(api, two_servers, reconfigure):
    unclassed = "  third: {transport: {type: sse, url: 'http://127.0.0.1:1/sse'}}\n"
    reconfigure((CONFIG_DIR / "tarsy.yaml").read_text() + REMOTE + unclassed)
    warnings._about_configuration.cache_clear()
    well = [{"id": name, "healthy": True} for name in ("remote", "other", "third")]
    tell(two_servers, *well)
    before = api.get(WARNINGS).json()["warnings"]

    tell_tools(two_servers, third=[UNCLASSED])
    after = api.get(WARNINGS).json()["warnings"]

    assert [each["category"] for each in before] == ["configuration"]
    assert "has no `tools:` block" in before[0]["message"]
    assert [each["category"] for each in after] == ["mcp_tools"]


def test_a_server_without_a_first_check_is_being_checked(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True})

    assert get_server(api, "other")["state"] == "checking"


def test_a_missing_server_is_warned_of_under_one_id_until_it_is_back(api, two_servers):
    down = {"id": "remote", "healthy": False, "since": 1_790_000_000.0}
    tell(two_servers, {**down, "error": "nothing answers at its address"})
    (first,) = api.get(WARNINGS).json()["warnings"]
    tell(two_servers, {**down, "error": "it did not start within 30 s"})
    (second,) = api.get(WARNINGS).json()["warnings"]
    tell(two_servers, {"id": "remote", "healthy": True})

    assert (first["category"], first["server_id"]) == ("mcp_health", "remote")
    assert first["created_at"].startswith("2026-09-21T")
    assert "nothing answers" in first["details"]
    assert "did not start" in second["details"]
    assert second["id"] == first["id"]
    assert api.get(WARNINGS).json() == {"warnings": []}


def test_the_next_failure_is_another_warning(api, two_servers):
    ids = set()
    for since in (1_790_000_000.0, 1_790_000_600.0):
        tell(two_servers, {"id": "remote", "healthy": False, "since": since, "error": "gone"})
        ids |= {each["id"] for each in api.get(WARNINGS).json()["warnings"]}

    assert len(ids) == 2


def test_an_old_report_is_not_taken_for_the_present(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": False, "error": "gone"}, seconds_ago=3600)

    (warning,) = api.get(WARNINGS).json()["warnings"]
    remote = get_server(api, "remote")

    assert (warning["category"], warning["server_id"]) == ("mcp_health", None)
    assert "has not reported since 20" in warning["message"]
    assert (remote["state"], remote["healthy"]) == ("unknown", False)
    assert "has not reported since 20" in remote["error"]
    assert remote["tools"] == [TOOL]


def test_a_monitor_that_never_reported_is_told(api):
    (warning,) = api.get(WARNINGS).json()["warnings"]

    assert warning["message"] == "the monitor of tool servers has not reported yet"
    assert get_server(api, "remote")["state"] == "unknown"


def test_metrics_say_which_servers_are_there_and_nothing_once_nobody_looks(api, two_servers):
    tell(two_servers, {"id": "remote", "healthy": True}, {"id": "other", "healthy": False})
    now = api.get("/metrics").content.decode()
    tell(two_servers, {"id": "remote", "healthy": True}, seconds_ago=3600)
    later = api.get("/metrics").content.decode()

    assert 'tarsy_mcp_health_status{server="remote"} 1\n' in now
    assert 'tarsy_mcp_health_status{server="other"} 0\n' in now
    assert "tarsy_mcp_health_status{" not in later


def test_default_tools_are_those_of_the_chain(api):
    answer = api.get(DEFAULTS, {"alert_type": "kubernetes"}).json()

    assert answer["alert_type"] == "kubernetes"
    assert answer["mcp_servers"] == ["kubernetes-server", "ops"]
    assert answer["native_tools"].keys() == {"google_search", "code_execution", "url_context"}


@pytest.mark.parametrize("asked", [{}, {"alert_type": "nobody-knows-it"}])
def test_default_tools_without_a_known_alert_type_are_those_of_every_server(
    api, two_servers, asked
):
    answer = api.get(DEFAULTS, asked)

    assert answer.status_code == 200
    assert answer.json() == {
        **asked,
        "mcp_servers": ["kubernetes-server", "ops", "other", "remote"],
        "native_tools": {"google_search": False, "code_execution": False, "url_context": False},
    }


@pytest.mark.parametrize("path", [SERVERS, DEFAULTS])
def test_strangers_are_told_nothing(stranger, path: str):
    assert stranger.get(path).status_code == 401
