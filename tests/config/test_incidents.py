"""`incidents` of `tarsy.yaml`: matchers, windows, and what is without effect."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.matchers import Matcher, MatcherError, all_match, parse_matchers
from config.schema.incidents import MaintenanceConfig
from config.sources import KNOWN_SOURCES
from investigations.sources.registry import SOURCES
from tests.config.conftest import TARSY

LABELS = {"severity": "critical", "team": "payments", "pod": "a-1"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('severity="critical"', True),
        ("severity = critical", True),
        ('severity!="critical"', False),
        ('severity=~"crit.*|high"', True),
        ('severity=~"crit"', False),
        ('pod!~"b-.*"', True),
        ('{team="payments", severity=~"high|critical",}', True),
        ('"team"="payments"', True),
        ('missing=""', True),
        ('missing!=""', False),
        ('missing=~".+"', False),
        ("missing=~.*", True),
    ],
)
def test_a_matcher_means_what_alertmanager_means_by_it(text, wanted):
    assert all_match([text], LABELS) is wanted


@pytest.mark.parametrize(
    "text", ["", "severity", "=x", 'a="b', "a=b c=d,,", 'a=~"("', '{a="b"', "a==b", "a" * 1_001]
)
def test_what_is_no_matcher_is_refused(text):
    with pytest.raises(MatcherError):
        parse_matchers(text)


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(["=", "!="]))
def test_quoted_matchers_are_read_as_they_were_written(name, value, sign):
    quoted = ['"' + each.replace("\\", "\\\\").replace('"', '\\"') + '"' for each in (name, value)]

    assert parse_matchers(f"{quoted[0]}{sign}{quoted[1]}") == (Matcher(name, sign, value),)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text):
    with suppress(MatcherError):
        assert parse_matchers(text)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NIGHTLY = MaintenanceConfig(
    name="n", days=("fri",), begins="22:00", ends="02:00", zone="Europe/Berlin"
)
ONCE = MaintenanceConfig(name="o", start="2026-11-27T10:00:00Z", end="2026-11-27T12:00:00Z")


@pytest.mark.parametrize(
    ("window", "now", "closes"),
    [
        (NIGHTLY, "2026-11-27T21:30", "2026-11-28T01:00"),  # Friday, 22:30 in Berlin
        (NIGHTLY, "2026-11-28T00:30", "2026-11-28T01:00"),  # the night belongs to Friday
        (NIGHTLY, "2026-11-28T01:00", None),
        (NIGHTLY, "2026-11-28T21:30", None),  # Saturday
        (ONCE, "2026-11-27T10:00", "2026-11-27T12:00"),
        (ONCE, "2026-11-27T12:00", None),
    ],
)
def test_a_window_is_open_at_its_times(window, now, closes):
    assert window.closes_at(moment(now)) == (moment(closes) if closes else None)


def test_the_sources_of_the_files_are_those_that_can_be_read():
    assert set(SOURCES) == KNOWN_SOURCES


def incidents(text: str) -> str:
    return f"{TARSY}\nincidents:\n{text}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  routes:\n    - match: ['a=b']\n    - match: ['a=b', 'c=d']\n", "route 1 takes"),
        ("  routes:\n    - {}\n    - match: ['c=d']\n", "route 1 takes"),
        ("  routes:\n    - match: ['a=b', 'a=c']\n", "never reached"),
        ("  routes:\n    - match: ['a=b', 'a!~b']\n", "never reached"),
        ("  routes:\n    - match: ['serverity=critical']\n", "did you mean 'severity'"),
        ("  routes:\n    - match: ['severity=criticl']\n", "did you mean 'critical'"),
        ("  routes:\n    - match: ['source=grafanna']\n", "did you mean 'grafana'"),
        ("  maintenance:\n    - {name: a, start: 2020-01-01, end: 2020-01-02}\n", "it is over"),
    ],
)
def test_what_has_no_effect_is_a_warning(check_files, text, words):
    report = check_files(incidents(text))

    assert report.config
    assert any(words in str(each) for each in report.warnings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  maintenance:\n    - {name: a, start: 2036-01-02, end: 2036-01-01}\n", "never opens"),
        ("  maintenance:\n    - {name: a, start: 2026-01-02}\n", "needs a start and an end"),
        ("  maintenance:\n    - {name: a}\n", "never opens"),
        ("  maintenance:\n    - {name: a, begins: '25:00', ends: '02:00'}\n", "time of day"),
        ("  maintenance:\n    - {name: a, begins: '1:00', ends: '2:00', zone: Mars/X}\n", "zone"),
        ("  routes:\n    - match: ['severity']\n", "must be matchers such as"),
        ("  routes:\n    - {match: ['a=b'], alert_type: nett}\n", "did you mean 'net'"),
        ("  budgets: {grafanna: {tokens_per_hour: 1}}\n", "did you mean 'grafana'"),
        ("  regroup: [alertmanagr]\n", "did you mean 'alertmanager'"),
        ("  group_wait: soon\n", "duration"),
        ("  when_recovered: pause\n", "'finish'"),
    ],
)
def test_what_cannot_be_meant_is_a_mistake(check_files, text, words):
    report = check_files(incidents(text))

    assert any(words in str(each) for each in report.mistakes)
