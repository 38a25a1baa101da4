"""Submit and System in a real Chromium; a word on the console fails a test."""

import json
import time

import pytest
from playwright.sync_api import expect
from redis import Redis

from agents.provider_check.report import Finding, ProviderReport
from investigations.models import AlertSession
from investigations.selectors.system import tool_servers, trouble, warnings, workers
from investigations.selectors.system.trials import Trial
from investigations.services import provider_checks as checks
from investigations.services import trials as asking
from tests.factories import SessionFactory
from tests.investigations.conftest import CONFIG_DIR
from tests.investigations.pages.browsing import in_a_browser, in_thread

pytestmark = in_a_browser

HOSTILE = "<img src=x onerror=alert(1)>"
SERVERS = f"""
mcp_servers:
  metrics: {{transport: {{type: http, url: "http://127.0.0.1:1/mcp"}}, trust_annotations: true}}
  cluster:
    transport: {{type: http, url: "http://127.0.0.1:1/mcp"}}
    instructions: "{HOSTILE}"
    trust_annotations: true
  "{HOSTILE}":
    transport: {{type: http, url: "http://127.0.0.1:1/mcp"}}
    trust_annotations: true
"""
NARROW = [{"viewport": {"width": width, "height": 844}} for width in (360, 390, 900)]


@pytest.fixture(autouse=True)
def configured(clean_redis: Redis, reconfigure) -> Redis:
    """Three servers of which one is down, two tools, and a worker that was heard of."""
    warnings._about_configuration.cache_clear()
    trouble._watch.cache_clear()
    text = (CONFIG_DIR / "tarsy.yaml").read_text()
    reconfigure(text.replace("description: First of a pair", f"description: '{HOSTILE}'") + SERVERS)
    now = time.time()
    clean_redis.hset(workers.WORKERS_KEY, HOSTILE, json.dumps({"seen_at": now, "active": 1}))
    servers = [
        {"id": name, "healthy": not error, "since": now - 60, "checked_at": now, "error": error}
        for name, error in {"metrics": "", "cluster": f"401 {HOSTILE}", HOSTILE: ""}.items()
    ]
    report = {"worker_id": "worker-1", "reported_at": now + 30, "servers": servers}
    clean_redis.set(tool_servers.HEALTH_KEY, json.dumps(report))
    tools = [
        {"name": name, "description": HOSTILE, "classes": {"": "read"}, "schema_hash": "ab"}
        for name in ("query", HOSTILE)
    ]
    clean_redis.set(tool_servers.TOOLS_KEY, json.dumps({"metrics": tools}))
    yield clean_redis
    warnings._about_configuration.cache_clear()
    trouble._watch.cache_clear()


def the_session() -> AlertSession:
    return in_thread(AlertSession.objects.get)


def count_sessions() -> int:
    return in_thread(AlertSession.objects.count)


def test_a_text_is_submitted_and_leads_to_its_session(page):
    page.goto("/submit-alert/")
    page.fill("#text", "payments-api answers 502")
    page.locator("#curl").filter(has_text='"data": "payments-api answers 502"').wait_for()
    page.get_by_role("button", name="Start investigation").click()

    page.wait_for_url("**/sessions/**")
    session = the_session()
    assert page.url.endswith(f"/sessions/{session.pk}/")
    assert (session.alert_data, session.author) == ("payments-api answers 502", "anonymous")


def test_rows_are_filled_in_by_keyboard_alone(page):
    page.goto("/submit-alert/")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    for key, value in (("alertname", "Disk"), ("host", "a"), ("path", "/var"), ("free", "3 %")):
        page.keyboard.type(key)
        page.keyboard.press("Enter")
        page.keyboard.type(value)
        page.keyboard.press("Enter")
    assert count_sessions() == 0
    page.keyboard.press("Control+Enter")

    page.wait_for_url("**/sessions/**")
    assert json.loads(the_session().alert_data) == {
        "alertname": "Disk", "host": "a", "path": "/var", "free": "3 %",
    }  # fmt: skip


def test_only_one_tool_server_is_one_tick(page):
    page.goto("/submit-alert/")
    page.fill("#text", "the load is high")
    page.get_by_role("checkbox", name="metrics").check()

    page.locator(".t-plan-head").filter(has_text="tools of metrics").wait_for()
    assert page.locator("[data-servers-chosen]").inner_text() == "only metrics"
    page.get_by_role("button", name="Start investigation").click()
    page.wait_for_url("**/sessions/**")
    assert the_session().mcp_selection == {"servers": [{"name": "metrics"}]}


def test_a_single_tool_brings_its_server_and_leaves_with_it(page):
    page.goto("/submit-alert/")
    server = page.get_by_role("checkbox", name="metrics")
    page.get_by_text("2 tools").click()
    page.get_by_role("checkbox", name="query").check()
    assert server.is_checked()
    expect(page.get_by_text("1 of 2 tools", exact=True)).to_be_visible()
    expect(page.locator("[data-servers-chosen]")).to_have_text("only metrics (1 of 2 tools)")

    server.uncheck()

    assert not page.get_by_role("checkbox", name="query").is_checked()


@pytest.mark.parametrize("page", [NARROW[1]], indirect=True)
def test_on_a_phone_every_tool_of_a_server_is_in_sight_once_they_are_opened(page, configured):
    names = [f"tool_{number}" for number in range(12)]
    tools = [
        {"name": name, "description": "", "classes": {"": "read"}, "schema_hash": "ab"}
        for name in names
    ]
    configured.set(tool_servers.TOOLS_KEY, json.dumps({"metrics": tools}))
    page.goto("/submit-alert/")
    page.locator("#tools > summary").click()
    page.get_by_text("12 tools").click()

    for name in ("tool_0", "tool_11"):
        page.get_by_role("checkbox", name=name, exact=True).check()

    assert page.locator(".t-only > ul").first.evaluate("e => e.scrollHeight <= e.clientHeight")
    expect(page.locator(".t-stages")).to_contain_text("reads metrics (2 of 12 tools)")


def test_the_preview_follows_the_alert_type(page):
    page.goto("/submit-alert/")
    expect(page.get_by_text("Will run 2 stages, 2 agents")).to_be_visible()

    page.get_by_label("Alert type").select_option("strict")

    page.get_by_text("Will run 4 stages, 5 agents").wait_for()
    expect(page.get_by_text("Alpha, Beta side by side, all must succeed")).to_be_visible()


def test_an_error_stands_beside_its_field_and_nothing_is_lost(page):
    page.told_to_expect("the server responded with a status of 422")
    page.goto("/submit-alert/")
    page.fill("#text", f"line one\n{HOSTILE}")
    page.fill("#runbook", "https://evil.example/a.md")
    page.get_by_role("checkbox", name="metrics").check()
    page.get_by_role("button", name="Start investigation").click()

    page.locator("#runbook-error").wait_for()
    assert "evil.example" in page.locator("#runbook-error").inner_text()
    assert page.input_value("#text") == f"line one\n{HOSTILE}"
    assert page.input_value("#runbook") == "https://evil.example/a.md"
    assert page.get_by_role("checkbox", name="metrics").is_checked()
    assert page.evaluate("document.activeElement.id") == "runbook"
    assert count_sessions() == 0


def test_a_dry_run_makes_no_session(page):
    page.goto("/submit-alert/")
    page.fill("#text", "the load is high")
    page.get_by_role("button", name="Dry run").click()

    page.get_by_text("Dry run: this alert would be taken in.").wait_for()
    page.get_by_text("As it would be stored").click()
    assert page.locator(".t-stored code").inner_text() == "the load is high"
    assert page.input_value("#text") == "the load is high"
    assert count_sessions() == 0


def test_a_session_that_ended_is_sent_again_from_its_page(page):
    ended = in_thread(lambda: SessionFactory(failed=True, alert_type="single", alert_data="first"))
    page.goto(f"/sessions/{ended.pk}/")
    page.get_by_role("link", name="Retry").click()
    page.get_by_text("secrets are masked and stay so").wait_for()
    assert page.input_value("#text") == "first"

    page.get_by_role("button", name="Start investigation").click()

    page.wait_for_url(lambda url: "/sessions/" in url and str(ended.pk) not in url)
    assert count_sessions() == 2


def test_an_alert_that_is_too_large_is_not_even_sent(page):
    page.goto("/submit-alert/")
    page.locator("#text").evaluate("field => { field.value = 'x'.repeat(1024 * 1024 + 1); }")
    page.locator("#text").dispatch_event("input")
    expect(page.get_by_text("This is 1.00 MiB.")).to_be_visible()

    page.get_by_role("button", name="Start investigation").click()

    page.get_by_text("The alert is larger than 1 MiB").first.wait_for()
    assert page.url.endswith("/submit-alert/")
    assert count_sessions() == 0


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_rows_are_added_previewed_and_sent(page):
    page.goto("/submit-alert/")
    page.get_by_role("radio", name="Key and value").check()
    assert not page.locator("#text").is_visible()
    for index in range(3):
        page.locator("[name=key]").nth(index).fill(f"key{index}")
    page.get_by_role("button", name="Add a row").click()
    page.locator("[name=key]").nth(3).fill("key3")
    page.get_by_label("Alert type").select_option("parallel")
    page.locator("noscript button, button:text('Show what will run')").last.click()
    expect(page.get_by_text("Will run 3 stages, 4 agents")).to_be_visible()
    assert "key3" in page.locator("#curl").inner_text()

    page.get_by_role("button", name="Start investigation").click()

    assert "/sessions/" in page.url
    session = the_session()
    assert list(json.loads(session.alert_data)) == ["key0", "key1", "key2", "key3"]
    assert session.alert_type == "parallel"


@pytest.mark.parametrize("page", NARROW, indirect=True)
@pytest.mark.parametrize("path", ["/submit-alert/", "/system/"])
def test_nothing_is_wider_than_the_window(page, path):
    page.goto(path)
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true; }")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page", NARROW[1:2], indirect=True)
def test_a_phone_has_a_menu_that_opens_and_closes(page):
    page.goto("/submit-alert/")
    menu = page.locator("#menu")
    assert not menu.is_visible()
    page.get_by_role("button", name="Menu").click()
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()

    menu.get_by_role("link", name="System").click()

    page.wait_for_url("**/system/")


# ---- System -------------------------------------------------------------------------------------


def test_what_is_red_comes_first_and_says_what_to_do(page):
    page.goto("/system/")

    first = page.locator(".t-todo").first
    assert "The tool server cluster is not available" in first.inner_text()
    assert f"401 {HOSTILE}" in first.inner_text()
    expect(first.get_by_role("button", name="Test now")).to_be_visible()
    expect(page.locator("tr", has_text="cluster").get_by_text("Down")).to_be_visible()
    waiting = page.locator(".t-todo").count()
    assert waiting >= 2
    assert page.title().startswith(f"({waiting}) System")


def test_text_from_configuration_and_servers_is_text(page):
    page.goto("/system/")
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true; }")

    shown = page.locator("main").inner_text()
    assert shown.count(HOSTILE) >= 4
    assert page.locator("main img").count() == 0
    page.goto("/submit-alert/")
    page.get_by_text("2 tools").click()
    assert page.get_by_role("checkbox", name=HOSTILE).count() == 2
    assert page.locator("main img").count() == 0


def test_a_server_is_tested_and_the_page_tells_what_came_of_it(page, monkeypatch):
    monkeypatch.setattr(asking, "enqueue_trial", lambda name, expires_in: None)
    page.goto("/system/")
    row = page.locator("tr", has_text="cluster")
    row.get_by_role("button", name="Test cluster now").click()
    row.get_by_text("Testing since").wait_for()

    now = time.time() + 1
    asking.end_trial("cluster", Trial(now, now, latency_ms=12, tool_count=4))

    row.get_by_text("4 tools in 12 ms").wait_for()
    page.get_by_text("3 of 3 up").wait_for()
    assert page.locator(".t-todo", has_text="not available").count() == 0


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_a_test_is_asked_for_and_told_all_the_same(page, monkeypatch):
    monkeypatch.setattr(asking, "enqueue_trial", lambda name, expires_in: None)
    page.goto("/system/")
    page.get_by_role("button", name="Test metrics now").click()
    page.get_by_text("Testing since").first.wait_for()

    now = time.time() + 1
    asking.end_trial("metrics", Trial(now, now, error="it ended with 3"))

    page.get_by_text("it ended with 3").first.wait_for()


def test_a_model_is_checked_and_its_row_tells_how_far_it_is_and_what_came_of_it(page, monkeypatch):
    monkeypatch.setattr(checks, "enqueue_provider_check", lambda name, expires_in: None)
    page.goto("/system/")
    row = page.locator("tbody", has_text="rehearsal")
    row.get_by_role("button", name="Check rehearsal now").click()
    row.get_by_text("0 of 13 done").wait_for()

    report = ProviderReport("rehearsal", "m", (Finding("text", "fails", f"It said {HOSTILE}"),))
    checks.note_progress("rehearsal", report)
    row.get_by_text("1 of 13 done").wait_for()
    checks.end_check("rehearsal", report)

    row.get_by_text("No investigation can run on it: text failed.").click()
    expect(row.get_by_text(f"It said {HOSTILE}")).to_be_visible()
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_a_check_is_asked_for_and_told_all_the_same(page, monkeypatch):
    monkeypatch.setattr(checks, "enqueue_provider_check", lambda name, expires_in: None)
    page.goto("/system/")
    page.get_by_role("button", name="Check rehearsal now").click()
    page.get_by_text("0 of 13 done").wait_for()

    checks.end_check("rehearsal", ProviderReport("rehearsal", "m"))

    page.get_by_text("No investigation can run on it").wait_for()


def test_the_keyboard_leads_to_both_pages(page):
    page.goto("/system/")
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/submit-alert/")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("s")

    page.wait_for_url("**/system/")
