import json
import os
import re
import time
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from django.conf import settings as django_settings
from django.contrib.auth.models import Permission
from django.utils import timezone

from agents.types import INCONCLUSIVE, NOT_CARRIED_OUT, UNVERIFIED
from investigations.models import AlertSession, AuditEvent
from investigations.selectors.system import workers
from investigations.services.login_links import make_login_link_token
from investigations.templatetags.display import stage_title
from tarsy.demo_word import leave_word, take_word_away
from tests.factories import (
    ApprovalRequestFactory,
    AuditEventFactory,
    ExecutionFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def test_strangers_are_sent_to_the_login_and_come_back(client):
    answer = client.get("/?status=failed")

    assert answer.status_code == 302
    assert answer.url == "/login/?next=/%3Fstatus%3Dfailed"


def test_a_script_of_a_stranger_gets_401(client):
    assert client.get("/fragments/active/", headers={"HX-Request": "true"}).status_code == 401


def test_everybody_may_look_on_a_closed_network(client, settings):
    settings.TARSY_AUTH = "none"

    assert client.get("/").status_code == 200


def test_an_empty_list_shows_how_to_send_an_alert_to_this_host(viewer):
    page = viewer.get("/", headers={"host": "localhost"}).content.decode()

    assert "No alert has arrived yet" in page
    assert "curl -X POST http://localhost/api/v1/alerts" in page
    assert "url: http://localhost/api/v1/webhooks/alertmanager" in page


def test_the_settings_for_alertmanager_are_whole_on_the_page_and_in_its_document(viewer):
    page = viewer.get("/", headers={"host": "localhost"}).content.decode()
    shown = re.search('<code id="receiver">(.*?)</code>', page, re.DOTALL)
    document = (django_settings.BASE_DIR / "docs/alert-sources.md").read_text(encoding="utf-8")
    written = re.search(r"```yaml\n(route:.*?)```", document, re.DOTALL)

    assert shown
    assert written
    for text in (shown[1], written[1]):
        whole = yaml.safe_load(unescape(text))
        assert [each["name"] for each in whole["receivers"]] == [whole["route"]["receiver"]]


def test_the_first_page_of_a_demo_says_what_is_coming(viewer, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    (tmp_path / "demo").write_text("pool")

    assert "something in it breaks" in viewer.get("/").content.decode()
    (tmp_path / "demo").write_text("none")
    assert "nothing breaks in it" in viewer.get("/").content.decode()
    SessionFactory(completed=True)
    assert "The demo is about to begin" not in viewer.get("/").content.decode()


def test_a_demo_whose_link_nobody_has_opened_yet_sends_people_to_it_first(
    client, settings, tmp_path
):
    settings.VAR_DIR, settings.TARSY_AUTH = tmp_path, "none"
    admin = UserFactory(is_superuser=True)
    leave_word(tmp_path, "pool", waits=True)

    assert "The demo waits for its link" in client.get("/").content.decode()
    SessionFactory(completed=True, created_at=timezone.now() - timedelta(days=1))
    assert "open it first" in client.get("/fragments/active/").content.decode()
    assert "is about to begin" not in client.get("/").content.decode()
    client.get(f"/login/link/{make_login_link_token(admin)}/")
    assert "The demo is about to begin" in client.get("/").content.decode()


def test_a_demo_that_nobody_opened_in_time_is_about_to_begin_all_the_same(
    viewer, settings, tmp_path
):
    settings.VAR_DIR = tmp_path
    leave_word(tmp_path, "none", waits=True)
    assert "somebody asks whether" in viewer.get("/").content.decode()

    leave_word(tmp_path, "none", waits=False)

    assert "The demo is about to begin" in viewer.get("/").content.decode()
    take_word_away(tmp_path)
    assert "The demo" not in viewer.get("/").content.decode()


def test_a_demo_after_others_says_what_is_coming_until_it_has_come(viewer, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    SessionFactory(completed=True, title="of the demo before")
    (tmp_path / "demo").write_text("pool")

    page = viewer.get("/").content.decode()

    assert "The demo is about to begin" in page
    assert "of the demo before" in page
    assert "what is below is from before" in viewer.get("/fragments/active/").content.decode()
    SessionFactory(running=True)
    assert "The demo is about to begin" not in viewer.get("/fragments/active/").content.decode()
    AlertSession.objects.all().delete()
    long_ago = time.time() - 3600
    os.utime(tmp_path / "demo", (long_ago, long_ago))
    assert "The demo is about to begin" not in viewer.get("/").content.decode()


def test_running_queued_and_ended_sessions_have_their_sections(viewer, running):
    SessionFactory(title="waits first")
    SessionFactory(completed=True, title="is over")

    page = viewer.get("/").content.decode()

    assert "Investigate: writing" in page
    assert "0 of 2<small>stages done" in page
    assert page.index("basket restarts") < page.index("waits first") < page.index("is over")


def test_the_conclusion_is_told_in_one_line(viewer, finished):
    page = viewer.get("/").content.decode()

    assert "The basket service passes its memory limit." in page
    assert "[T1]" not in page


@pytest.mark.parametrize(
    ("metadata", "report", "marks"),
    [
        ({}, "All is well.", []),
        (
            {"withheld_claims": [{}]},
            "## Conclusion\nIt is slow. Confidence: high\n\n## Evidence\n1. So it is [T1].",
            ["1 sentence withheld"],
        ),
        ({"unsupported": [{}]}, "It is full.", ["1 unsupported claim"]),
        (
            {"unsupported": [{}, {}]},
            f"{UNVERIFIED} k8s.apply has run.\n\nIt is full.",
            ["Unverified write", "2 unsupported claims"],
        ),
        (
            {},
            f"{NOT_CARRIED_OUT} k8s.apply: HTTP status 403.\n\nIt is full.",
            ["Write not carried out"],
        ),
    ],
)
def test_a_report_that_cannot_be_relied_on_is_marked_in_words(viewer, metadata, report, marks):
    session = SessionFactory(completed=True, final_analysis=report)
    answer = {"event_type": "final_analysis", "execution__stage__session": session}
    TimelineEventFactory(**answer, content=report, metadata=metadata, sequence_number=7)
    TimelineEventFactory(
        **answer,
        execution__stage__stage_type="chat",
        execution__stage__stage_index=5,
        metadata={"withheld_claims": [{}]},
        sequence_number=9,
    )

    page = viewer.get("/")

    assert [list(row.doubts) for row in page.context["recent"].rows] == [marks]
    html = page.content.decode()
    # What nothing has confirmed, or was not done, is told in place of "Completed".
    told = {"Unverified write": "Unverified write", "Write not carried out": "Not repaired"}
    state = next((told[mark] for mark in marks if mark in told), "Completed")
    assert f"{state}</span>" in html
    # Of a report with a sentence that is withheld, what it says of itself counts for nothing.
    assert "high confidence" not in html
    assert html.count('class="t-mark"') == len([mark for mark in marks if mark not in told])


def test_a_failed_session_tells_its_reason(viewer):
    SessionFactory(failed=True)

    assert "The model provider refused the key (401)." in viewer.get("/").content.decode()


def test_pages_follow_each_other_without_gap_or_repeat(viewer):
    now = timezone.now()
    for n in range(60):
        # Several share one moment: the id decides then.
        at = now - timedelta(minutes=n // 3)
        SessionFactory(completed=True, title=f"session-{n:03}", created_at=at)

    seen, address = [], "/"
    for _ in range(3):
        recent = viewer.get(address).context["recent"]
        seen += [row.session.title for row in recent.rows]
        address = f"/?before={recent.next_cursor}"

    assert len(seen) == 60
    assert len(set(seen)) == 60
    assert recent.next_cursor == ""


def test_a_false_cursor_is_refused(viewer):
    assert viewer.get("/?before=yesterday").status_code == 400


def test_the_status_filter_keeps_only_what_it_names(viewer):
    SessionFactory(completed=True, title="went well")
    SessionFactory(failed=True, title="went badly")

    page = viewer.get("/?status=failed").content.decode()

    assert "went badly" in page
    assert "went well" not in page


def test_a_filter_without_a_match_offers_the_way_back(viewer):
    SessionFactory(completed=True)

    assert "No incident matches this filter" in viewer.get("/?status=timed_out").content.decode()


def test_removed_sessions_are_gone(viewer):
    SessionFactory(completed=True, title="removed", deleted_at=timezone.now())

    assert "removed" not in viewer.get("/").content.decode()


def test_the_number_of_queries_does_not_grow_with_the_rows(viewer, django_assert_max_num_queries):
    for _ in range(3):
        SessionFactory(running=True)
    for _ in range(30):
        SessionFactory(completed=True)

    with django_assert_max_num_queries(23):
        viewer.get("/")


@pytest.mark.parametrize(
    ("agents", "words"), [(1, "1 of 2<small>stages"), (2, "0 of 2<small>agents")]
)
def test_a_running_row_counts_stages_where_an_agent_works_alone(viewer, agents, words):
    session = SessionFactory(running=True, total_stages=2, current_stage_index=2)
    StageFactory(session=session, stage_index=1, completed=True)
    stage = StageFactory(session=session, stage_index=2, active=True)
    for number in range(1, agents + 1):
        ExecutionFactory(stage=stage, agent_index=number, active=True)
    AlertSession.objects.filter(pk=session.pk).update(current_stage_id=stage.pk)

    assert f"{words} done" in viewer.get(f"/sessions/{session.pk}/row/").content.decode()


def test_the_row_of_a_session_that_ended_says_so(viewer):
    session = SessionFactory(completed=True)

    assert "Completed" in viewer.get(f"/sessions/{session.pk}/row/").content.decode()


def test_admins_find_the_admin_and_others_do_not(client, viewer):
    assert 'href="/admin/"' not in viewer.get("/").content.decode()
    client.force_login(UserFactory(admin=True))
    assert 'href="/admin/"' in client.get("/").content.decode()


# ---- What waits for somebody --------------------------------------------------------------------


@pytest.fixture
def approver(client):
    user = UserFactory()
    user.user_permissions.add(Permission.objects.get(codename="decide_approval"))
    client.force_login(user)
    return client


def test_an_approval_stands_first_whatever_the_filter_and_leads_to_its_decision(approver):
    approval = ApprovalRequestFactory(target="service:web-1:nginx.service")

    page = approver.get("/?status=timed_out").content.decode()

    assert "<title>! 1 approval - TARSy</title>" in page
    assert f"/sessions/{approval.session_id}/#approval-{approval.pk}" in page
    assert page.index("Needs you") < page.index("Running")
    assert "Review and decide" in page


def test_who_may_not_decide_is_told_that_somebody_has_to(viewer):
    ApprovalRequestFactory()

    page = viewer.get("/").content.decode()

    assert "Needs an approver" in page
    assert "Review and decide" not in page


def test_what_waits_for_a_person_runs_above_what_runs_longer(viewer, running):
    ApprovalRequestFactory(execution__stage__session__title="waits for a person")

    page = viewer.get("/").content.decode()
    rows = page[page.index("running-h") :]

    assert rows.index("waits for a person") < rows.index("basket restarts")


def test_failures_of_the_last_day_ask_for_a_look_and_older_ones_do_not(viewer):
    now = timezone.now()
    for hours in (1, 2, 3, 4, 30):
        SessionFactory(
            failed=True,
            title=f"{hours} h",
            completed_at=now - timedelta(hours=hours),
            error_message=f"{'abcde'[hours % 5]} is away",
        )

    needs = viewer.get("/").context["needs"]

    assert [group.newest.session.title for group in needs.failures] == ["1 h", "2 h", "3 h"]
    assert needs.failures_count == 4


def test_failures_of_one_cause_are_one_thing_to_look_at(viewer):
    now = timezone.now()
    for n, said in enumerate(
        [
            'Stage "Triage" failed: gpt-5 of x needs a key (it answered 401, request 3fa85f64)',
            'Stage "Scope" failed: gpt-5 of x needs a key (it answered 401, request 9bc1e2d0)',
            'Stage "Triage" failed: the model said nothing',
        ]
    ):
        SessionFactory(failed=True, error_message=said, completed_at=now - timedelta(minutes=n))

    answer = viewer.get("/")

    alike, alone = answer.context["needs"].failures
    assert (len(alike.rows), len(alone.rows)) == (2, 1)
    assert alike.cause.startswith("gpt-5 of x needs a key")
    assert "2 sessions failed alike" in answer.content.decode()


def test_an_acknowledged_failure_waits_for_nobody_and_stays_in_the_list(client):
    user = UserFactory(username="ana")
    user.user_permissions.add(Permission.objects.get(codename="operate_session"))
    client.force_login(user)
    gone = SessionFactory(failed=True, title="seen")
    kept = SessionFactory(timed_out=True, title="not seen")
    running = SessionFactory(running=True)

    answer = client.post("/sessions/acknowledge/", {"session": [gone.pk, running.pk]})

    assert answer.url == "/"
    gone.refresh_from_db()
    running.refresh_from_db()
    assert (gone.acknowledged_by, running.acknowledged_at) == ("ana", None)
    assert AuditEvent.objects.get().action == "session.acknowledge"
    page = client.get("/")
    groups = page.context["needs"].failures
    assert [row.session for group in groups for row in group.rows] == [kept]
    assert "seen" in titles(page)


def test_nobody_is_needed_where_nothing_waits_or_failed(viewer):
    SessionFactory(completed=True)

    assert "needs-h" not in viewer.get("/").content.decode()


# ---- Filters ------------------------------------------------------------------------------------


def titles(answer):
    return {row.session.title for row in answer.context["recent"].rows}


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("status=failed&status=timed_out", {"b", "c"}),
        ("status=pending", {"q"}),
        ("alert_type=disk", {"a"}),
        ("chain_id=hosts", {"b"}),
        ("author=grafana", {"c"}),
        ("time=24h", {"a", "b"}),
        ("time=range&start_date=2020-01-01T00:00&end_date=2020-01-03T00:00", {"c"}),
        ("search=SWAPPED", {"a"}),
        ("search=rebooting", {"b"}),
        ("search=swapped&status=failed", set()),
        ("status=nonsense", {"a", "b", "c", "i"}),
        ("status=completed", {"a"}),
        ("status=inconclusive", {"i"}),
        ("status=completed&status=inconclusive", {"a", "i"}),
        ("status=inconclusive&status=failed", {"b", "i"}),
        ("severity=critical&severity=high", {"a"}),
        ("severity=purple", {"a", "b", "c", "i"}),
        ("service=payments-api", {"a"}),
        ("cluster=prod-eu-1", {"b"}),
        ("source=grafana", {"i"}),
        ("time=range&start_date=yesterday", {"a", "b", "c", "i"}),
    ],
)
def test_each_filter_keeps_what_it_names(viewer, query, kept):
    SessionFactory(
        completed=True, title="a", alert_type="disk", alert_data="host swapped out",
        severity="critical", service="payments-api",
    )  # fmt: skip
    open_one = {"final_analysis": f"{INCONCLUSIVE} no tool call succeeded.\n\nIt is unknown."}
    year_ago = timezone.now() - timedelta(days=365)
    SessionFactory(completed=True, title="i", source="grafana", created_at=year_ago, **open_one)
    hosts = {"chain_id": "hosts", "cluster": "prod-eu-1"}
    TimelineEventFactory(
        execution__stage__session=SessionFactory(failed=True, title="b", **hosts),
        content="the host was rebooted",
    )
    old = timezone.now().replace(year=2020, month=1, day=2)
    SessionFactory(timed_out=True, title="c", author="grafana", created_at=old)
    SessionFactory(title="q")

    assert titles(viewer.get(f"/?{query}")) == kept


def test_mine_are_those_of_whoever_looks(client):
    user = UserFactory(username="ana")
    client.force_login(user)
    SessionFactory(completed=True, title="hers", author="ana")
    SessionFactory(completed=True, title="his", author="ben")

    assert titles(client.get("/?mine=1")) == {"hers"}
    assert titles(client.get("/?mine=1&author=ben")) == set()


def test_each_filter_that_is_on_has_a_chip_that_takes_it_off(viewer):
    SessionFactory(failed=True, title="here")

    answer = viewer.get("/?status=failed&status=timed_out&search=crash&time=7d")
    page = answer.content.decode()

    chips = {chip.words: chip.href for chip in answer.context["chips"]}
    assert chips == {
        "Failed": "/?status=timed_out&search=crash&time=7d",
        "Timed out": "/?status=failed&search=crash&time=7d",
        "Last 7 days": "/?status=failed&status=timed_out&search=crash",
        '"crash"': "/?status=failed&status=timed_out&time=7d",
    }
    assert "Clear (4)" in page


def test_where_nothing_is_left_the_filter_that_hides_most_is_named(viewer):
    long_ago = timezone.now() - timedelta(days=90)
    SessionFactory.create_batch(3, failed=True, created_at=long_ago)
    SessionFactory(completed=True)

    page = viewer.get("/?status=failed&time=24h").content.decode()

    assert "No incident matches these filters" in page
    assert "Without Last 24 h there are 3." in page
    assert 'href="/?status=failed"' in page


def test_two_letters_are_no_search_yet(viewer):
    SessionFactory(completed=True, title="here")

    answer = viewer.get("/?search=ab")

    assert titles(answer) == {"here"}
    assert "Type at least 3 characters" in answer.content.decode()


def test_older_pages_keep_the_filter(viewer):
    SessionFactory.create_batch(30, failed=True)
    SessionFactory.create_batch(3, completed=True)

    first = viewer.get("/?status=failed")
    cursor = first.context["recent"].next_cursor
    second = viewer.get(f"/?before={cursor}&status=failed")

    assert f"/?before={cursor}&amp;status=failed" in first.content.decode()
    assert len(second.context["recent"].rows) == 5


def test_counts_end_where_nobody_needs_them(viewer, monkeypatch):
    monkeypatch.setattr("investigations.selectors.sessions.COUNT_LIMIT", 3)
    monkeypatch.setattr("investigations.selectors.session_list.rows.COUNT_LIMIT", 3)
    SessionFactory.create_batch(5, completed=True)

    assert "3+ incidents" in viewer.get("/").content.decode()


def test_a_piece_of_the_list_tells_the_browser_its_address(viewer):
    SessionFactory(failed=True)
    address = "http://testserver/?status=failed"

    fresh = viewer.get("/fragments/recent/?status=failed&search=&time=")
    same = viewer.get("/fragments/recent/?status=failed", headers={"HX-Current-URL": address})

    assert fresh["HX-Push-Url"] == "/?status=failed"
    assert "HX-Push-Url" not in same


def test_new_rows_are_those_of_this_view(viewer):
    shown_at = timezone.now() - timedelta(minutes=1)
    SessionFactory(completed=True, created_at=shown_at - timedelta(hours=1))
    SessionFactory(failed=True)
    SessionFactory(completed=True, completed_at=shown_at - timedelta(minutes=5),
                   created_at=shown_at - timedelta(minutes=9))  # fmt: skip

    def told(query):
        asked = {"since": shown_at.isoformat(), **query}
        return viewer.get("/fragments/new/", asked).content.decode()

    assert "2 new incidents. Show them" in told({})
    assert "1 new incident. Show it" in told({"status": "failed"})
    assert told({"status": "timed_out"}).strip() == ""
    assert viewer.get("/fragments/new/?since=now").status_code == 400


def test_a_cancelled_session_says_who_cancelled_it(viewer):
    session = SessionFactory(cancelled=True, error_message="")
    AuditEventFactory(target_id=str(session.pk), actor="carl")

    assert "Cancelled by carl." in viewer.get("/").content.decode()


def test_the_list_says_when_no_worker_is_there_and_what_then_waits(viewer, running, clean_redis):
    page = viewer.get("/").content.decode()
    assert "No worker answers" in page
    assert "what runs goes on when a worker is there" in page

    presence = json.dumps({"seen_at": time.time(), "active": 0})
    clean_redis.hset(workers.WORKERS_KEY, "worker-1", presence)

    assert "No worker answers" not in viewer.get("/fragments/active/").content.decode()


def test_a_product_without_tools_or_keys_says_so(viewer, reconfigure, monkeypatch):
    monkeypatch.setattr("investigations.views.lists.has_usable_model", lambda: False)
    monkeypatch.setattr("investigations.views.lists.servers_in_use", lambda config: ())

    page = viewer.get("/").content.decode()

    assert "No model has a key." in page
    assert "No tool server is configured." in page


@pytest.mark.parametrize(
    "cursor",
    ["2026-01-01T00:00:00Z\n_{}", "2026-01-01\r00:00:00+00:00_{}", "2026-01-01&00:00:00Z_{}",
     "2026-01-01T00:00:00Z_{}", "2026-01-01\u0661" + "00:00:00Z_{}"],
)  # fmt: skip
def test_however_a_place_is_spelled_the_address_of_the_view_leads_there(viewer, cursor):
    before = cursor.format("00000000-0000-4000-8000-000000000000")

    address = viewer.get("/fragments/recent/", {"before": before}).headers["HX-Push-Url"]

    assert address.isascii()
    assert parse_qs(urlsplit(address).query) == {"before": [before]}


# ---- What the alert says, and how sure the report is --------------------------------------------


def test_a_row_has_the_tags_of_its_alert_and_how_sure_its_report_is(viewer):
    report = "## Conclusion\nThe pod leaks. Confidence: high\n\n## Evidence\n1. It grew [T1].\n"
    SessionFactory(
        completed=True, title="leak", severity="critical", service="payments-api",
        cluster="prod-eu-1", source="alertmanager", author="api-client", final_analysis=report,
    )  # fmt: skip

    page = viewer.get("/").content.decode()

    assert '<span class="t-tag t-tag--bad">critical</span>' in page
    assert '<span class="t-tag">payments-api</span> <span class="t-tag">prod-eu-1</span>' in page
    assert "high confidence" in page
    assert "Alertmanager</td>" in page


def test_a_report_that_rests_on_nothing_is_an_outcome_of_its_own(viewer):
    report = f"{INCONCLUSIVE} no call succeeded.\n\n## Conclusion\nA leak. Confidence: high\n"
    session = SessionFactory(completed=True, final_analysis=report)

    listed = viewer.get("/").content.decode()
    head = viewer.get(f"/sessions/{session.pk}/").content.decode()

    assert "Inconclusive</span>" in listed
    assert "high confidence" not in listed
    assert "Inconclusive</span>" in head


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("triage - Synthesis", "Triage: synthesis"),
        ("initial-analysis", "Initial analysis"),
        ("scope", "Scope"),
        ("Investigate", "Investigate"),
        ("k8s-check", "k8s check"),
        ("look at payments-api", "Look at payments-api"),
        ("Executive Summary", "Executive summary"),
        ("", ""),
    ],
)
def test_the_name_of_a_stage_becomes_a_title(name, title):
    assert stage_title(name) == title


def test_a_sender_of_no_known_form_is_called_unknown_and_kept_by_its_technical_name(viewer):
    SessionFactory(completed=True, title="i", source="generic")

    page = viewer.get("/?source=generic").content.decode()

    assert re.search(r'<option value="generic"[^>]*>\s*[^<]*unknown sender\s*<', page)
    assert "any other" not in page
