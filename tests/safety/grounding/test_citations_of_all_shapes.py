"""Citations of every shape that models write, each with how far it proves its claim."""

import json
from pathlib import Path

from agents.types import StoredResult
from safety.grounding.claim_states import judge_claims
from tests.cases import for_each

FILE = Path(__file__).parent / "cases" / "citations.json"
TOLD = json.loads(FILE.read_text("utf-8"))
RESULTS = {
    int(number): StoredResult(
        result["tool"],
        result["text"],
        is_error=result.get("is_error", False),
        arguments=json.dumps(result["arguments"]),
    )
    for number, result in TOLD["results"].items()
}


@for_each(TOLD["cases"], name=lambda case: case["id"])
def test_a_citation_proves_as_much_as_its_result_says(case):
    judged = judge_claims(case["text"], RESULTS)

    assert [str(each.state) for each in judged] == case["states"]
