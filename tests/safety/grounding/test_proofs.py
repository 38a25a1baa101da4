"""Quotes of citations: found in the stored result by bytes, or not."""

import json

import pytest

from agents.citations import Ref
from agents.types import StoredResult
from safety.grounding.claim_states import ClaimCounts, count_states, judge_claims
from safety.grounding.proofs import LONGEST, MAX_PLACES, Proofs

TEXT = """{"pod": "api-7", "restarts": 14, "memory": "1,234,567 bytes", "state": "not_ready",
   "ratio": 8.75, "token": "[MASKED:github_token#3]"}
It\u2019s   OOMKilled since 03:04:05, limit 1\u202f024 MiB \u202e hidden
"""
RESULTS = {
    5: StoredResult("ops.query", TEXT, arguments='{"name": "api-7", "tail": 1400}'),
    6: StoredResult("ops.read", "restarts 14 in all", check="state: active"),
    7: StoredResult("ops.read", "connection refused", is_error=True),
    8: StoredResult("ops.read", None),
}


def find(quote: str, number: int = 5) -> tuple[str, str]:
    """The verdict, and the words of the result that were found."""
    sighting = Proofs(RESULTS).find(Ref(number, quote))
    text = RESULTS[number].check if sighting.in_check else RESULTS[number].text
    return sighting.verdict, (text or "")[sighting.start : sighting.end]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ('"restarts": 14', '"restarts": 14'),
        (r"\"restarts\": 14", '"restarts": 14'),
        ("Restarts :14", 'restarts": 14'),
        ("restarts:  14", 'restarts": 14'),
        ("8.75", "8.75"),
        ("1234567 bytes", "1,234,567 bytes"),
        ("limit 1024 MiB", "limit 1\u202f024 MiB"),
        ("it's oomkilled since 03:04:05", "It\u2019s   OOMKilled since 03:04:05"),
        ('not_ready",\n   "ratio', 'not_ready",\n   "ratio'),
        ('"token": "[MASKED:github_token#3]"', '"token": "[MASKED:github_token#3]"'),
        ("MiB \u202e hidden", "MiB \u202e hidden"),
    ],
)
def test_a_quote_is_found_where_it_stands_however_it_is_written(quote, found):
    assert find(quote) == ("found", found)


@pytest.mark.parametrize(
    ("quote", "number"),
    [
        ("restarts 14", 5),  # A colon is no blank.
        ("restarts: 15", 5),
        ("14 restarts", 5),
        ("has been killed for want of memory", 5),  # The model's own words.
        ('"restarts": 14, restarts 14 in all', 5),  # Half of it stands in another result.
        ("hid\u202eden", 5),
        ("OOM\x00Killed", 5),
        ("", 5),
        ("x" * 100_000, 5),
        ("anything", 8),
        ("anything", 999),
    ],
)
def test_a_quote_that_no_stored_byte_backs_is_missing(quote, number):
    assert Proofs(RESULTS).find(Ref(number, quote)).verdict == "missing"


@pytest.mark.parametrize(
    "quote",
    [
        "restarts: 1",  # of 14
        "ready",  # of not_ready
        "8.7",
        "75",
        "api-7",  # What the call was asked with.
        "[MASKED:github_token#3]",
        '"',
        "  ",
    ],
)
def test_a_quote_that_stands_there_may_still_show_nothing(quote):
    assert find(quote)[0] == "weak"


def test_a_quote_that_is_a_whole_page_points_at_nothing():
    results = {1: StoredResult("t", "ab " * LONGEST)}

    assert Proofs(results).find(Ref(1, "ab " * 1_000)).verdict == "weak"


def test_of_many_places_the_first_one_that_stands_alone_counts():
    text = "x14 " * (MAX_PLACES // 2) + "is 14 " + "14 " * 10_000
    sighting = Proofs({1: StoredResult("t", text)}).find(Ref(1, "14"))

    assert (sighting.verdict, sighting.start) == ("found", text.index("is 14") + 3)


def test_what_our_own_look_at_a_write_answered_is_part_of_the_result():
    assert find("state: active", 6) == ("found", "state: active")


def test_a_place_in_a_long_result_is_exact_whatever_was_folded_before_it():
    rows = [{"name": f"j\u00f6b-{n}", "restarts": n} for n in range(5_000)]
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    sighting = Proofs({1: StoredResult("t", text)}).find(Ref(1, 'Name: "J\u00d6B-4321"'))

    assert text[sighting.start : sighting.end] == 'name": "j\u00f6b-4321'


REPORT = """**Not checked:** `deployer` was not available.

## Conclusion
It ran out of memory. Confidence: high

## Evidence
1. It has 14 restarts [T5 "restarts: 14"].
2. It is ready [T5 "ready"], and the pod is api-7 [T5].
3. Nothing answered [T7]. The port was closed [T7 "connection refused"].
4. It was killed at noon [T5 "killed at noon"].
5. Somebody changed the limit on Monday.
6. The node is full [T999 "full"]. The disk is slow [T998].

## Next steps
1. Raise the limit.
"""


def test_every_claim_of_a_report_has_one_state():
    judged = judge_claims(REPORT, RESULTS)

    said = [(REPORT[each.claim.start : each.claim.end], str(each.state)) for each in judged]
    assert said == [
        ("It has 14 restarts", "proved"),
        ("It is ready", "cited"),
        ("and the pod is api-7", "cited"),
        ("Nothing answered", "failed"),
        ("The port was closed", "proved"),
        ("It was killed at noon", "misquoted"),
        ("Somebody changed the limit on Monday.", "uncited"),
        ("The node is full", "misquoted"),
        ("The disk is slow", "uncited"),
    ]
    counts = count_states([each.state for each in judged])
    assert counts.words == "2 proved, 2 cited, 1 failed, 2 misquoted, 2 uncited"
    assert ClaimCounts().words == "no claims"


@pytest.mark.parametrize(
    ("report", "states"),
    [
        ('[T5 "restarts: 14"] [T5] [T7, T6 "x"]', []),
        ('It is up `[T5 "up"]`.', ["uncited"]),
        ('It is up.\n```\n[T5 "up"]\n```', ["uncited"]),
        ('It has 14 [T5 "a [T6 "restarts 14"] b"].', ["proved"]),
        (f'It is up [T5 "{"up " * 35_000}"].', ["misquoted"]),
        (f'It is up [T5 "{"up " * 10_000}"].', ["misquoted"]),
        ('It is \u202eup\x00 [T5 "\u202e"].', ["cited"]),
    ],
)
def test_odd_reports_are_judged(report, states):
    found = [str(each.state) for each in judge_claims(report, RESULTS)]

    assert found == states


def test_a_long_report_against_many_long_results_is_judged():
    text = 'alpha beta  "X": 14, \u00fcn\u00ef\n' * 15_000
    results = {n: StoredResult("t", text) for n in range(25)}
    report = "".join(
        f'- It has {n} [T{n % 25} "alpha Beta x : {14 + n % 2}"].\n' for n in range(20_000)
    )

    judged = judge_claims(report, results)

    assert {str(each.state) for each in judged} == {"proved", "misquoted"}


def test_places_that_are_looked_at_are_bounded_for_all_quotes_together(monkeypatch):
    monkeypatch.setattr("safety.grounding.proofs.MAX_SEARCHED", 2_000_000)
    proofs = Proofs({1: StoredResult("ops.read", "ab " * 200)})

    sightings = [proofs.find(Ref(1, f"a{' ' * blanks}b")) for blanks in (1, 2, 3)]

    assert [each.verdict for each in sightings] == ["missing", "weak", "weak"]
    assert sightings[-1].reason == "there is too much to look through"
