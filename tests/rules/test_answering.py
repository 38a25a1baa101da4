"""What is answered to a question where no model is there: what the evidence has on its words."""

import pytest

from agents.types import StoredResult
from rules.answering import answer_by_code

REPORT = """## Conclusion
shop-web takes connections to its database and gives none back. Confidence: high

## Evidence
1. shop-web holds 8 connections that are idle [T1 "idle in transaction"].
2. Release 42 of shop-web was put in force before it [T2].

## Next steps
1. Roll shop-web back to release 41.

## Not checked
- The network between shop-web and its customers.

## Ruled out
- shop-web has room on its disk [T3].
"""
CALLS = {
    1: StoredResult("ops__probe", '{"shop-web": "idle in transaction: 8"}'),
    2: StoredResult(
        "ops__changes", '{"what": "release 42 of shop-web"}', arguments='{"since": "6h"}'
    ),
    3: StoredResult("ops__storage", '{"used_percent": 41}', is_error=True),
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What was not checked?", "- Not checked: The network between"),
        ("What was ruled out?", "- Ruled out: shop-web has room"),
        ("Which RELEASE is in force?", "- Claim 2: Release 42"),
        ("What stands behind claim 1?", "- Claim 1: shop-web holds"),
        ("¿Hay 'idle' connections?", "- Claim 1: shop-web holds"),
    ],
)
def test_the_sentence_with_the_rare_words_of_the_question_comes_first(question, first):
    lines = answer_by_code(question, REPORT, CALLS).splitlines()

    assert lines[0] == "What the report says of it:"
    assert lines[2].startswith(first)


def test_each_part_of_a_question_gets_its_own_sentence():
    answer = answer_by_code("What was not checked, and which release is in force?", REPORT, CALLS)

    assert "- Claim 2: Release 42" in answer
    assert "- Not checked: The network between" in answer


def test_calls_are_told_with_the_place_that_has_the_words():
    answer = answer_by_code("And the storage, used_percent?", REPORT, CALLS)

    assert "Calls whose results tell of it:" in answer
    assert '- [T3] ops.storage (it failed): `{"used_percent": 41}`' in answer
    assert "[T1]" not in answer.partition("These calls")[2]


def test_a_question_of_other_words_is_told_so_with_what_was_concluded():
    answer = answer_by_code("Quid agis?", REPORT, CALLS)

    assert answer.startswith("Neither the report nor any result has the words of the question.")
    assert "The investigation concluded: shop-web takes connections" in answer


@pytest.mark.parametrize("report", ["", "It is slow.", "no shape\n\n- at all"])
def test_without_a_report_of_known_shape_there_are_the_calls(report):
    assert "ops.probe" in answer_by_code("idle?", report, CALLS)
    assert answer_by_code("", report, {})
