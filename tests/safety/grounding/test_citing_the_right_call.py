"""A figure is looked for in the call that is cited for it, and what was not looked at is said."""

import pytest

from agents.ports import ProposedAnswer
from agents.types import NOT_CHECKED, StoredResult
from safety.evidence import Evidence
from safety.gate.answer_review import review_answer, review_told
from safety.gate.events import NoEvents
from safety.gate.execution_state import rebuild
from safety.gate.summary_review import review_summary
from safety.grounding.cited_check import MAX_NARROWED
from safety.grounding.claim_states import judge_claims
from safety.grounding.claims import MAX_CLAIMS
from safety.grounding.facts import MAX_NUMBERED
from safety.grounding.judge import find_unsupported
from safety.grounding.phantoms import find_written_calls
from safety.grounding.unjudged import name_unjudged
from tests.safety.gate.calls import settled

PODS = "NAME   RESTARTS  MEMORY\napi-7  14        751Mi\napi-8  2         402Mi"
NODES = "NAME  MEMORY\nn-31  15873Mi\nn-32  8211Mi"


def evidence_of(*texts: str) -> Evidence:
    evidence = Evidence()
    for text in texts:
        evidence.add(settled("k8s.top", "read", text))
    return evidence


def marks(answer: str, *texts: str) -> list[tuple[str, str]]:
    evidence = evidence_of(*texts)
    found = find_unsupported(answer, evidence, cited=dict(enumerate(evidence, 1)))
    return [(answer[each.start : each.end], each.reason) for each in found]


@pytest.mark.parametrize(
    "answer",
    [
        "api-7 has 14 restarts and 751 MiB [T1].",
        "api-7 takes 751 MiB [T1] of what n-31 has, 15,873 MiB [T2].",
        "Both pods together take 1,153 MiB [T1].",
        'n-31 uses 15.5 GiB [T2 "15873Mi"].',
    ],
)
def test_a_figure_of_the_cited_call_stands(answer):
    assert marks(answer, PODS, NODES) == []


def test_a_figure_that_stands_in_another_call_than_the_cited_one_is_marked_with_that_call():
    assert marks('The node uses 15873Mi [T1 "751Mi"].', PODS, NODES) == [
        ("15873Mi", "it stands in T2, not in the cited T1")
    ]


def test_a_figure_that_only_follows_from_what_is_not_cited_is_marked():
    assert marks("They differ by 7,662 MiB [T1].", PODS, NODES) == [
        ("7,662 MiB", "the cited T1 does not give 7,662 MiB")
    ]


def test_a_claim_is_as_good_as_the_weakest_part_of_what_it_cites():
    results = {1: StoredResult("k8s.top", PODS), 2: StoredResult("k8s.top", NODES)}
    judged = judge_claims(
        'A [T1 "751Mi"].\n\nB [T1 "751Mi", T1 "75"].\n\nC [T1 "751Mi", T9].\n\n'
        'D [T1 "751Mi", T2 "16Gi"].\n\nE [T1 "751Mi", T2].\n\nF [T1, T9].',
        results,
    )

    states = [str(each.state) for each in judged]
    assert states == ["proved", "cited", "cited", "misquoted", "proved", "cited"]
    assert judged[2].reason == judged[5].reason == "this session has no finished tool call T9"


def test_cited_figures_are_judged_although_all_results_are_too_long_together():
    long = "x" * (MAX_NUMBERED // 2) + "\n"

    assert marks("api-7 has 41 restarts [T1].", PODS, long, long) == [
        ("41 restarts", "the cited T1 does not give 41 restarts")
    ]
    assert marks("It is 41 [T2].", PODS, "y" * (MAX_NARROWED + 1), long, long) == []


async def test_an_answer_says_itself_what_of_it_was_not_judged():
    calls = [settled("k8s.top", "read", "x" * MAX_NUMBERED), settled("k8s.top", "read", PODS)]
    standing = rebuild(calls, lambda: 0.0)
    answer = ProposedAnswer("It has 41 restarts.")

    review = await review_answer(answer, standing, NoEvents())

    assert review.text.startswith(f"{NOT_CHECKED} figures and times of this text")
    assert review.text.endswith("It has 41 restarts.")


def test_claims_beyond_those_that_are_counted_are_named():
    few, many = "It is so [T1].\n\n" * 9, "It is so [T1].\n\n" * MAX_CLAIMS

    assert list(name_unjudged(few, Evidence())) == []
    (line,) = name_unjudged(many, Evidence())
    assert line == f"{NOT_CHECKED} the claims of this text behind the first {MAX_CLAIMS}."


READ = 'the alert says: please run k8s__drain({"node": "n-31"}) now'


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ('I call k8s__drain({"node": "n-32"}) now.', True),
        ('k8s__drain({"node": "n-32"})', True),
        ('It wants this: k8s__drain({"node": "n-31"}).', False),
        ('Run k8s__drain({"node": "n-32"}) once it is empty.', False),
        ('Next, use this call:\n```json\n{"tool": "k8s.drain"}\n```', False),
        ('Done:\n```json\n{"tool": "k8s.drain"}\n```', True),
    ],
)
def test_a_call_that_is_quoted_or_advised_is_no_written_call(text, is_call):
    found = list(find_written_calls(text, ["k8s__drain"], READ))

    assert bool(found) is is_call


@pytest.mark.parametrize(
    ("summary", "is_kept"),
    [
        ("2 of the pods are not ready.", True),
        ("Five pods were listed, 3 of them ready.", True),
        ("6 of the pods are not ready.", False),
        ("The error rate fell by 13 points.", True),
        ("The error rate fell by 31 points.", False),
    ],
)
async def test_a_summary_may_say_what_follows_from_one_sentence_of_its_report(summary, is_kept):
    report = "3 of 5 pods are ready [T1]. The error rate went from 17 to 4 points [T2]."
    answer = ProposedAnswer(summary, given=(("report", report),), is_last=True)

    review = await review_summary(answer, NoEvents())

    assert (review.text == summary) is is_kept, review.text


@pytest.mark.parametrize("label", ["history", "history of an answer", "answer", "agent 1"])
@pytest.mark.parametrize("calls", [[], [settled("k8s.top", "read", NODES)]])
async def test_what_agents_said_before_proves_nothing_whether_or_not_a_call_was_made(label, calls):
    answer = ProposedAnswer("api-7 has 41 restarts.", given=((label, "api-7 has 41 restarts."),))

    own = await review_answer(answer, rebuild(calls, lambda: 0.0), NoEvents())
    told = await review_told(answer, calls, NoEvents())

    for review in (own, told):
        marked = [each["text"] for each in review.metadata["unsupported"]]
        assert marked == ["api-7", "41 restarts"]


async def test_what_the_alert_says_stands_without_a_call():
    answer = ProposedAnswer("api-7 has 41 restarts.", given=(("alert data", "api-7: 41 restarts"),))

    review = await review_answer(answer, rebuild([], lambda: 0.0), NoEvents())

    assert "unsupported" not in review.metadata
