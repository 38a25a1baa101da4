"""Reports about what well-known tools print, true ones and false ones, with quotes and without."""

import json
from pathlib import Path

from agents.types import StoredResult
from safety.evidence import Evidence
from safety.grounding.claim_states import judge_claims
from safety.grounding.judge import find_unsupported
from tests.cases import for_each
from tests.safety.gate.calls import settled

FILE = Path(__file__).parent / "cases" / "other_tools.jsonl"
WORLDS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
MISSED = {
    "2.5 cores": "may use is what a guess says too",
    "16 GiB": "the same",
    "08:55": "could is what a guess says too",
    "five": "the alert says 5, and a small number is a number of anything",
    "71 minutes": "4.220s may be 4,220 seconds",
    "83 %": "a share of two of its figures",
    "57 %": "the same",
}
"""False claims that are not found, each with its reason."""


def _judge(world, answer):
    evidence = Evidence()
    for result in world["results"]:
        evidence.add(settled(result["tool"], "read", result["text"], result["arguments"]))
    cited = dict(enumerate(evidence, 1))
    return find_unsupported(answer, evidence, [("alert data", world["alert"])], (), cited)


@for_each(WORLDS, name=lambda world: world["id"])
def test_what_is_true_of_known_tools_stands_and_what_is_quoted_is_proved(world):
    results = {
        number: StoredResult(
            result["tool"], result["text"], arguments=json.dumps(result["arguments"])
        )
        for number, result in enumerate(world["results"], 1)
    }
    for answer in world["true"]:
        assert not _judge(world, answer), answer
        for claim in judge_claims(answer, results):
            is_quoted = any(ref.quote is not None for ref in claim.claim.cites)
            assert claim.state == ("proved" if is_quoted else "cited"), (answer, claim.reason)


@for_each(WORLDS, name=lambda world: world["id"])
def test_what_is_false_of_known_tools_is_marked_where_it_stands(world):
    for case in world["false"]:
        answer, marked = case["answer"], case["marked"]
        start = answer.index(marked)
        found = _judge(world, answer)
        is_found = any(each.start < start + len(marked) and each.end > start for each in found)
        assert is_found or marked in MISSED, answer
        assert not any(each.is_phantom for each in found)
