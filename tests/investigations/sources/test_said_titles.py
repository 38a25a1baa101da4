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
        ("Disk of db-1 is full", "Disk of db-1 is full RESOLVED"),
        ("Disk of db-1 is full", "Disk of db-1 is full - RESOLVED"),
        ("Disk of db-1 is full", "Disk of db-1 is full [Resolved]"),
        ("Disk of db-1 is full", "Disk of db-1 is full (resolved)"),
        ("Disk of db-1 is full", "Disk of db-1 is full: RECOVERED"),
        ("Disk of db-1 is full", "Resolved: Disk of db-1 is full"),
        ("Problem: CPU is high", "Resolved in 1h 5m 3s: CPU is high"),
        ("[OPEN] Disk of db-1 is full", "[CLOSED] Disk of db-1 is full"),
        ("🔴 DOWN: web", "🟢 UP: web"),
        ("[PROBLEM] web/http", "[RECOVERY] web/http"),
        ("ALARM: orders-5xx", "OK: orders-5xx"),
        (":fire: *FIRING* - disk", ":white_check_mark: *RESOLVED* - disk"),
        ("CRITICAL - disk of db-1", "OK - disk of db-1"),
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
    ],
)
def test_a_word_of_a_sentence_ends_nothing(title):
    assert read({"title": title}).state == "firing"
    assert read({"title": title, "severity": "critical"}).state == "firing"


@pytest.mark.parametrize("title", ["[CLOSED] Fire door 3", "CLEARED: audit log", "OK: x of y"])
def test_what_may_be_said_of_a_thing_ends_nothing_that_weighs_something(title):
    assert read({"title": title, "severity": "critical"}).state == "firing"
    assert read({"title": title}).state == "resolved"


@pytest.mark.parametrize("title", ["Resolved: CPU is high", "[RESOLVED] CPU", "CPU - RESOLVED"])
def test_a_marker_counts_after_every_state_that_is_told(title):
    assert read({"title": title, "severity": "critical"}).state == "resolved"
    assert read({"title": title, "status": "firing"}).state == "firing"
    assert read({"title": title, "checks": [{"status": "down"}]}).state == "firing"
    assert read({"title": title, "text": "[FIRING] memory"}).state == "firing"


def test_what_was_done_well_ends_nothing_that_weighs_something():
    done = {"title": "[Success] Backup job: VMs daily"}

    assert read(done).state == "resolved"
    assert read(done | {"severity": "high"}).state == "firing"
    assert read({"title": "Success: root login"}).state == "firing"
    assert read(done | {"tasks": [{"status": "failed"}]}).state == "firing"


def test_the_mail_of_a_recovery_of_nagios_is_one():
    assert read({"text": "** RECOVERY Host Alert: web-1 is UP **"}).state == "resolved"


WORDS = st.sampled_from(["disk", "RESOLVED", "resolved", "OK", "not", "closed", "is", "db-1", "to"])


@given(words=st.lists(WORDS, min_size=1, max_size=5))
def test_small_letters_behind_a_title_end_nothing(words):
    title = " ".join(["Host", *words, "resolved"])

    assert read({"title": title}).state == "firing"
