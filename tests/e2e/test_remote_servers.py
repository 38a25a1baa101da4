"""Remote tool servers of an upstream `tarsy.yaml`: what is missing is said, what is back joins."""

import contextlib
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from redis import Redis
from starlette.types import ASGIApp

from agents.our_lines import split_our_lines
from investigations.models import AlertSession, MCPInteraction, TimelineEvent
from investigations.selectors.system import warnings
from investigations.selectors.system.tool_servers import read_health, read_tools
from tests.e2e.conftest import Play, StartWith, submit, wait_until_ended
from tests.e2e.scripts import ANSWERS
from tests.mcp_bridge.test_http_servers import serving
from tests.mcp_bridge.test_roster import http_app
from tests.processes import Process, find_free_port, wait_for

pytestmark = pytest.mark.worker

REMOTE = """
mcp_servers:
  kubernetes-server:
    transport: {type: http, url: "http://127.0.0.1:ONE/mcp"}
  monitoring-server:
    transport: {type: http, url: "http://127.0.0.1:TWO/mcp"}
agents:
  Investigator:
    mcp_servers: [kubernetes-server, monitoring-server]
    custom_instructions: Look.
  Second:
    mcp_servers: [ops]
    custom_instructions: Look again.
agent_chains:
  k8s:
    alert_types: [K8sIssue]
    stages: [{name: investigate, agents: [{name: Investigator}]}]
  twice:
    alert_types: [TwoStages]
    stages:
      - {name: investigate, agents: [{name: Investigator}]}
      - {name: again, agents: [{name: Second}]}
defaults: {alert_type: K8sIssue, llm_provider: rehearsal}
"""
CLASSED = REMOTE.replace(
    '/mcp"}\n', '/mcp"}\n    tools: {pods: read, query: read, later: read}\n'
)  # fmt: skip
REPORT = """
    reply:
      text: |
        ## Conclusion
        The alert says that the pod restarts. Confidence: low

        ## Evidence
        1. The pod restarts (alert).
"""
BLIND = "\nrules:\n" + ANSWERS + "  - when: {turn: 0+}" + REPORT
LOOKS_THEN_REPORTS = (
    "\nrules:\n"
    + ANSWERS
    + """
  - when: {turn: 0}
    reply:
      text: Looking at the pods, word after word after word.
      hold: first
      hold_after: 3
      tool_calls: [{name: kubernetes-server__pods, arguments: {}}]
  - when: {turn: 1, tools: [monitoring-server__query]}
    reply:
      text: Now at the metrics.
      tool_calls: [{name: monitoring-server__query, arguments: {}}]
  - when: {turn: 1+}"""
    + REPORT
)


@pytest.fixture
def ports() -> tuple[int, int]:
    return find_free_port(), find_free_port()


@pytest.fixture
def start(
    configured_workers: StartWith, clean_redis: Redis, ports: tuple[int, int], settings
) -> Iterator[Callable[[str], Callable[..., Process]]]:
    """Start workers of such a configuration that look at their servers every second."""
    settings.TARSY_AUTH = "none"
    warnings._about_configuration.cache_clear()

    def configure(text: str) -> Callable[..., Process]:
        first, second = map(str, ports)
        start_one = configured_workers(text.replace("ONE", first).replace("TWO", second))
        return lambda: start_one(TARSY_MCP_HEALTH_SECONDS="1")

    yield configure
    warnings._about_configuration.cache_clear()


def kubernetes() -> ASGIApp:
    return http_app("pods", *(f"pods_{n}" for n in range(5)))


def monitoring() -> ASGIApp:
    return http_app("query", *(f"query_{n}" for n in range(4)))


@pytest.fixture
def api() -> Client:
    return Client(headers={"host": "localhost"})


def text_of(answer) -> str:
    html = re.sub(r"(?s)<(script|style|svg|template).*?</\1>", "", answer.content.decode())
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


def lists_of(session: AlertSession, server: str) -> list[MCPInteraction]:
    lists = MCPInteraction.objects.filter(
        session=session, interaction_type="tool_list", server_name=server
    )
    return list(lists.order_by("created_at"))


def test_tools_that_nobody_classed_are_told_to_the_operator_and_to_the_reader(
    start, ports, play: Play, api: Client, tmp_path: Path
):
    play(BLIND)
    start_worker = start(REMOTE)
    with serving(kubernetes(), ports[0]), serving(monitoring(), ports[1]):
        printed = io.StringIO()
        call_command("check_config", config_dir=tmp_path, stdout=printed)
        start_worker()
        wait_for(lambda: len(read_tools()) >= 2, within=60, what="both servers to be seen")
        told = api.get("/api/v1/system/warnings").json()["warnings"]
        system, form = text_of(api.get("/system/")), text_of(api.get("/submit-alert/"))
        session = wait_until_ended(submit("TwoStages"))

    said = "2 servers, 11 tools that nobody has classed: not offered"
    assert printed.getvalue().count("this server is remote, has no `tools:` block") == 2
    assert [each["message"] for each in told] == [said]
    assert "manage.py mcp_tools monitoring-server --suggest" in told[0]["details"]
    assert said in system
    assert "6 of 6 tools nobody has classed" in system
    assert said in form
    assert session.status == "completed"
    line = f"**Not checked:** {said} (`kubernetes-server` and `monitoring-server`)."
    assert line in split_our_lines(session.final_analysis)[0]
    assert line in split_our_lines(session.executive_summary)[0]
    assert session.final_analysis.count("Not checked") == 1
    page = text_of(api.get(f"/sessions/{session.pk}/"))
    assert f"Not checked: {said} (kubernetes-server and monitoring-server)." in page
    assert "6 of 6 tools of kubernetes-server not offered" in page
    (notice,) = session.timeline_events.filter(event_type="notice")
    assert "kubernetes-server gives 0 of 6 tools; 6 that nobody has classed" in notice.content
    assert "manage.py mcp_tools kubernetes-server --suggest" in notice.content
    assert "trust_annotations: true" in notice.content
    detail = api.get(f"/api/v1/sessions/{session.pk}").json()
    offers = detail["stages"][0]["executions"][0]["tool_servers"]
    assert [(o["server_name"], o["offered_count"], o["unclassed_count"]) for o in offers] == [
        ("kubernetes-server", 0, 6),
        ("monitoring-server", 0, 5),
    ]
    evidence = api.get(f"/api/v1/sessions/{session.pk}/evidence").json()
    assert not [each for each in evidence["claims"] if "Not checked" in each["text"]]


def test_what_an_agent_was_offered_stands_in_the_trace(start, ports, play: Play, api: Client):
    play(BLIND)
    start_worker = start(CLASSED)
    with serving(kubernetes(), ports[0]), serving(monitoring(), ports[1]):
        start_worker()
        session = wait_until_ended(submit("K8sIssue"))

    (kept,) = lists_of(session, "kubernetes-server")
    trace = api.get(f"/api/v1/sessions/{session.pk}/trace").json()
    (listed,) = [
        each
        for each in trace["stages"][0]["executions"][0]["mcp_interactions"]
        if each["server_name"] == "kubernetes-server"
    ]
    opened = api.get(f"/api/v1/sessions/{session.pk}/trace/mcp/{kept.pk}").json()
    page = text_of(api.get(f"/sessions/{session.pk}/trace/"))
    row = text_of(api.get(f"/sessions/{session.pk}/trace/tools/{kept.pk}/"))
    assert (listed["interaction_type"], listed["tool_name"]) == ("tool_list", None)
    assert opened["available_tools"] == [{"name": "pods", "description": "Does pods."}]
    assert {each["reason"] for each in opened["hidden_tools"]} == {"unclassed"}
    assert "Tools of kubernetes-server 1 of 6 offered; 5 that nobody has classed" in page
    assert "Does pods." in row
    assert "That nobody has classed" in row


def test_a_server_that_was_away_is_named_by_report_page_trace_and_api(
    start, ports, play: Play, api: Client
):
    play(BLIND)
    start_worker = start(CLASSED)
    with serving(http_app("pods"), ports[0]):
        start_worker()
        session = wait_until_ended(submit("TwoStages"))

    line = "**Not checked:** `monitoring-server` was not available."
    assert line in split_our_lines(session.final_analysis)[0]
    assert line in split_our_lines(session.executive_summary)[0]
    detail = api.get(f"/api/v1/sessions/{session.pk}").json()
    (away,) = detail["unavailable_servers"]
    assert (away["server_name"], away["was_available"]) == ("monitoring-server", False)
    page = text_of(api.get(f"/sessions/{session.pk}/"))
    assert "Not checked: monitoring-server was not available." in page
    assert "monitoring-server is not available:" in page
    trace = text_of(api.get(f"/sessions/{session.pk}/trace/"))
    assert "Tools of monitoring-server" in trace
    assert len(lists_of(session, "monitoring-server")) == 1


def test_a_server_joins_before_the_next_question_once_it_is_well(
    start, ports, play: Play, api: Client
):
    rehearsal = play(LOOKS_THEN_REPORTS)
    start_worker = start(CLASSED)
    with contextlib.ExitStack() as servers:
        servers.enter_context(serving(http_app("pods"), ports[0]))
        start_worker()
        session = submit("K8sIssue")
        rehearsal.wait_until_held("first", timeout=30)
        servers.enter_context(serving(http_app("query"), ports[1]))
        _wait_until_well("monitoring-server", after=time.time() + 3)
        rehearsal.release("first")
        session = wait_until_ended(session)

    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    names = calls.order_by("tool_number").values_list("server_name", "error_message")
    assert list(names) == [("kubernetes-server", ""), ("monitoring-server", "")]
    away, back = lists_of(session, "monitoring-server")
    assert (away.error_message != "", away.available_tools) == (True, [])
    assert (back.error_message, [tool["name"] for tool in back.available_tools]) == ("", ["query"])
    told = [m for m in rehearsal.requests[1].body["messages"] if m["role"] == "user"]
    assert "The tool server monitoring-server can be reached now" in told[-1]["content"]
    assert "monitoring-server__query" in told[-1]["content"]
    notices = session.timeline_events.filter(event_type="notice").order_by("sequence_number")
    assert [n.content.split(". ")[0] for n in notices][1:] == ["monitoring-server is available now"]
    assert "Not checked" not in session.final_analysis
    assert api.get(f"/api/v1/sessions/{session.pk}").json()["unavailable_servers"] == []


def test_after_a_crash_nothing_of_what_was_offered_is_told_twice(start, ports, play: Play):
    rehearsal = play(LOOKS_THEN_REPORTS)
    start_worker = start(CLASSED)
    with serving(http_app("pods", "mystery"), ports[0]):
        first = start_worker()
        session = submit("K8sIssue")
        rehearsal.wait_until_held("first", timeout=30)
        first.kill()
        rehearsal.release("first")
        start_worker()
        session = wait_until_ended(session, within=90)

    assert session.executions.get(agent_name="Investigator").attempt == 2
    lists = MCPInteraction.objects.filter(session=session, interaction_type="tool_list")
    assert sorted(lists.values_list("server_name", flat=True)) == [
        "kubernetes-server",
        "monitoring-server",
    ]
    assert session.timeline_events.filter(event_type="notice").count() == 1
    asked = json.dumps([request.body for request in rehearsal.requests])
    assert "Your tools have changed" not in asked
    analyses = TimelineEvent.objects.filter(session=session, event_type="final_analysis")
    assert analyses.order_by("sequence_number").first().content.count("Not checked") == 2


def _wait_until_well(server: str, *, after: float) -> None:
    def is_well() -> bool:
        report = read_health()
        seen = report.servers.get(server) if report else None
        return seen is not None and seen.healthy and seen.checked_at > after

    wait_for(is_well, within=60, what=f"{server} to be seen well")
