"""Quotes of an answer: what no result has is sent back once, and stands marked if repeated."""

from dataclasses import replace

from agents.ports import MISQUOTED, ProposedAnswer
from agents.types import StoredResult
from safety.gate.safety_gate import SafetyGate
from safety.grounding import proofs
from tests.safety.gate.calls import NGINX, Counters, resolve

RESULTS = {
    1: StoredResult("ops.query", '{"name": "nginx", "restarts": 14, "state": "running"}'),
    2: StoredResult("ops.read", "worker process exited on signal 9"),
}
TEXT = """## Conclusion
nginx runs. Confidence: high

## Evidence
1. It is up [T1 "state: running"].
2. It fell over [T1 "exited on signal 9"].
3. It has a queue [T1 "restarts: 40"].
"""
ANSWER = ProposedAnswer(TEXT, results=RESULTS)


async def make_gate(events: Counters | None = None) -> SafetyGate:
    gate = SafetyGate("read_only", events=events)
    await resolve(gate, NGINX)
    return gate


async def test_a_quote_that_no_result_has_is_sent_back_with_what_the_results_say():
    gate = await make_gate()

    review = await gate.review_answer(ANSWER)

    assert review.objection.startswith(MISQUOTED)
    assert "\u201cexited on signal 9\u201d: T1 does not say" in review.objection
    assert "T2 says it." in review.objection
    assert "\u201crestarts: 40\u201d: T1 does not say" in review.objection
    assert '"restarts": 14' in review.objection
    assert "state: running" not in review.objection.replace('"state": "running"', "")
    assert review.reason == "T1 does not say “exited on signal 9”, and 1 quote more like it."


async def test_what_is_said_again_stands_marked_and_counted_and_nothing_is_withheld():
    gate = await make_gate()

    for answer in (replace(ANSWER, may_object_to_quotes=False), replace(ANSWER, is_last=True)):
        review = await gate.review_answer(answer)

        assert review.objection == ""
        assert review.text.endswith(TEXT)
        assert review.metadata["claims"] == {
            "proved": 1, "cited": 0, "denied": 0, "expired": 0,
            "failed": 0, "misquoted": 2, "uncited": 0,
        }  # fmt: skip
        marked = [review.text[m["start"] : m["end"]] for m in review.metadata["misquoted"]]
        assert marked == ["It fell over", "It has a queue"]


async def test_an_answer_whose_quotes_are_true_or_that_quotes_nothing_passes():
    gate = await make_gate()

    for text in ('It is up [T1 "running"].', "It is up [T1].", "It is up."):
        review = await gate.review_answer(ProposedAnswer(text, results=RESULTS))
        assert review.objection == ""
        assert "misquoted" not in review.metadata


async def test_where_no_result_can_be_read_nothing_is_said_of_quotes():
    gate = await make_gate()

    review = await gate.review_answer(ProposedAnswer(TEXT))

    assert review.objection == ""
    assert "claims" not in review.metadata


async def test_figures_within_a_quote_are_no_claims_of_the_answer():
    gate = await make_gate()
    text = 'Its end was sudden [T2 "worker process exited on signal 9"].'

    review = await gate.review_answer(ProposedAnswer(text, results=RESULTS))

    assert "unsupported" not in review.metadata


async def test_results_are_made_ready_once_for_all_quotes_that_they_have_not(monkeypatch):
    folded: list[str] = []

    class Counted(proofs._Folded):
        def __init__(self, text: str) -> None:
            folded.append(text)
            super().__init__(text)

    gate = await make_gate()
    monkeypatch.setattr(proofs, "_Folded", Counted)

    await gate.review_answer(ANSWER)

    judging, objecting = [RESULTS[1].text], [each.text for each in RESULTS.values()]
    assert sorted(filter(None, folded)) == sorted([*judging, *objecting])
