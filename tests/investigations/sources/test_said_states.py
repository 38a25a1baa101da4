"""Ends that are told in no field of their own are ends, and nothing that fires is taken for one."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post
from investigations.sources.said_titles import says_over

GATUS = {
    "[ENDPOINT_NAME]": "website",
    "[ENDPOINT_GROUP]": "core",
    "[ENDPOINT_URL]": "https://shop.example.com/health",
    "[ALERT_DESCRIPTION]": "healthcheck failed",
}
GATUS_FAILS = {
    "[ALERT_TRIGGERED_OR_RESOLVED]": "TRIGGERED",
    "[RESULT_ERRORS]": "connection refused",
    "[RESULT_CONDITIONS]": "✅ - `[CONNECTED] == true`, ❌ - `[STATUS] (502) == 200`",
}
GATUS_ENDS = {
    "[ALERT_TRIGGERED_OR_RESOLVED]": "RESOLVED",
    "[RESULT_ERRORS]": "",
    "[RESULT_CONDITIONS]": "✅ - `[CONNECTED] == true`, ✅ - `[STATUS] == 200`",
}


def read(body: Mapping[str, object]) -> AlertReading:
    return read_post(Post(dict(body))).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


def fill(template: str, *values: Mapping[str, str]) -> AlertReading:
    for each in values:
        for name, value in each.items():
            template = template.replace(name, value)
    return read(json.loads(template))


@pytest.mark.parametrize(
    "template",
    [
        '{"endpoint": "[ENDPOINT_NAME]", "group": "[ENDPOINT_GROUP]", "url": "[ENDPOINT_URL]",'
        ' "status": "[ALERT_TRIGGERED_OR_RESOLVED]", "description": "[ALERT_DESCRIPTION]",'
        ' "errors": "[RESULT_ERRORS]", "conditions": "[RESULT_CONDITIONS]"}',
        '{"endpoint_name": "[ENDPOINT_NAME]", "endpoint_group": "[ENDPOINT_GROUP]",'
        ' "alert_status": "[ALERT_TRIGGERED_OR_RESOLVED]", "result_errors": "[RESULT_ERRORS]"}',
        '{"name": "[ENDPOINT_NAME]", "state": "[ALERT_TRIGGERED_OR_RESOLVED]",'
        ' "conditions": "[RESULT_CONDITIONS]"}',
        '{"text": "[ALERT_TRIGGERED_OR_RESOLVED]: [ENDPOINT_GROUP] - [ENDPOINT_NAME] -'
        ' [ALERT_DESCRIPTION]"}',
    ],
)
def test_the_end_of_a_check_of_gatus_has_the_key_of_its_start(template):
    fires, ends = fill(template, GATUS, GATUS_FAILS), fill(template, GATUS, GATUS_ENDS)
    of_another = fill(template, {"[ENDPOINT_NAME]": "shop"}, GATUS, GATUS_FAILS)

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert fires.key == ends.key
    assert of_another.key != fires.key


def test_the_words_that_gatus_is_given_for_its_states_are_known():
    template = '{"endpoint": "[ENDPOINT_NAME]", "status": "[ALERT_TRIGGERED_OR_RESOLVED]"}'
    fires, ends = (
        fill(template, GATUS, {"[ALERT_TRIGGERED_OR_RESOLVED]": word})
        for word in ("partial_outage", "operational")
    )

    assert (fires.state, ends.state, fires.key) == ("firing", "resolved", ends.key)


def test_the_end_of_the_text_that_gatus_documents_begins_nothing():
    template = (
        '{"text": "[ALERT_TRIGGERED_OR_RESOLVED]: [ENDPOINT_GROUP] - [ENDPOINT_NAME] -'
        ' [ALERT_DESCRIPTION] - [RESULT_ERRORS]"}'
    )
    fires, ends = fill(template, GATUS, GATUS_FAILS), fill(template, GATUS, GATUS_ENDS)

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert not fires.tells_end


def build_of(number: int, status: str, phase: str = "COMPLETED") -> dict[str, object]:
    """As the notification plugin of Jenkins posts it."""
    return {
        "name": "shop",
        "url": "job/shop/",
        "build": {
            "full_url": f"https://ci.example.com/job/shop/{number}/",
            "number": number,
            "queue_id": number + 3,
            "phase": phase,
            "status": status,
            "url": f"job/shop/{number}/",
            "scm": {"branch": "origin/main", "commit": f"c6d86dc654b12425e706bcf951adfe5a{number}"},
            "artifacts": {},
        },
    }


def job_of(kind: str, status: str, run: int = 1) -> dict[str, object]:
    """As dbt posts it."""
    ran = {"jobId": "9", "jobName": "Daily", "runId": str(run), "runStatus": status}
    return {"eventType": kind, "eventId": f"wev_{run}", "data": ran}


def analysis_of(gate: str) -> dict[str, object]:
    """As SonarQube posts it: that it has analysed something succeeds."""
    return {
        "status": "SUCCESS", "analysedAt": "2026-11-30T08:00:00+0000", "project": {"key": "shop"},
        "qualityGate": {"name": "our way", "status": gate},
    }  # fmt: skip


SENSOR = {"entity_id": "binary_sensor.cellar", "attributes": {"device_class": "moisture"}}
LOW = {"entity_id": "binary_sensor.remote", "attributes": {"device_class": "battery"}}
DEPLOYED = {"application": "shop", "sync": "Synced"}


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (build_of(18, "FAILURE"), build_of(19, "SUCCESS", "FINALIZED")),
        (
            {"AppName": "GoAlert", "Type": "Alert", "AlertID": 76, "Summary": "Disk is full"},
            {"AppName": "GoAlert", "Type": "AlertStatus", "AlertID": 76, "LogEntry": "Closed"},
        ),
        (
            {"Type": "Alert", "AlertID": 76, "Summary": "Disk is full"},
            {"Type": "AlertStatus", "AlertID": 76, "LogEntry": "x", "AlertState": "Closed"},
        ),
        (SENSOR | {"state": "on"}, SENSOR | {"state": "off"}),
        (LOW | {"state": "on"}, LOW | {"state": "off"}),
        (DEPLOYED | {"health": "Degraded"}, DEPLOYED | {"health": "Healthy"}),
        ({"title": "[FIRING:1] Disk is full"}, {"title": "[RESOLVED] Disk is full"}),
        (
            {"title": "[Triggered on {host:a}] Disk is full"},
            {"title": "[Recovered on {host:a}] Disk is full"},
        ),
        (job_of("job.run.errored", "Error"), job_of("job.run.completed", "Success", run=2)),
        (
            {"name": "Checkout", "status": {"id": 1, "name": "Open"}},
            {"name": "Checkout", "status": {"id": 5, "name": "Closed"}},
        ),
        ({"type": "Disk", "eventType": "Health"}, {"type": "Disk", "eventType": "HealthRestored"}),
        (analysis_of("ERROR"), analysis_of("OK")),
        (
            {"incident": {"id": "i1", "name": "Payments fail", "status": "investigating"}},
            {"incident": {"id": "i1", "name": "Payments fail", "status": "resolved"}},
        ),
    ],
)
def test_an_end_that_several_fields_tell_ends_what_began(first, last):
    fires, ends = read(first), read(last)

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert fires.key == ends.key


@pytest.mark.parametrize(
    "title",
    [
        "RESOLVED: Disk of db-1 is full",
        "✅ RECOVERED: Disk of db-1 is full",
        "RESOLVED - Disk of db-1 is full",
        "[Resolved] Disk of db-1 is full",
        "Jenkins build is back to normal : shop #12",
        "shop - #12 Back to normal after 2 min 3 sec",
    ],
)
def test_a_title_that_says_first_that_it_is_over_begins_nothing(title):
    assert read({"title": title}).state == "resolved"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "RESOLVED: Disk is full", "status": "firing"},
        {"title": "RESOLVED: Disk is full", "monitor_state": "alerting"},
        {"title": "Resolved: 2, firing: 1"},
        {"title": "Fixed - line network is down"},
        {"title": "[CLOSED] Valve 7", "severity": "critical"},
        {"title": "[Closed] Valve 7"},
        {"title": "Closed: valve 7"},
        {"title": "Name RESOLVED: wrong address"},
        {"title": "Fixed: no. Disk is still full"},
        {"title": "Recovered: error 500 still seen on /pay", "severity": "critical"},
        {"title": "Resolved | unresolved: 3"},
        {"title": "[Recovery] VM replication failed on esx-3", "severity": "critical"},
        {"name": "RECOVERED", "message": "db-1 lost 3 rows"},
        {"title": "Memory of db-1 exhausted since traffic is back to normal"},
        {"title": "Nothing is back to normal"},
        {"title": "Disk is full although latency is back to normal"},
        {"title": "CPU critical on db-1 after latency back to normal"},
        {"title": "Host name is not resolved"},
        {"title": "Latency did not get back to normal"},
        {"title": "Latency is back to normal, but errors are not"},
        {"title": "Alert when traffic is back to normal"},
        {"title": "Back to normal operation failed"},
        {"title": "CPU is back to normal, memory is high"},
        {"title": "Memory is high; CPU is back to normal"},
        {"title": "CPU is back to normal. Disk is full."},
        {"title": "CPU is back to normal and memory is high"},
        {"message": "Disk is full. Latency is back to normal."},
        {"type": "operational", "title": "Disk is full"},
        {"event": "issue.operational", "title": "Disk is full"},
        build_of(18, "UNSTABLE"),
        build_of(18, "SUCCESS") | {"message": "Orders fail since this build"},
        {"alert": "Orders fail", "build": {"phase": "COMPLETED", "status": "SUCCESS"}},
        {
            "alert": {"title": "Orders fail", "severity": "critical"},
            "pipeline": {"phase": "done", "status": "success"},
        },
        build_of(18, "SUCCESS") | {"failures": ["orders fail"]},
        build_of(18, "SUCCESS") | {"pipeline": {"phase": "done", "status": "failed"}},
        {"title": "Queue of orders grows", "value": 120_000, "broker_health": "healthy"},
        {"title": "Disk 97 % full", "host": "db-1", "cluster_health": "healthy"},
        {"title": "Response time of /pay 9 s", "priority": "P1", "health": "healthy"},
        {"titel": "Festplatte voll", "schweregrad": "kritisch", "cluster_health": "healthy"},
        {"application": "shop", "health": "Healthy", "severity": "critical"},
        {"Type": "AlertStatus", "AlertID": 7, "LogEntry": "Closedown of pump 3 failed"},
        SENSOR | {"state": "off", "message": "Valve stuck, cellar under water"},
        {"Type": "AlertStatus", "AlertID": 76, "LogEntry": "Escalated to Ana: closed door"},
        {"type": "log", "log_entry": "Closed by peer"},
        SENSOR | {"state": "on"},
        {"entity_id": "switch.pump", "state": "off"},
        {"state": "off", "device_class": "connectivity", "entity_id": "binary_sensor.gate"},
        {"application": "shop", "health": "Healthy", "sync": "OutOfSync"},
        {"application": "shop", "health": "Healthy", "sync": "Synced", "phase": "Failed"},
        {"application": "shop", "health": "Healthy", "message": "Sync of shop has failed"},
        {"application": "shop", "health": "Healthy", "conditions": [{"type": "SyncError"}]},
        {"application": "shop", "health": "Progressing", "sync": "Synced"},
        job_of("job.run.completed", "Error"),
        job_of("job.run.completed", "Success") | {"status": "failed"},
        {"eventType": "job.run.completed", "data": {"runStatus": "Success", "jobName": "Daily"}},
        {"title": "Valve is stuck", "clear": "manual"},
        {"incident_key": "k", "trigger_time": 1795939200, "alert": {"name": "load"}},
        {"title": "Checkout is slow", "status": {"code": 200, "text": "OK"}},
        {"title": "Checkout is slow", "status": {"code": 200, "name": "OK"}},
        {"title": "Checkout fails", "status": {"name": "Open"}},
        {"title": "Alarm of pump 3", "cleared": "false"},
        {"type": "load_test_alert", "title": "Errors in the load test"},
        {"event": "stress:load_test_event", "title": "Errors in the load test"},
        {"event_definition_type": "aggregation-v1", "event": {"message": "test-dummy-v1 fails"}},
        {"title": "[Recovered on {host:a}]"},
        {"title": "[Failed on {host:a}] Backup"},
        {"title": "Orders fail", "notifications": [{"trigger": "run:completed"}]},
        {
            "run_id": "r",
            "run_url": "u",
            "workspace_id": "w",
            "notifications": [{"trigger": "run:completed", "run_status": "errored"}],
        },
        {"run_id": "r", "run_url": "u", "workspace_id": "w", "notifications": []},
        {"eventType": "build.complete", "resource": {"result": "succeeded"}},
        {"alertId": "7", "notificationId": "n", "reason": "ALERT_OPENED"},
        {"title": "Slow", "reason": "ALERT_RESOLVED"},
        {"alertId": "7", "notificationId": "n", "reason": "ALERT_RESOLVED", "status": "firing"},
        {"title": "Snapshot is gone", "message": "it was restored"},
        {"title": "Batch is late", "alert_severity": "Normal"},
        {"titel": "Festplatte voll auf db-1", "auftrag": {"id": 7, "status": "closed"}},
        {"alertType": "Disk", "deployment": {"id": 1, "state": "success"}},
        {"agent": {"id": 1}, "order": {"id": 7, "status": {"name": "Closed"}}},
        {"level": "ERROR", "order": {"id": 7, "status": "closed"}},
        {"agent": {"id": 1}, "build": {"id": 7, "state": "passed"}},
        {"status": "SUCCESS", "analysis": "shop", "gate": {"status": "ERROR"}},
        {"status": "success", "project": "shop", "checks": [{"state": "failed"}]},
        analysis_of("ERROR"),
        {"deviceSerial": "Q2", "alertType": "APs went down", "alertTypeId": "stopped_reporting"},
        {"alertType": "Backup", "alertTypeId": "started_reporting"},
        {"title": "Batch is late", "old_severity": "OK", "severity": "high"},
        {"title": "Shop fails", "backToNormal": "false"},
        {"title": "Shop fails", "event_data": {"state": "open"}, "state": "firing"},
        {"object_kind": "pipeline", "object_attributes": {"id": 1, "ref": "a", "status": "x"}},
        {"object_kind": "issue", "object_attributes": {"id": 1, "title": "Shop fails"}},
        {"incident": {"id": "1", "name": "Payments fail", "status": {"name": "Live"}}},
    ],
)
def test_what_only_looks_like_such_an_end_fires(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"endpoint": "/pay", "status": "error", "message": "card declined"},
            {"endpoint": "/pay", "status": "error", "message": "no connection"},
        ),
        ({"monitor": "web", "status": "disk_full"}, {"monitor": "web", "status": "cpu_high"}),
        ({"entityId": "sw-1", "alertId": "1"}, {"entityId": "sw-1", "alertId": "2"}),
        ({"monitor": "web", "step": "❌ login"}, {"monitor": "web", "step": "❌ payment"}),
        ({"monitor": "web", "run": {"shard": 3}}, {"monitor": "web", "run": {"shard": 4}}),
        ({"check": "ci", "build": {"phase": "test"}}, {"check": "ci", "build": {"phase": "push"}}),
        (
            {"monitor": "web", "run": {"failed": "login"}},
            {"monitor": "web", "run": {"failed": "payment"}},
        ),
        (
            {"check": "e2e", "run": {"failed": ["login"]}},
            {"check": "e2e", "run": {"failed": ["payment"]}},
        ),
        (
            {"rule": "slow", "execution": {"total": "orders"}},
            {"rule": "slow", "execution": {"total": "refunds"}},
        ),
        (
            {"monitor": "web", "checks": "❌ login", "status": "down"},
            {"monitor": "web", "checks": "❌ payment", "status": "down"},
        ),
    ],
)
def test_two_alerts_that_differ_in_what_stays_never_become_one(first, second):
    assert read(first).key != read(second).key


@pytest.mark.parametrize(
    "body",
    [
        job_of("job.run.started", "Running"),
        {
            "name": "Patches",
            "playbook": "a.yml",
            "inventory": "b",
            "started": "x",
            "finished": None,
            "status": "running",
        },
    ],
)
def test_a_job_that_has_only_begun_begins_nothing(body):
    assert read(body).state == "acknowledged"


def test_a_job_that_has_ended_in_words_that_nobody_knows_fires():
    ended = {
        "name": "c",
        "playbook": "a.yml",
        "inventory": "b",
        "started": "x",
        "status": "pending",
    }

    assert read(ended | {"finished": "2026-11-30T08:00:00Z"}).state == "firing"


@pytest.mark.parametrize("phase", ["QUEUED", "STARTED"])
def test_a_run_that_has_not_ended_says_nothing_of_an_alert(phase):
    started = build_of(20, "")
    started["build"] = {**started["build"], "phase": phase, "status": ""}  # type: ignore[dict-item]

    assert read(started).state == "acknowledged"


WORDS = st.sampled_from(["disk", "of", "db-1", "full", "resolved", "OK", "closed", "firing", "is"])


@given(
    words=st.lists(WORDS, min_size=1, max_size=6),
    word=st.sampled_from(["firing", "triggered", "alerting", "down", "critical", "open"]),
    name=st.sampled_from(["status", "state", "alert_state", "monitorStatus"]),
)
def test_a_state_of_its_own_counts_before_all_that_a_title_says(words, word, name):
    title = " ".join(words)

    for text in (title, f"[RESOLVED] {title}", f"Recovered: {title}"):
        assert read({"title": text, name: word}).state == "firing"


@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_words_that_nothing_sets_off_say_no_end(words):
    assert not says_over(" ".join(["Host", *words]))


@given(first=st.text(max_size=40), second=st.text(max_size=40))
def test_texts_that_differ_beyond_their_state_have_different_keys(first, second):
    keys = {
        read({"text": f"{word}: {text.strip()} x"}).key
        for word in ("TRIGGERED", "RESOLVED")
        for text in (first, second)
    }

    assert len(keys) >= len({" ".join(first.split()), " ".join(second.split())})
