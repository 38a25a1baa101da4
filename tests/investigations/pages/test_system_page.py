"""The page about the product itself: what is wrong comes first, with what to do about it."""

import json
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from redis import Redis

from config import get_config
from investigations.engine import tool_trials
from investigations.queue import NotSent
from investigations.selectors.configuration.for_page import show_configuration
from investigations.selectors.configuration.models_in_use import ModelState
from investigations.selectors.system import tool_servers, trials, trouble, warnings, workers
from investigations.selectors.system.tool_servers import read_health
from investigations.selectors.system.trials import Trial, read_trials
from investigations.services import trials as asking
from investigations.services.refused_posts import count_refused_post
from safety.refusals import Refusal, report_undone
from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    SessionFactory,
)
from tests.investigations.conftest import CONFIG_DIR

pytestmark = pytest.mark.django_db
PATH = "/system/"
SECRETS = ("in-the-url", "userinfo", "bearer-secret", "header-secret", "argument-secret",
           "environment-secret", "from-the-environment", "pattern-secret",
           "ghp_abcdefghijklmnopqrstuvwxyz0123456789")  # fmt: skip
SERVERS = """
mcp_servers:
  remote:
    transport:
      type: http
      url: "https://userinfo:userinfo@tools.example.org/mcp?key=in-the-url"
      bearer_token: bearer-secret
      custom_headers: {X-Key: header-secret}
    tools: {look: read}
    instructions: "<script>alert(1)</script> with ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    data_masking:
      enabled: true
      custom_patterns: [{pattern: pattern-secret, replacement: x}]
  local:
    transport:
      type: stdio
      command: sh
      args: [--token, argument-secret]
      env: {TOKEN: environment-secret}
    instructions: "before {{.SYSTEM_PAGE_SECRET}} after"
"""


@pytest.fixture(autouse=True)
def configured(clean_redis: Redis, reconfigure, monkeypatch) -> Redis:
    monkeypatch.setenv("SYSTEM_PAGE_SECRET", "from-the-environment")
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    warnings._about_configuration.cache_clear()
    trouble._watch.cache_clear()
    reconfigure((CONFIG_DIR / "tarsy.yaml").read_text() + SERVERS)
    yield clean_redis
    warnings._about_configuration.cache_clear()
    trouble._watch.cache_clear()


def tell_presence(redis: Redis, name="worker-1", *, seconds_ago=0.0, active=0) -> None:
    presence = {"seen_at": time.time() - seconds_ago, "active": active}
    redis.hset(workers.WORKERS_KEY, name, json.dumps(presence))


def tell_servers(redis: Redis, **errors: str) -> None:
    now = time.time()
    servers = [
        {"id": name, "healthy": not error, "since": now - 60, "checked_at": now, "error": error}
        for name, error in {"local": "", "remote": "", **errors}.items()
    ]
    report = {"worker_id": "worker-1", "reported_at": now, "servers": servers}
    redis.set(tool_servers.HEALTH_KEY, json.dumps(report))


@pytest.fixture
def away(settings):
    """Redis is where nobody listens."""
    settings.REDIS_URL = "redis://:a-password@127.0.0.1:1/0"
    workers.client.cache_clear()
    yield
    workers.client.cache_clear()


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    """The servers that workers were asked to try."""
    asked: list[str] = []
    monkeypatch.setattr(asking, "enqueue_trial", lambda name, expires_in: asked.append(name))
    return asked


def todos(client) -> list[str]:
    return [todo.title for todo in client.get(PATH).context["todos"]]


def models_on(page) -> list[ModelState]:
    return [row.model for row in page.context["model_rows"]]


def test_strangers_see_nothing_and_try_nothing(client, configured, sent):
    tell_presence(configured)

    assert client.get(PATH).status_code == 302
    assert client.get(f"{PATH}server/?id=local").status_code == 302
    assert client.post(f"{PATH}try/", {"server": "local"}).status_code == 302
    assert sent == []


def test_who_may_send_alerts_is_shown_with_what_was_refused(viewer, configured, reconfigure):
    senders = """
alert_senders:
  pagerduty: {secret_envs: [SYSTEM_PAGE_SECRET]}
  github: {secret_envs: [SYSTEM_PAGE_NOWHERE]}
  zabbix: {networks: [10.0.0.0/8]}
"""
    reconfigure((CONFIG_DIR / "tarsy.yaml").read_text() + SERVERS + senders)
    tell_presence(configured)
    tell_servers(configured)
    for _ in range(2):
        count_refused_post(
            source="pagerduty", code="wrong_proof", address="203.0.113.9",
            reason="the signature\u202e is <b>wrong</b>",
        )  # fmt: skip

    page = viewer.get(PATH).content.decode()

    rows = page[page.index('id="senders"') : page.index('id="config-h"')]
    assert todos(viewer) == ["No post of github is taken: its secret is missing"]
    assert "the signature of PagerDuty" in rows
    assert "this machine and 10.0.0.0/8" in rows
    assert "not set: " in rows
    assert '<td data-l="Posts" class="t-num">2</td>' in rows
    assert "203.0.113.9" in rows
    assert "<b>wrong" not in rows
    assert "\u202e" not in rows
    assert "from-the-environment" not in page


def test_tools_that_nobody_has_classed_are_a_thing_to_do_and_stand_in_the_row(viewer, configured):
    tell_presence(configured)
    tell_servers(configured)
    tool = {"name": "peek", "description": "", "classes": {"": "write"}, "schema_hash": "a",
            "is_classed": False}  # fmt: skip
    configured.set(tool_servers.TOOLS_KEY, json.dumps({"remote": [tool]}))

    page = viewer.get(PATH).content.decode()

    assert todos(viewer) == ["1 server, 1 tool that nobody has classed: not offered"]
    assert "<code>manage.py mcp_tools remote --suggest</code>" in page
    assert "1 of 1 tool nobody has classed: not offered to agents that only read" in page


def test_what_a_server_lists_and_cannot_be_offered_stands_in_its_row(viewer, configured):
    tell_presence(configured)
    now, told = time.time(), ["get <b>pods is left out: its name cannot be used"]
    server = {"id": "remote", "healthy": True, "since": now, "checked_at": now, "left_out": told}
    report = {"worker_id": "worker-1", "reported_at": now, "servers": [server]}
    configured.set(tool_servers.HEALTH_KEY, json.dumps(report))

    page = viewer.get(PATH).content.decode()

    assert "get &lt;b&gt;pods is left out: its name cannot be used" in page


def test_all_is_well_where_nothing_is_wrong(viewer, configured):
    tell_presence(configured)
    tell_servers(configured)

    page = viewer.get(PATH).content.decode()

    assert "All is well" in page
    assert "2 of 2 up" in page
    assert "migrations applied" in page


def test_a_missing_worker_is_red_and_says_how_to_start_one(viewer, monkeypatch):
    monkeypatch.setattr(workers, "STARTING_SECONDS", 0)
    page = viewer.get(PATH).content.decode()

    assert "No worker was heard of lately" in page
    assert "<code>celery -A tarsy.worker worker -P threads</code>" in page


def test_a_missing_tool_server_is_red_with_its_reason_and_a_button(viewer, configured):
    tell_presence(configured)
    tell_servers(configured, remote="401 <b>bad</b> key")

    page = viewer.get(PATH).content.decode()

    todo = page.split('class="t-todo"')[1].split("</li>")[0]
    assert "The tool server remote is not available" in todo
    assert "401 &lt;b&gt;bad&lt;/b&gt; key" in todo
    assert '<input type="hidden" name="server" value="remote">' in todo
    assert "<code>manage.py mcp_tools remote</code>" in todo


def test_a_server_that_only_a_built_in_chain_would_use_says_so_and_is_not_called_unused(
    viewer, configured
):
    tell_presence(configured)
    tell_servers(configured)

    page = viewer.get(PATH).content.decode()

    row = page.split("kubernetes-server</span>")[1].split("</tr>")[0]
    assert "Not checked" in row
    assert "only the built-in chain kubernetes would use it; Test asks it" in row


def test_the_queue_tells_its_depth_and_who_waits_longest(viewer, configured):
    tell_presence(configured, active=2)
    SessionFactory(running=True)
    SessionFactory(created_at=timezone.now() - timedelta(seconds=95))
    SessionFactory()

    core = viewer.get(PATH).context["core"]

    assert (core.queue.running, core.queue.most, core.queue.queued) == (1, 3, 2)
    assert (timezone.now() - core.queue.oldest_at).total_seconds() >= 95
    assert "A session waits although there is room for it" in todos(viewer)


def test_a_wait_for_a_full_house_is_nothing_to_do(viewer, configured):
    tell_presence(configured)
    tell_servers(configured)
    for _ in range(3):
        SessionFactory(running=True)
    SessionFactory(created_at=timezone.now() - timedelta(seconds=95))

    assert todos(viewer) == []


def test_a_silent_worker_is_shown_until_it_is_forgotten(viewer, configured):
    tell_presence(configured)
    tell_presence(configured, "killed-one", seconds_ago=120)

    page = viewer.get(PATH).content.decode()

    assert "killed-one" in page
    assert "1 process, 0 agents running; 1 silent" in page
    assert "1 worker fell silent within the last ten minutes" in todos(viewer)


def test_an_absent_redis_is_named_and_the_page_stands(viewer, away):
    answer = viewer.get(PATH)

    page = answer.content.decode()
    assert answer.status_code == 200
    assert todos(viewer)[0] == "Redis does not answer"
    assert "REDIS_URL" in page
    assert "a-password" not in page
    assert "Effective configuration" in page


def test_missing_migrations_are_red(viewer, configured, monkeypatch):
    from investigations.selectors.system import parts

    monkeypatch.setattr(parts, "missing_migrations", lambda: 2)

    assert "2 migrations missing" in todos(viewer)
    assert "<code>manage.py migrate</code>" in viewer.get(PATH).content.decode()


# ---- Models -------------------------------------------------------------------------------------


def fail(minutes_ago: int, code: str | None) -> None:
    call = LLMInteractionFactory(
        execution=ExecutionFactory(), provider_name="rehearsal",
        error_message="The provider refused the key.",
        response_metadata={"error_code": code} if code else None,
    )  # fmt: skip
    type(call).objects.filter(pk=call.pk).update(
        created_at=timezone.now() - timedelta(minutes=minutes_ago)
    )


def succeed(minutes_ago: int) -> None:
    call = LLMInteractionFactory(
        execution=ExecutionFactory(), provider_name="rehearsal", estimated_cost_usd=None
    )
    type(call).objects.filter(pk=call.pk).update(
        created_at=timezone.now() - timedelta(minutes=minutes_ago)
    )


def test_a_model_that_fails_is_red_with_its_class_and_what_to_do(viewer, configured):
    succeed(9)
    fail(5, "connection")
    fail(2, "credentials")

    (model,) = models_on(viewer.get(PATH))

    assert (model.state, model.calls.code) == ("failing", "credentials")
    assert (model.calls.count, model.calls.failed, model.calls.unpriced) == (3, 2, 1)
    assert "The model provider rehearsal fails" in todos(viewer)
    assert "valid key" in model.to_do


def test_a_model_that_answers_again_is_well_and_keeps_its_last_error(viewer, configured):
    fail(5, "rate_limit")
    succeed(1)

    (model,) = models_on(viewer.get(PATH))

    assert (model.state, model.calls.code) == ("up", "rate_limit")
    assert "rate_limit" in viewer.get(PATH).content.decode()


def test_what_is_older_than_a_day_says_nothing_of_now(viewer, configured):
    fail(25 * 60, "credentials")

    (model,) = models_on(viewer.get(PATH))

    assert model.state == "unused"


def test_a_key_is_never_shown_only_whether_it_is_there(viewer, reconfigure, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-very-key")
    text = (CONFIG_DIR / "tarsy.yaml").read_text()
    reconfigure(text.replace("llm_provider: rehearsal", "llm_provider: openai-default"))

    with_key = viewer.get(PATH)
    monkeypatch.delenv("OPENAI_API_KEY")
    without_key = viewer.get(PATH)

    assert [model.has_key for model in models_on(with_key)] == [True]
    assert "sk-the-very-key" not in with_key.content.decode()
    (model,) = models_on(without_key)
    assert model.state == "no_key"
    assert "OPENAI_API_KEY" in without_key.content.decode()


# ---- What failed lately -------------------------------------------------------------------------


def test_nothing_is_well_while_the_only_provider_refuses_everything(viewer, configured):
    tell_presence(configured)
    tell_servers(configured)
    assert not warnings.is_in_trouble()
    fail(1, "credentials")

    page = viewer.get(PATH).content.decode()

    assert "All is well" not in page
    assert warnings.is_in_trouble()


def test_a_provider_that_fails_now_and_then_is_unsteady_and_no_trouble_of_now(viewer, configured):
    for minutes in (50, 40, 30):
        fail(minutes, "rate_limit")
    succeed(1)

    (model,) = models_on(viewer.get(PATH))

    assert model.state == "unsteady"
    assert "3 of 4 calls of rehearsal failed within the last hour" in todos(viewer)
    assert not warnings.failing_providers()


def test_failed_sessions_of_the_last_hour_are_told_by_cause_until_acknowledged(viewer, configured):
    tell_presence(configured)
    tell_servers(configured)
    for stage in ("Triage", "Scope"):
        SessionFactory(failed=True, error_message=f'Stage "{stage}" failed: no key (401).')
    long_ago = timezone.now() - timedelta(hours=2)
    SessionFactory(failed=True, error_message="old", completed_at=long_ago)
    SessionFactory(failed=True, error_message="seen", acknowledged_at=timezone.now())

    answer = viewer.get(PATH)

    assert todos(viewer) == ["2 sessions failed within the last hour"]
    assert "no key (401). The list has them" in answer.content.decode()
    (sessions,) = answer.context["hour"].tallies
    assert (sessions.failed, sessions.count) == (3, 3)


def test_tool_calls_that_failed_are_counted_by_server(viewer, configured):
    asked = 'remote.get reported an error.\nYou asked: remote__get {"host": "web-4"}'
    for error in (f"{asked}\nIt answered:\nconnection refused", "", ""):
        MCPInteractionFactory(server_name="remote", error_message=error)

    hour = viewer.get(PATH).context["hour"]

    told = {tally.name: (tally.failed, tally.count, tally.error) for tally in hour.tallies}
    assert told["remote"] == (1, 3, "connection refused")


def test_a_call_that_nobody_let_run_tells_nothing_of_its_server(viewer, configured):
    for verdict in ("denied", "expired"):
        refusal = Refusal("APPROVAL_REQUIRED", "No.", {"verdict": verdict}, rule=None)
        MCPInteractionFactory(server_name="remote", error_message=refusal.to_text())
    undone = report_undone("It was not done.", "it answered 403", retryable=False)
    MCPInteractionFactory(server_name="remote", error_message=undone.to_text())

    page = viewer.get(PATH)

    (remote,) = [each for each in page.context["hour"].tallies if each.name == "remote"]
    assert (remote.failed, remote.count, remote.held) == (1, 3, 2)
    assert (remote.error, remote.is_failing_now) == ("It was not done.", True)
    assert "3<small>2 not let run</small>" in page.content.decode()


def test_without_a_model_the_first_thing_to_do_names_what_to_set(viewer, configured, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    todo = viewer.get(PATH).context["todos"]

    said = [each for each in todo if each.title.startswith("No model is configured")]
    assert "OPENAI_API_KEY" in said[0].text
    assert "scripted answers" in said[0].title


# ---- Configuration ------------------------------------------------------------------------------


def test_the_configuration_is_shown_without_any_secret(viewer):
    page = viewer.get(PATH).content.decode()

    assert "https://tools.example.org/mcp" in page
    assert "TOKEN: (set, not shown)" in page
    assert "X-Key: (set, not shown)" in page
    assert "instructions: (from the environment)" in page
    assert [secret for secret in SECRETS if secret in page] == []
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://u:hun@ter2@h.example/mcp", "https://h.example/mcp"),
        ("https://u:hun/ter2@h.example/mcp", "https://…@h.example/mcp"),
        ("https://u:hun#ter2@h.example/mcp", "https://…@h.example/mcp"),
        ("https://u:hun?ter2@h.example/mcp", "https://…@h.example/mcp"),
        ("https://hun/ter2@h.example/mcp", "https://…@h.example/mcp"),
        ("https://u:/#?@hun@@ter2/@h.example/mcp?k=hunter2", "https://…@h.example/mcp"),
        ("redis://:hun/@ter2@h.example:6379/0", "redis://…@h.example:6379/0"),
        ("x_https://u:hunter2@h.example/", "x_https://h.example/"),
        ("2https://u:hunter2@h.example/", "2https://h.example/"),
        ("https://h.example:8443/mcp?k=hunter2#ter2", "https://h.example:8443/mcp"),
    ],
)
def test_no_part_of_a_password_in_an_address_is_shown(reconfigure, address, shown):
    servers = {"remote": {"transport": {"type": "stdio", "command": "x"}, "instructions": address}}
    reconfigure(
        (CONFIG_DIR / "tarsy.yaml").read_text() + json.dumps({"mcp_servers": servers})[1:-1]
    )

    sections = {section.key: section for section in show_configuration(get_config())}

    (entry,) = [each for each in sections["mcp_servers"].entries if each.name == "remote"]
    assert f"instructions: {shown}" in entry.text.replace("'", "").replace('"', "")
    assert "ter2" not in entry.text


def test_every_section_and_entry_is_there():
    sections = {section.key: section for section in show_configuration(get_config())}

    assert [entry.name for entry in sections["settings"].entries] == ["defaults", "queue", "system"]
    named = {entry.name for entry in sections["mcp_servers"].entries}
    assert named == {"kubernetes-server", "local", "ops", "remote"}
    assert {"single", "parallel"} <= {entry.name for entry in sections["agent_chains"].entries}
    assert "session_timeout: 40m" in sections["settings"].entries[1].text


# ---- Test now -----------------------------------------------------------------------------------


def test_a_trial_is_asked_for_once_and_told_as_under_way(viewer, configured, sent):
    tell_presence(configured)
    tell_servers(configured)

    first = viewer.post(f"{PATH}try/", {"server": "local"})
    second = viewer.post(f"{PATH}try/", {"server": "local"}, headers={"HX-Request": "true"})

    assert first.url == f"{PATH}#servers"
    assert sent == ["local"]
    assert "It is being tried, or was just now." in second.content.decode()
    page = viewer.get(PATH).content.decode()
    assert "Testing since" in page
    assert '<noscript><meta http-equiv="refresh" content="2;url=/system/"></noscript>' in page


def test_what_came_of_a_trial_counts_as_the_newest_look(viewer, configured, sent):
    tell_presence(configured)
    tell_servers(configured, remote="gone")
    viewer.post(f"{PATH}try/", {"server": "remote"})

    ended = time.time() + 1
    asking.end_trial("remote", Trial(ended, ended, latency_ms=7, tool_count=3))

    row = viewer.get(f"{PATH}server/?id=remote&was=unhealthy")
    assert row.headers["HX-Refresh"] == "true"
    assert "3 tools in 7 ms" in row.content.decode()
    assert read_health().servers["remote"].healthy
    assert todos(viewer) == []


def test_a_trial_that_failed_is_told_with_its_reason(viewer, configured, sent):
    tell_presence(configured)
    tell_servers(configured)
    ended = time.time() + 1

    asking.end_trial("local", Trial(ended, ended, error="it <i>ended</i> with 3"))

    assert "it &lt;i&gt;ended&lt;/i&gt; with 3" in viewer.get(PATH).content.decode()
    assert "The tool server local is not available" in todos(viewer)


def test_a_trial_that_takes_as_long_as_it_may_is_the_only_one(configured, monkeypatch):
    ways: list[float] = []
    monkeypatch.setattr(asking, "enqueue_trial", lambda _name, expires_in: ways.append(expires_in))
    tell_presence(configured)

    asking.ask_for_trial("local")

    (waits,) = ways
    longest = waits + tool_trials.DEADLINES.start + tool_trials.DEADLINES.close
    assert configured.ttl(asking._gate_of("local")) >= longest
    assert Trial(time.time() - longest).is_under_way


def test_the_next_trial_may_follow_a_little_after_the_last_one(configured, sent):
    tell_presence(configured)
    asking.ask_for_trial("local")

    asking.end_trial("local", Trial(time.time(), time.time()))

    gate = asking._gate_of("local")
    assert 0 < configured.ttl(gate) <= asking.PAUSE_SECONDS
    configured.delete(gate)
    asking.ask_for_trial("local")
    assert sent == ["local", "local"]


def test_a_trial_that_nobody_took_is_told_as_lost(viewer, configured, sent, monkeypatch):
    tell_presence(configured)
    viewer.post(f"{PATH}try/", {"server": "local"})

    monkeypatch.setattr(Trial, "longest_seconds", 0)

    assert "no worker took it in time" in viewer.get(PATH).content.decode()


def test_what_is_not_known_yet_at_a_start_is_not_called_broken(viewer, configured, monkeypatch):
    monkeypatch.setattr(workers, "STARTING_SECONDS", time.time())

    page = viewer.get(PATH).content.decode()

    assert "none was heard of yet: TARSy has just started" in page
    assert "No worker was heard of lately" not in page
    assert not warnings.is_in_trouble()
    monkeypatch.setattr(workers, "STARTING_SECONDS", 0)
    assert warnings.is_in_trouble()


def test_without_a_worker_nobody_is_asked_and_the_page_says_why(viewer, sent):
    page = viewer.post(f"{PATH}try/", {"server": "local"}, follow=True).content.decode()

    assert "local: No worker was heard of lately" in page
    assert sent == []


def test_a_queue_that_is_away_leaves_no_trial_under_way(viewer, configured, monkeypatch):
    def refuse(*_arguments: object, **_options: object) -> None:
        raise NotSent("away")

    tell_presence(configured)
    monkeypatch.setattr(asking, "enqueue_trial", refuse)

    page = viewer.post(f"{PATH}try/", {"server": "local"}, follow=True).content.decode()

    assert "Redis does not answer" in page
    assert read_trials() == {}
    assert not configured.exists(asking._gate_of("local"))


def test_a_server_that_is_not_configured_cannot_be_tried(viewer, sent):
    assert viewer.post(f"{PATH}try/", {"server": "../x"}).status_code == 404
    assert viewer.get(f"{PATH}server/?id=x").status_code == 404


# ---- The mark in the bar ------------------------------------------------------------------------


def test_the_bar_marks_trouble_once_it_is_known_and_no_page_waits_for_that(viewer, configured):
    seen = trouble.Watch(lambda: True, fresh_seconds=60)

    first = seen.read()
    for thread in [t for t in trouble.threading.enumerate() if t.name == "trouble"]:
        thread.join(10)

    assert (first, seen.read()) == (False, True)


def test_a_question_that_fails_changes_nothing(caplog):
    def fail_to_ask() -> bool:
        raise ValueError("a defect")

    watch = trouble.Watch(fail_to_ask, fresh_seconds=60)
    watch.read()
    for thread in [t for t in trouble.threading.enumerate() if t.name == "trouble"]:
        thread.join(10)

    assert watch.read() is False
    assert "could not be found out" in caplog.text


@pytest.mark.parametrize(("is_wrong", "count"), [(True, 2), (False, 0)])
def test_a_page_shows_the_mark_only_where_something_is_wrong(
    viewer, monkeypatch, is_wrong: bool, count: int
):
    monkeypatch.setattr("investigations.views.context_processors.sees_trouble", lambda: is_wrong)

    assert viewer.get("/").content.decode().count(", something is wrong</span>") == count


def test_strangers_are_not_told_that_something_is_wrong(client, monkeypatch):
    monkeypatch.setattr("investigations.views.context_processors.sees_trouble", lambda: True)

    assert "something is wrong" not in client.get("/login/").content.decode()


@pytest.mark.parametrize(
    "kept", ['{"asked_at": 1e300}', '{"asked_at": 1.0, "new": 1}', "[]", b"\xff"]
)
def test_a_trial_of_another_version_is_no_trial(viewer, configured, kept):
    configured.hset(trials.TRIALS_KEY, "local", kept)

    assert read_trials() == {}
    assert viewer.get(PATH).status_code == 200
