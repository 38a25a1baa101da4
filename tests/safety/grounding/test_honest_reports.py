"""True reports of the recorded kind stay as they are, and false ones are marked where they are."""

import json
from pathlib import Path

from safety.evidence import Evidence
from safety.grounding.judge import find_unsupported
from tests.cases import for_each
from tests.safety.gate.calls import settled

FILE = Path(__file__).parent / "cases" / "honest_reports.jsonl"
CASES = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
MISSED = {
    "report-negative-bad-01": "that a counter of 0 is no error stands nowhere",
    "report-negative-bad-03": "the same of events that there are none of",
    "report-state-bad-03": "the limit is 4 GiB, and that all of it is used is what words say",
}
"""False claims that are not found, each with its reason; a mark that is a guess helps nobody."""


@for_each(CASES, name=lambda case: case["id"])
def test_reports_are_judged_as_recorded(case):
    evidence = Evidence()
    for result in case["results"]:
        evidence.add(settled(result["tool"], "read", result["text"]))
    given = [("alert data", case["alert"]), ("report", case.get("report", ""))]
    answer, marked = case["answer"], case["expect"]["marked"]

    found = find_unsupported(answer, evidence, given)

    wanted = [(answer.index(each), answer.index(each) + len(each)) for each in marked]
    for start, end in wanted if case["id"] not in MISSED else ():
        assert any(each.start < end and each.end > start for each in found), answer[start:end]
    for each in found:
        assert any(each.start < end and each.end > start for start, end in wanted), each
    assert marked or not any(each.is_phantom for each in found)
