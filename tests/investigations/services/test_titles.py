"""The title of an alert is the first thing that it tells, whatever shape it has."""

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from investigations.services.titles import LONGEST, title_of

DEEP = 900


@pytest.mark.parametrize(
    ("alert", "title"),
    [
        # JSON, wherever in it the title stands and however it is called.
        ({"status": "firing", "title": "Disk is full"}, "Disk is full"),
        ({"event": {"id": "Q1", "data": {"type": "x", "title": "API is slow"}}}, "API is slow"),
        ({"alerts": [{"labels": {"severity": "page", "alertname": "DiskFull"}}]}, "DiskFull"),
        ({"trigger": {"ruleName": "Error ratio"}, "host": "web-1"}, "Error ratio"),
        ({"Type": "Notification", "Message": '{"AlarmName": "cpu-high", "x": 1}'}, "cpu-high"),
        ([{"name": "first"}, {"name": "second"}], "first"),
        # The name of an alert, with what the same object says of it.
        ({"alertname": "DiskFull", "summary": "/var is 97 % full"}, "DiskFull: /var is 97 % full"),
        ({"description": "long\nlonger", "alertName": "Ratio"}, "Ratio: long"),
        ({"check_name": "API", "description": "OK"}, "API"),
        ({"alertname": "DiskFull", "message": "DiskFull on db-1"}, "DiskFull on db-1"),
        ([{"alertname": "One"}, {"alertname": "Two", "summary": "of two"}], "One"),
        ('alertname=DiskFull host=web-1 summary="97 % used"', "DiskFull: 97 % used"),
        ("alertname: One\nalertname: Two\nsummary: of two", "One"),
        # Names that say nothing of titles: the first text that a person can read.
        ({"id": "550e8400-e29b-41d4-a716-446655440000", "at": "2026-01-02T03:04:05Z",
          "url": "https://example.com/a", "what": "the queue grows"}, "the queue grows"),
        ({"__proto__": {"x": 1}, "c": "kernel"}, "kernel"),
        ({"value": 3}, "value 3"),
        ({"title": "\u202e\u200b", "text": "seen"}, "seen"),
        # JSON that cannot be read as such.
        ('{"alertname": "HighLoad", "instance": [', "HighLoad"),
        ('{"severity": "page", "summary": "Cut in the mid', "Cut in the mid"),
        ("{\'alertname\': \'HighLoad\', \'n\': None}", "HighLoad"),
        ('{"a": [' * DEEP + '"too deep"' + "]}" * DEEP, "too deep"),
        ('{"title": "a\\ud800b\\u0000c"}', "abc"),
        ('{"alertname": "One"}\n{"alertname": "Two"}', "One"),
        ("[" * DEEP, ""),
        ("{}", ""),
        ("[\n  {\n  }\n]", ""),
        # YAML and pairs.
        ("severity: page\nsummary: Disk is full\n", "Disk is full"),
        ("---\n# of the disk\nalert:\n  labels:\n    alertname: DiskFull\n", "DiskFull"),
        ("alertname=DiskFull severity=page host=web-1", "DiskFull"),
        ('level=error host=web-1 msg="x" summary="Disk is full"', "Disk is full"),
        ("HOST = web-1\nSUBJECT = Disk is full", "Disk is full"),
        # Prose.
        ("\n\n  disk full\non node-17", "disk full"),
        ("Error: disk full\nDescription: a long one", "Error: disk full"),
        ("[FIRING:1] Disk\u202e is\tfull", "[FIRING:1] Disk is full"),
        ("- node-1 is down\n- node-2 is down", "node-1 is down"),
        ("\x1b[31mdisk\x1b[0m full\x07", "disk full"),
    ],
)  # fmt: skip
def test_a_title_is_the_first_thing_an_alert_tells(alert, title):
    text = alert if isinstance(alert, str) else json.dumps(alert, indent=2)

    assert title_of(text) == title


ANY_TEXT = st.text(max_size=40) | st.sampled_from(["{", "[[", "a: b", "\u202e", "\ud800", "\x00"])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
)


@example('{"{": ""}')
@given(ANY_JSON.map(json.dumps) | ANY_TEXT | st.lists(ANY_TEXT).map("\n".join))
def test_no_title_is_a_bracket_or_hides_anything(alert):
    title = title_of(alert)

    assert len(title) <= LONGEST
    assert title == " ".join(title.split())
    assert title == "" or any(character.isalnum() for character in title)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Cf") for character in title)
