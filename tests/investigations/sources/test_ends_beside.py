"""Words for an end that are not of the alert end nothing: what fires is never taken for over."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post


def read(body: Mapping[str, object]) -> AlertReading:
    return read_post(Post(dict(body))).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


ABROAD = {"title": "Login from abroad", "severity": "high"}
SLOW = {"title": "API answers with 5xx"}
POOR = {"title": "API answers with 5xx", "severity": "critical"}


@pytest.mark.parametrize(
    "body",
    [
        POOR | {"database_severity": "ok"},
        POOR | {"clear_severity": "cleared"},
        POOR | {"recovery_severity": "resolved"},
        POOR | {"alert_severity": "ok"},
        POOR | {"level": "ok"},
        SLOW | {"priority": "P1", "recovery_severity": "resolved"},
        SLOW | {"min_severity": "ok"},
        {"title": "Cluster is down", "node1_severity": "ok", "node2_severity": "critical"},
        {"title": "Cluster is down", "severity": "ok", "node_severity": "critical"},
        {"title": "Cluster is down", "severity": "ok", "node_severity": "schwerwiegend"},
        {"title": "Cluster is down", "severity": 1, "severity_name": "ok"},
        {"title": "Cluster is down", "level": "ok", "labels": {"severity": "critical"}},
        {"title": "Cluster is down", "level": "ok", "alert": {"severity": "high"}},
    ],
)
def test_a_severity_of_something_beside_the_alert_does_not_end_it(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        SLOW | {"severity": "ok"},
        SLOW | {"alert_severity": "cleared"},
        SLOW | {"severity": "5", "string_severity": "Clear"},
        SLOW | {"severity": "ok", "priority": "P1"},
        SLOW | {"severity": "ok", "previous_severity": "critical"},
        SLOW | {"severity": "ok", "prev_severity": "critical", "original_severity": "high"},
    ],
)
def test_a_severity_of_the_alert_that_weighs_nothing_ends_it(body):
    assert read(body).state == "resolved"


@pytest.mark.parametrize(
    "name",
    [
        "check", "check_info", "monitor", "monitor_details", "result", "result_data", "record",
        "record_info", "detail", "details", "data", "payload", "event", "event_data",
        "event_object", "notification", "webhook_event_data", "host", "job",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "told",
    [
        {"status": "ok", "name": "db"},
        {"status": "up", "id": 4},
        {"status": "success", "action": "login"},
        {"status": {"name": "Closed"}, "id": "4"},
        {"resolved": True},
        {"severity": "ok"},
        {"current": {"status": "up"}},
        {"event": "incident.resolved"},
    ],
)
def test_an_object_beside_a_title_or_a_severity_does_not_end_what_fires(name, told):
    for alert in (SLOW, ABROAD, {"severity": "critical"}):
        assert read(alert | {name: told}).state == "firing"


def test_the_number_of_a_thing_beside_the_alert_is_not_its_key():
    for name in ("record_info", "monitor_details", "event_object"):
        first = read(SLOW | {name: {"id": 4, "status": "open"}})
        second = read({"title": "Disk is full", name: {"id": 4, "status": "open"}})

        assert first.key != second.key


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"status": "resolved", "name": "API"}},
        {"webhook_event_data": {"check_state_name": "Available", "check_id": 7}},
        {"title": "API", "alert": {"status": "resolved"}},
        {"title": "API", "incident": {"state": "closed"}, "severity": "critical"},
    ],
)
def test_what_a_document_is_about_ends_it(body):
    assert read(body).state == "resolved"


@pytest.mark.parametrize(
    "body",
    [
        {"event": "snapshot_restored", "severity": "critical"},
        {"type": "quarantine.restored", "severity": "high"},
        {"event": "file_restored", "message": "mailbox restored from abroad"},
        {"title": "Backup restored over prod", "event": "DatabaseRestored"},
        {"event": "audit_log_cleared", "severity": "critical"},
        {"event": "login.succeeded", "severity": "high"},
        {"event": "FirewallClosed", "severity": "high"},
        {"type": "login.success", "severity": "high", "title": "Login from abroad"},
        {"type": "test_event", "title": "CPU high", "severity": "critical"},
        {"event": "queue.test_message", "title": "Queue is stuck", "severity": "critical"},
        ABROAD | {"status": "success"},
        ABROAD | {"outcome": "success", "event": "success"},
        POOR | {"host_status": "up"},
        POOR | {"service_state": "ok"},
        {"host": "a", "host_state": "UP", "service": "disk", "service_state": "CRITICAL"},
    ],
)
def test_a_kind_or_a_place_that_is_well_does_not_end_what_weighs_something(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "Link to branch", "status": "restored"},
        {"eventType": "HealthRestored", "level": "error", "message": "Indexers fail"},
        {"event": "incident.resolved", "severity": "critical", "title": "API"},
        {"event": "disk.recovered", "severity": "critical", "title": "API"},
        {"event": "monitor_up", "title": "API"},
        {"host": "a", "host_state": "UP", "service": "disk", "service_state": "OK"},
        {"status": "resolved", "severity": "critical", "title": "API"},
        {"status": "Done", "priority": "High", "title": "API"},
    ],
)
def test_a_state_and_a_kind_of_the_alert_end_it_whatever_it_weighs(body):
    assert read(body).state == "resolved"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "Port 443 closed on web-1", "open": "false"},
        {"title": "Port 443 closed on web-1", "open": False},
        {"alarm": "Door is stuck", "isOpen": "False"},
        {"message": "Circuit breaker fails to open", "closed": "true", "severity": "critical"},
        {"message": "Audit log was cleared", "cleared": True, "severity": "critical"},
        {"message": "Audit log was cleared", "cleared": True},
        {"title": "CVE-2026-2 in shop", "fixed": True, "alert_id": 7, "severity": "critical"},
        {"title": "Web is down", "alerting": "false"},
        {"title": "Web is down", "alerting": False, "incident_id": 3, "priority": "P1"},
        {"title": "Fuse", "triggered": "False", "level": "critical"},
        {"title": "Fuse", "resolved": "false"},
    ],
)
def test_a_flag_that_may_be_of_a_thing_does_not_end_what_fires(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        POOR | {"resolved": True},
        POOR | {"is_recovered": "true"},
        POOR | {"backToNormal": "true"},
        POOR | {"firing": False},
        SLOW | {"alert_id": 7, "is_open": False},
        {"incident": {"title": "API", "closed": True}},
        {"alarm_id": "a-7", "cleared": "true", "severity": "major"},
    ],
)
def test_a_flag_of_the_alert_ends_it(body):
    assert read(body).state == "resolved"


@pytest.mark.parametrize(
    "told",
    [
        {"state": "Succeeded", "name": "nightly-job"},
        {"label": "Degraded", "value": "up"},
        {"name": "normal", "label": "Alerting"},
        {"name": "database", "state": "up"},
        {"name": "To investigate", "category": "done"},
        {"name": "OK", "value": "2"},
    ],
)
def test_an_object_called_state_ends_the_alert_only_where_all_of_it_says_so(told):
    assert read(SLOW | {"status": told}).state == "firing"
    assert read(POOR | {"state": told}).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        ABROAD | {"action": "closed"},
        POOR | {"action": "close"},
        POOR | {"event": "cleared"},
        POOR | {"transition": "closed"},
        POOR | {"uptime_state": "up"},
        SLOW | {"uptime_state": "up"},
        SLOW | {"host": "web-1", "host_state": "UP"},
        {"message": "Backup failed", "notification_status": "ok"},
        {"text": "Backup failed", "message_state": "done"},
        {"job": "deploy", "result": "FAILURE", "ticket": {"id": 9, "status": "closed"}},
        {"app": "shop", "health": "Degraded", "meta": {"id": 3, "state": "done"}},
        POOR | {"heartbeat_status": "ok"},
        POOR | {"message_status": "ok"},
        POOR | {"notification_state": "done"},
        POOR | {"state_change": "up"},
        POOR | {"state": "done"},
        ABROAD | {"status": "canceled"},
        {"title": "Malware on pc-7", "state": "ended", "level": "critical"},
        {"event": "alert.triggered", "alert": {"id": 1, "title": "Orders fail"}, "status": "ok"},
        {"event": "incident_opened", "incident": {"title": "Orders fail"}, "state": "up"},
    ],
)
def test_what_was_done_to_a_thing_and_how_it_was_told_end_nothing_that_weighs_something(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        {"status": "OK", "checks": [{"name": "db", "status": "failing"}]},
        {"status": "ok", "checks": {"db": {"status": "down"}, "disk": {"status": "ok"}}},
        {"status": "UP", "components": {"db": {"status": "DOWN"}}},
        {"status": "healthy", "host": "a", "services": [{"name": "b", "health": "unhealthy"}]},
        {"status": "ok", "host": "a", "result": {"state": "critical"}},
        {"status": "online", "check_results": [{"name": "db", "result_status": "failed"}]},
        {"status": "up", "results": [{"at": "eu", "status": "up"}, {"at": "us", "status": "down"}]},
        {"status": "up", "results": [{"at": "eu", "status": "down"}, {"at": "us", "status": "up"}]},
        {"status": "ok", "monitor": "web", "retries": [{"status": "ok"}, {"status": "failed"}]},
        {"event": "alert.triggered", "status": "ok", "check": {"status": "down"}},
    ],
)
def test_what_is_well_although_a_part_of_it_fails_fires(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        POOR | {"action": "closed", "alert_id": 7},
        POOR | {"action": "close", "alias": "orders"},
        {"action": "closed", "issue": {"title": "API"}, "severity": "critical"},
        SLOW | {"action": "closed", "priority": "P1"},
        {"title": "API is up", "uptime_state": "up"},
        {"title": "web-1 has recovered", "host_state": "UP"},
        {"title": "web-1: HTTP", "service_state": "OK"},
        {"monitor": "API", "uptime_state": "up"},
        SLOW | {"state_change": "up"},
        POOR | {"status": "canceled", "alert_id": 7},
        SLOW | {"state": "done", "priority": "High"},
        {"status": "OK", "checks": [{"name": "db", "status": "ok"}]},
        {"status": "up", "history": [{"status": "down"}, {"status": "up"}]},
        {"status": "up", "last_check": {"status": "failed"}, "monitor": "web"},
        {"status": "ok", "from": {"state": "critical"}, "check": "web"},
        {"status": "resolved", "components": [{"name": "db", "status": "down"}]},
        {"event": "alert.triggered", "alert": {"id": 1, "title": "API"}, "status": "resolved"},
        {"event": "monitor.up", "monitor": {"name": "web"}, "downtime": {"status": "down"}},
        {"status": "ok", "monitor": "web", "retries": [{"status": "failed"}, {"status": "ok"}]},
    ],
)
def test_an_alert_with_its_own_end_is_over(body):
    assert read(body).state == "resolved"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("resolved_true_positive", "resolved"),
        ("CLEARED_ACK", "resolved"),
        ("auto_closed_by_policy", "resolved"),
        ("✅ Up", "resolved"),
        ("🔴 Down", "firing"),
        ("Down (Acknowledged)", "acknowledged"),
        ("Down (Partial)", "firing"),
        ("Up (Partial)", "firing"),
        ("OK (Hard)", "resolved"),
        ("Resolved (Auto)", "resolved"),
        ("OK (was CRITICAL)", "resolved"),
        ("CRITICAL (Hard)", "firing"),
        ("CRITICAL (was OK)", "firing"),
        ("Resolved (Reopened)", "firing"),
        ("closed_by_peer", "firing"),
        ("closed_unexpectedly", "firing"),
        ("cleared_by_attacker", "firing"),
        ("auto_closed_but_firing", "firing"),
        ("closed_pending", "firing"),
        ("resolved_then_reopened", "firing"),
        ("closed_with_errors", "firing"),
        ("resolved_partially", "firing"),
        ("not_resolved", "firing"),
        ("CRITICAL -> OK", "resolved"),
        ("OK → DOWN", "firing"),
        ("OK => WARNING", "firing"),
        ("pending -> unknown", "firing"),
    ],
)
def test_a_state_is_told_with_signs_and_with_how_it_came_to_it(status, state):
    for alert in (SLOW, POOR):
        assert read(alert | {"status": status}).state == state


@pytest.mark.parametrize("until", ["2020-01-01T00:00:00Z", "", "soon", None])
def test_who_had_an_alert_until_a_moment_that_is_past_has_it_no_more(until):
    alert = {"eventTypeName": "OUTSIDE", "status": "OPEN", "acknowledgingUsername": "ana", "id": 1}

    assert read(alert | {"acknowledgedUntil": until}).state == "firing"
    assert read(alert | {"acknowledgedUntil": "2126-01-01T00:00:00Z"}).state == "acknowledged"


ENDS = st.sampled_from(["ok", "up", "closed", "cleared", "success", "normal", True, False])


@given(
    name=st.sampled_from(
        ["database", "backup", "order", "node1", "recovery", "upstream", "mirror"]
    ),
    ending=st.sampled_from(["status", "state", "severity", "health", "closed", "open", "cleared"]),
    word=ENDS,
    severity=st.sampled_from(["critical", "high", "P1", "warning", "3", "schwer"]),
)
def test_nothing_that_is_told_of_a_thing_ends_an_alert_that_weighs_something(
    name, ending, word, severity
):
    alert = {"title": "Orders fail", "severity": severity}

    assert read(alert | {f"{name}_{ending}": word}).state == "firing"
    assert read(alert | {name: {ending: word, "id": 7}}).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        {"alert": "Disk is full", "state": "OK", "current_state": "CRITICAL"},
        {"alert": "Disk is full", "status": "ok", "state": "alerting"},
        {"title": "API", "issue_status": "closed", "alert_status": "open"},
        {"title": "API", "incident": {"name": "API", "status": "open"}, "resolved": True},
        {"status": "resolved", "alerts": [{"status": "firing"}, {"status": "resolved"}]},
        {"title": "Cluster", "severity": "ok", "nodes": [{"severity": "critical"}]},
        {"title": "Cluster", "level": "normal", "children": [{"level": "critical"}]},
        {"event": {"status": "success"}, "rule": {"name": "Login from abroad", "level": 12}},
        {"alert": {"title": "API", "severity": "critical"}, "event": {"status": "success"}},
        {"data": {"title": "API", "severity": "critical", "result": {"status": "success"}}},
        {"data": {"title": "API", "severity": "critical", "database_severity": "ok"}},
        {"data": {"title": "Port 443 is closed", "open": False}},
        {"payload": {"summary": "Login from abroad", "severity": "high", "status": "success"}},
        {"summary": "TLS fails", "level": "error", "event": "connection_closed"},
        {"type": "security.session_closed", "title": "Root session", "severity": "high"},
        {"text": "RESOLVED: 1 alert\nFIRING: cpu of db-1"},
        {"title": "RESOLVED: digest", "fields": [{"name": "cpu", "value": "Firing:"}]},
        {"title": "Database", "monitor": {"state": "OK", "name": "db"}, "urgency": "high"},
        {"title": "Database", "server_state": "online", "severity": 2},
        {"title": "Database", "status": {"value": "ok", "label": "CRITICAL"}},
        {"title": "Vault", "is_closed": True},
        {"title": "Vault", "ticket": {"id": 1, "status": {"name": "Closed"}}, "priority": "P1"},
    ],
)
def test_an_end_beside_what_is_open_ends_nothing(body):
    assert read(body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "API", "state": "OK", "priority": "P1"},
        {"title": "API", "status": "acknowledged", "state": "OK"},
        {"title": "API", "status": "up", "monitor": {"status": "active", "name": "API"}},
        {"title": "API", "status": "resolved", "alerts": [{"status": "resolved"}]},
        {"event": "monitor.up", "title": "API", "severity": "critical"},
        {"event": "alert.closed", "title": "API", "severity": "critical"},
        {"action": "close", "alert": {"id": 7, "message": "API", "priority": "P1"}},
        {"host": "a", "service_state": "OK", "service_output": "fine"},
        {"notification_type": "RECOVERY", "host": "a", "severity": "critical"},
    ],
)
def test_what_is_over_begins_nothing(body):
    assert read(body).state in ("resolved", "acknowledged")
