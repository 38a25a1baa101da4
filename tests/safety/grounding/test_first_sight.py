"""Answers about all forms of results, written before the rules had met them."""

import json
from pathlib import Path

from safety.evidence import Evidence
from safety.grounding.judge import find_unsupported
from tests.cases import for_each
from tests.safety.gate.calls import settled

FILE = Path(__file__).parent / "cases" / "first_sight.jsonl"
CASES = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
MISSED = {
    "first-17": "67 stands in the result, and only whoever knows `free -m` knows that it is MiB",
    "second-31": "124.5 is what two other figures of the result make as well",
}
"""False claims that are not found, each with its reason."""


@for_each(CASES, name=lambda case: case["id"])
def test_what_is_true_stands_and_what_is_false_is_marked(case):
    evidence = Evidence()
    for result in case["results"]:
        evidence.add(settled(result["tool"], result["class"], result["text"], result["arguments"]))
    answer = case["answer"]

    found = find_unsupported(answer, evidence, [("alert data", case["alert"])])

    wanted = [(answer.index(each), answer.index(each) + len(each)) for each in case["marked"]]
    for start, end in wanted if case["id"] not in MISSED else ():
        assert any(each.start < end and each.end > start for each in found), answer[start:end]
    for each in found:
        assert any(each.start < end and each.end > start for start, end in wanted), each
    assert any(each.is_phantom for each in found) is bool(case["act"])
