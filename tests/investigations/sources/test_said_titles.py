"""A state that a template writes around a title is one, and a word of a sentence is none."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post


def read(body: Mapping[str, object]) -> AlertReading:
    return read_post(Post(dict(body))).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("Disk of db-1 is full", "Disk of db-1 is full - RESOLVED"),
        ("Disk of db-1 is full", "Disk of db-1 is full [RESOLVED]"),
        ("Disk of db-1 is full", "Resolved: Disk of db-1 is full"),
        ("Problem: CPU is high", "Resolved in 1h 5m 3s: CPU is high"),
        ("🔴 DOWN: web", "🟢 UP: web"),
        ("ALARM: orders-5xx", "OK: orders-5xx"),
        (":fire: *FIRING* - disk", ":white_check_mark: *RESOLVED* - disk"),
        ("CRITICAL - disk of db-1", "OK - disk of db-1"),
        ("FIRING\nDisk of db-1 is full", "✅ RESOLVED\nDisk of db-1 is full"),
        ("CRITICAL: disk full on db-1", "[RESOLVED] CRITICAL: disk full on db-1"),
        ("PROBLEM: disk full", "RESOLVED: PROBLEM: disk full"),
        ("[CRITICAL] disk full", "[RESOLVED] [CRITICAL] disk full"),
        ("web-1 is DOWN", "[RESOLVED] web-1 is DOWN"),
        ("[FIRING] Backup FAILED on db-1", "[RESOLVED] Backup FAILED on db-1"),
        ("[FIRING] 5 pods not ready", "[RESOLVED] 5 pods not ready"),
        ("10.0.0.7 does not answer", "[RESOLVED] 10.0.0.7 does not answer"),
        ("FIRING: 95 % disk on db-1", "RESOLVED: 95 % disk on db-1"),
        (
            "** PROBLEM Host Alert: web-1 is DOWN **",
            "** RECOVERY Host Alert: web-1 is UP **",
        ),
    ],
)
def test_a_title_with_a_marker_ends_the_alert_that_has_the_title_without_it(first, last):
    for name in ("title", "text"):
        fires, ends = read({name: first}), read({name: last})

        assert (fires.state, ends.state) == ("firing", "resolved")
        assert fires.key == ends.key


@pytest.mark.parametrize(
    "title",
    [
        "Connection closed: db-1 went away",
        "Ticket resolved too late",
        "Host name is not RESOLVED",
        "Name of db-1 cannot be RESOLVED",
        "DNS NAME NOT RESOLVED",
        "INCIDENT RESOLVED",
        "Disk is full until RESOLVED",
        "Disk is full: unresolved",
        "Disk is full - UNRESOLVED",
        "Unresolved: disk is full",
        "NOT RESOLVED: disk is full",
        "Resolved: no",
        "Resolved: False",
        "Resolved: pending",
        "Resolved: not yet, disk is full",
        "Resolved: 3 of 5 nodes",
        "RESOLVED: 2, CRITICAL: 1",
        "UP: web, DOWN: db",
        "OK: 5, CRITICAL: 1",
        "Port 443: CLOSED",
        "Valve 7 [CLOSED]",
        "Closed: valve 7",
        "[up] web",
        "Ping is OK",
        "Disk of db-1 is full: resolved",
        "** PROBLEM Service Alert: web-1/HTTP is CRITICAL **",
        "FIRING: cpu of db-1 RESOLVED",
        "FIRING: cpu of db-1 - RESOLVED",
        "No nodes RECOVERED",
        "Only one replica RECOVERED",
        "Issue keeps flapping after being RESOLVED",
        "Auto-remediation failed: RESOLVED",
        "Too many tickets (resolved)",
        "Too many tickets [resolved]",
        "Disk of db-1 is full: RECOVERED",
        "UP: false",
        "UP: no",
        "HEALTHY: no",
        "ONLINE: no",
        "OK: not anymore",
        "RESOLVED: no",
        "RESOLVED: false",
        "RESOLVED: pending",
        "[RESOLVED]: no",
        "RESOLVED: db-1, firing: 1",
        "[RESOLVED] cpu of db-1 [FIRING] disk of db-1",
        "[ONLINE] shop: checkout fails",
        "ONLINE: banking login fails",
        "[RECOVERY] Postgres stays in recovery",
        "RECOVERY: point objective missed for db-1",
        "[CLOSED] beta: login fails",
        "CLEARED: audit log",
        "[Success] rate of checkout below 95 %",
        "[Fixed] price job is stuck",
    ],
)
def test_a_word_of_a_sentence_ends_nothing(title):
    assert read({"title": title}).state == "firing"
    assert read({"title": title, "severity": "critical"}).state == "firing"


@pytest.mark.parametrize("title", ["OK: x of y", "[UP] web-1", "CPU - RESOLVED", "CPU [RESOLVED]"])
def test_what_may_be_said_of_a_part_ends_nothing_that_weighs_something(title):
    assert read({"title": title, "severity": "critical"}).state == "firing"
    assert read({"title": title}).state == "resolved"


@pytest.mark.parametrize("title", ["Resolved: CPU is high", "[RESOLVED] CPU"])
def test_a_marker_counts_after_every_state_that_is_told(title):
    assert read({"title": title, "severity": "critical"}).state == "resolved"
    assert read({"title": title, "status": "firing"}).state == "firing"
    assert read({"title": title, "checks": [{"status": "down"}]}).state == "firing"
    assert read({"title": title, "text": "[FIRING] memory"}).state == "firing"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SLA breach: tickets (resolved)", "SLA breach: tickets"),
        ("[ONLINE] shop: checkout fails", "[OFFLINE] shop: checkout fails"),
    ],
)
def test_a_word_of_the_title_parts_two_alerts(first, second):
    assert read({"title": first}).key != read({"title": second}).key


def test_the_mail_of_a_recovery_of_nagios_is_one():
    assert read({"text": "** RECOVERY Host Alert: web-1 is UP **"}).state == "resolved"


WORDS = st.sampled_from(["disk", "RESOLVED", "resolved", "OK", "not", "closed", "is", "db-1", "to"])


@given(words=st.lists(WORDS, min_size=1, max_size=5))
def test_small_letters_behind_a_title_end_nothing(words):
    title = " ".join(["Host", *words, "resolved"])

    assert read({"title": title}).state == "firing"
