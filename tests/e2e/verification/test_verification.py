"""A write is looked at by us, through a real worker: told on the timeline, in the report and by the
API, also when the worker dies between the write and the look."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from typing_extensions import override

import config
from investigations.models import AlertSession, MCPInteraction, Message, Stage, TimelineEvent
from investigations.selectors.session_page.page import read_session_page
from investigations.selectors.trace.page import read_trace_page
from investigations.services.chat import ask_question
from investigations.services.notices import outcome_of
from tests.e2e.conftest import Play, SharedWorker, submit, wait_until_ended
from tests.e2e.injections.estate import Estate
from tests.processes import Process, start_worker, wait_for

pytestmark = pytest.mark.worker

HERE = Path(__file__).parent
SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: All is resolved.}
  - when: {agent: ^Other}
    reply: {text: "## Conclusion\\nThe stage before says what was done. Confidence: low\\n"}
  - when: {turn: 0}
    reply: {tool_calls: [{name: fleet__list_services, arguments: {}}]}
  - when: {turn: 1}
    reply: {tool_calls: [{name: fleet__restart_service, arguments: {name: billing}}]}
  - when: {turn: 2}
    reply: {text: "## Conclusion\\nIt is resolved. Confidence: high\\n"}
  - when: {turn: 3}
    reply: {tool_calls: [{name: fleet__list_services, arguments: {}}]}
  - reply: {text: "## Conclusion\\nIt is resolved. Confidence: high\\n"}
"""


class Fleet(Estate):
    """One service. `status` is what it has after a restart; `held` keeps a look from ending."""

    def __init__(self) -> None:
        self.status = "running"
        self.held = threading.Event()
        self.held.set()
        self.looks = 0
        super().__init__([])

    @override
    def _list_tools(self) -> list[dict[str, Any]]:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        names = ("list_services", "get_service", "restart_service")
        return [{"name": name, "description": name, "inputSchema": schema} for name in names]

    @override
    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer: object = [{"name": "billing"}]
        if name == "restart_service":
            self.written.append((name, arguments))
            answer = "done"
        elif name == "get_service":
            self.looks += 1
            self.held.wait(60)
            answer = {"status": self.status}
        return {"content": [{"type": "text", "text": json.dumps(answer)}], "isError": False}


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    fleet = Fleet()
    yield fleet
    fleet.held.set()
    fleet.stop()


@pytest.fixture
def environment(fleet: Fleet, product_environment: dict[str, str]) -> dict[str, str]:
    own = {"CONFIG_DIR": str(HERE / "config"), "TARSY_ESTATE_URL": fleet.url}
    return {**product_environment, **own}


@pytest.fixture(autouse=True)
def configuration(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    config.configure(HERE / "config")
    yield
    config.configure(None)


@pytest.fixture
def start(
    live_db: None, shared_worker: SharedWorker, environment: dict[str, str]
) -> Iterator[Callable[[], Process]]:
    shared_worker.stop()
    started: list[Process] = []

    def begin() -> Process:
        started.append(start_worker(**environment))
        started[-1].wait_until_ready()
        return started[-1]

    yield begin
    for process in started:
        process.stop()


def detail(session: AlertSession) -> dict[str, Any]:
    answer = Client(headers={"host": "localhost"}).get(f"/api/v1/sessions/{session.pk}")
    return dict(answer.json())


def checks(session: AlertSession) -> list[MCPInteraction]:
    return list(MCPInteraction.objects.filter(session=session, tool_result__has_key="check_of"))


def test_a_confirmed_write_needs_no_read_and_is_told_as_a_check_of_ours(
    fleet: Fleet, play: Play, start: Callable[[], Process], settings
):
    settings.TARSY_AUTH = "none"
    play(SCRIPT)
    start()

    session = wait_until_ended(submit("restart"))

    assert session.status == "completed", session.error_message
    assert len(fleet.written) == 1
    (check,) = checks(session)
    assert (check.server_name, check.tool_name) == ("fleet", "get_service")
    assert check.tool_arguments == {"name": "billing"}
    event = TimelineEvent.objects.get(session=session, metadata__has_key="check_of")
    assert event.metadata["proposed_by"] == "tarsy"
    assert event.metadata["verification"]["status"] == "verified"
    told = Message.objects.get(session=session, tool_number=event.metadata["check_of"])
    assert "\nVERIFICATION: verified, by a call of fleet.get_service" in told.content
    assert session.final_analysis.startswith(
        "**Changed:** fleet.restart_service has run on `billing`"
    )
    assert "; nobody was asked; verified: " in session.final_analysis
    assert "\n\n## Conclusion\nIt is resolved." in session.final_analysis
    assert detail(session)["unverified_writes"] == []


def test_every_page_counts_the_same_tool_calls(
    fleet: Fleet, play: Play, start: Callable[[], Process], settings
):
    """Among them a look of ours, and in the chat one that was not let run."""
    settings.TARSY_AUTH = "none"
    play(SCRIPT)
    start()
    session = wait_until_ended(submit("restart"))
    assert session.status == "completed", session.error_message
    question = ask_question(session.pk, "Do it again?", author="ana")
    wait_for(lambda: Stage.objects.get(pk=question.stage_id).completed_at, what="an answer")

    session.refresh_from_db()
    viewer = Client(headers={"host": "localhost"})
    stages = sum(stage.tool_count for stage in read_session_page(session).stages)
    trace = read_trace_page(session).counts["tools"]
    (row,) = viewer.get("/").context["recent"].rows
    hour = viewer.get("/system/").context["hour"]
    (calls,) = [each for each in hour.tallies if each.name == "fleet"]

    assert stages == trace == row.tool_calls == calls.count == 5
    assert len(checks(session)) == 1
    assert calls.held == 1


def test_a_write_without_effect_is_named_above_every_text_about_the_session(
    fleet: Fleet, play: Play, start: Callable[[], Process], settings
):
    settings.TARSY_AUTH = "none"
    fleet.status = "stopped"
    play(SCRIPT)
    start()

    session = wait_until_ended(submit("restart-and-report"), within=60)

    assert session.status == "completed", session.error_message
    line = "**Unverified:** fleet.restart_service has run on `billing`, and status is stopped"
    # The agent of the last stage looked at nothing itself, which is said first.
    assert session.final_analysis.startswith("**Inconclusive:** no tool call of this agent")
    assert line in session.final_analysis.partition("## Conclusion")[0]
    assert line in session.executive_summary
    assert "**Changed:** fleet.restart_service has run" in session.executive_summary
    assert session.executive_summary.endswith("All is resolved.")
    (write,) = detail(session)["unverified_writes"]
    assert (write["tool"], write["target"]) == ("fleet.restart_service", "billing")
    assert write["status"] == "failed"
    page = Client(headers={"host": "localhost"}).get(f"/sessions/{session.pk}/").content.decode()
    read = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Something was changed, and nothing has confirmed it" in read
    assert re.search(r"Failed\. fleet\.restart_service on billing .*status is stopped", read)
    # What Slack is told has both lines as well.
    told = outcome_of(session)
    assert "Unverified:" in told
    assert "fleet.restart_service has run on" in told
    assert "status is stopped, not running" in told
    assert "Changed:" in told


def test_a_worker_that_dies_between_write_and_look_writes_once_and_looks_again(
    fleet: Fleet, play: Play, start: Callable[[], Process], settings
):
    settings.TARSY_AUTH = "none"
    play(SCRIPT)
    fleet.held.clear()
    worker = start()
    session = submit("restart")
    wait_for(lambda: fleet.looks, what="the look after the write")

    worker.kill()
    fleet.held.set()
    start()
    session = wait_until_ended(session, within=60)

    assert session.status == "completed", session.error_message
    assert len(fleet.written) == 1
    (check,) = checks(session)
    assert check.tool_result["status"] == "verified"
    assert detail(session)["unverified_writes"] == []
