"""The pictures are of all pages, and the sessions on them hold together."""

import re
from collections.abc import Iterator

import pytest

import config
from investigations.models import AgentExecution, AlertSession, TimelineEvent
from investigations.urls import urlpatterns
from screenshots.__main__ import CONFIG_DIR
from screenshots.sights import SIGHTS
from screenshots.stage import set_stage
from screenshots.world import World
from tests.processes import find_free_port

pytestmark = pytest.mark.slow

NO_PAGES = {
    # Pieces of pages, which scripts fetch.
    "active", "recent", "new-rows", "hits",
    "running-row", "facts", "session-workers", "events", "event", "event-content", "stage",
    "event-chart",
    "lookers",
    "earlier", "quote", "trace-llm", "trace-message", "trace-iteration", "trace-tool",
    "trace-arguments", "trace-result", "submit-preview", "submit-runbooks", "system-server",
    "system-model",
    "place", "search",
    # What only does something.
    # Or asks about sessions that somebody chose.
    "acknowledge", "bulk-cancel", "bulk-retry", "bulk-delete",
    "cancel", "ask", "approve", "deny", "check-write", "system-try", "system-check",
    "maintenance-open", "maintenance-end",
    "login-link", "logout", "export",
}  # fmt: skip
_NAMED = re.compile(r"\[[a-z][a-z, -]*\](?!\()")
_CITED = re.compile(r"T(\d+)")


@pytest.fixture
def port() -> int:
    return find_free_port()


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, clean_redis: object, port: int) -> Iterator[None]:
    given = {"GEMINI_API_KEY": "nobody is asked", "CONFIG_DIR": str(CONFIG_DIR)}
    for name, value in {**set_stage(port), **given}.items():
        monkeypatch.setenv(name, value)
    config.configure(CONFIG_DIR)
    yield
    config.configure(None)


@pytest.fixture
def world(stage: None) -> World:
    made = World()
    made.make_sessions()
    return made


def test_a_picture_is_taken_of_each_page():
    pages = {pattern.name for pattern in urlpatterns} - NO_PAGES

    assert {sight.view for sight in SIGHTS if ":" not in sight.view} == pages
    assert len({sight.name for sight in SIGHTS}) == len(SIGHTS)


@pytest.mark.django_db(transaction=True)
def test_the_world_has_a_session_in_each_state_and_cites_only_calls_that_are_there(world: World):
    statuses = set(AlertSession.objects.values_list("status", flat=True))

    assert statuses >= {"pending", "in_progress", "completed", "failed", "cancelled"}
    for session in AlertSession.objects.all():
        events = session.timeline_events
        calls = events.filter(event_type=TimelineEvent.Type.LLM_TOOL_CALL).count()
        said = events.exclude(event_type=TimelineEvent.Type.LLM_TOOL_CALL)
        texts = " ".join(said.values_list("content", flat=True))
        assert _NAMED.findall(texts) == []
        assert all(int(number) <= calls for number in _CITED.findall(session.final_analysis))
    # What a report is marked with comes from its review alone.
    reports = TimelineEvent.objects.filter(event_type=TimelineEvent.Type.FINAL_ANALYSIS)
    assert all("claims" in report.metadata for report in reports)
    [synthesis] = reports.filter(
        session__title__startswith="payments-api", stage__stage_type="synthesis"
    )
    assert synthesis.metadata["claims"]["uncited"] == 1


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_what_is_doubtful_on_a_picture_is_what_the_product_made_of_it(stage: None, port: int):
    made = World()
    made.make_people()

    made.play_sessions(port, pace=0)

    session = AlertSession.objects.get
    assert AgentExecution.objects.filter(approvals__status="pending").count() == 2
    misquoted = TimelineEvent.objects.filter(metadata__has_key="misquoted").get()
    assert misquoted.session.incident.member_count == 2
    claimed = session(title__startswith="web-3").final_analysis
    assert "I restarted" not in claimed
    assert "A sentence is withheld" in claimed
    unverified = session(title__startswith="web-4")
    assert unverified.approvals.get().used_at is not None
    assert unverified.final_analysis.startswith("**Unverified:** fleet.unit_restart has run")


@pytest.mark.django_db(transaction=True)
def test_what_runs_in_the_world_stays_at_the_moment_of_its_picture(world: World):
    (sight,) = [each for each in SIGHTS if each.name == "session-running"]
    before = AlertSession.objects.get(title__startswith="checkout-web")

    address = world.find(sight)

    after = AlertSession.objects.get(pk=before.pk)
    assert address == f"/sessions/{before.pk}/"
    assert after.started_at > before.started_at
    assert after.last_interaction_at - after.started_at == (
        before.last_interaction_at - before.started_at
    )
