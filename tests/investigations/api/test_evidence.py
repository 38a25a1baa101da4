"""`GET /api/v1/sessions/:id/evidence`: claims, the calls behind them, and what these said."""

import uuid

import pytest

from investigations.models import AlertSession, TimelineEvent
from tests.factories import (
    ExecutionFactory,
    MCPInteractionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_event, add_tool_call

REPORT = """## Conclusion
The pod basket-7 was killed. Confidence: high

## Evidence
1. The pod basket-7 ended with exit code 137. [T1]
2. The node could not be reached. [T2]
3. The limit is 512 MiB. [T9]
4. Its owner was asked. [T1]
5. The image is basket:4.2.
"""


def make_session(report: str = REPORT, **metadata: object) -> AlertSession:
    session = SessionFactory(completed=True, final_analysis=report)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, '{"pod": "basket-7", "exit_code": 137, "image": "basket:4.2"}')
    add_tool_call(execution, 2, "connection refused", is_error=True)
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, report, **metadata)
    session.refresh_from_db()
    return session


def read(api, session: AlertSession) -> dict:
    answer = api.get(f"/api/v1/sessions/{session.pk}/evidence")
    assert answer.status_code == 200
    return answer.json()


def test_a_claim_comes_with_the_call_and_its_words_or_with_what_is_wrong(api):
    session = make_session()

    told = read(api, session)

    assert [(claim["status"], claim["reason"]) for claim in told["claims"]] == [
        ("cited", ""),
        ("failed", "the calls it cites failed or were refused"),
        ("uncited", "this session has no finished tool call T9"),
        ("cited", ""),
        ("uncited", "it cites no tool call"),
    ]
    assert told["counts"] == {
        "proved": 0, "cited": 2, "denied": 0, "expired": 0,
        "failed": 1, "misquoted": 0, "uncited": 2,
        "words": "2 cited, 1 failed, 2 uncited",
    }  # fmt: skip
    first, *_, last = told["claims"]
    assert [call["is_cited"] for call in last["calls"]] == [False]
    (call,) = first["calls"]
    event = session.timeline_events.get(metadata__tool_number=1)
    assert call == {
        "number": 1, "event_id": str(event.pk), "server_name": "ops", "tool_name": "query",
        "is_error": False, "is_cited": True, "is_quoted": False, "is_of_check": False,
        "quote": event.content,
        "quote_start": 0, "quote_end": len(event.content),
    }  # fmt: skip
    assert [call["number"] for call in last["calls"]] == [1]


@pytest.mark.parametrize(
    ("sentence", "tool", "action", "status"),
    [
        ("The pod basket-7 ends with exit code 137", "knowledge", "recall", "cited"),
        ("An earlier session saw basket-7 end with 137", "knowledge", "recall", "proved"),
        ("The pod basket-7 ends with exit code 137", "alerts", "warnings", "proved"),
        ("The pod basket-7 ends with exit code 137", "query", "get", "proved"),
    ],
)
def test_what_was_only_recalled_proves_what_says_that_it_is(api, sentence, tool, action, status):
    report = f'## Evidence\n1. {sentence} [T1 "exit code 137"].\n'
    session = SessionFactory(completed=True, final_analysis=report)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    text = '{"text": "basket-7 ended with exit code 137"}'
    add_tool_call(execution, 1, text, tool_name=tool, arguments={"action": action})

    (claim,) = read(api, session)["claims"]

    assert claim["status"] == status


def test_a_quote_is_told_with_its_place_in_the_result_as_it_is_stored(api):
    report = """## Evidence
1. It was killed [T1 "exit_code: 137"].
2. It has 3 restarts [T1 "restarts: 3"].
3. It was verified [T3 "active since 08:54"].
"""
    session = make_session(report)
    (execution,) = session.executions.all()
    # What an agent was given is kept whole; of a long result a page shows less.
    kept = '{"padding": "' + "x" * 50_000 + '", "exit_code": 137}'
    MCPInteractionFactory(execution=execution, tool_number=1,
                          tool_result={"content": kept, "is_error": False})  # fmt: skip
    add_tool_call(execution, 3, "restarted", tool_name="control")
    MCPInteractionFactory(execution=execution, tool_number=None, tool_result={
        "content": "state: active since 08:54", "is_error": False, "check_of": 3,
    })  # fmt: skip

    told = read(api, session)

    assert told["counts"]["words"] == "2 proved, 1 misquoted"
    killed, restarts, verified = told["claims"]
    (call,) = killed["calls"]
    assert (call["is_quoted"], call["quote"]) == (True, 'exit_code": 137')
    assert kept[call["quote_start"] : call["quote_end"]] == call["quote"]
    assert (restarts["status"], restarts["reason"]) == (
        "misquoted", "T1 does not say \u201crestarts: 3\u201d",
    )  # fmt: skip
    assert [(call["is_of_check"], call["quote"]) for call in verified["calls"]] == [
        (True, "active since 08:54")
    ]


def test_a_headline_above_claims_that_cite_results_is_no_claim_of_its_own(api):
    (first, *_) = read(api, make_session())["claims"]

    assert first["text"] == "The pod basket-7 ended with exit code 137."


def test_a_headline_above_nothing_cited_is_uncited(api):
    report = (
        "## Conclusion\nMemory ran out during the sale. Confidence: high\n\n## Evidence\n1. None."
    )
    (headline, *_) = read(api, make_session(report))["claims"]

    assert headline["status"] == "uncited"


def test_what_the_review_marked_is_told_wherever_it_stands(api):
    report = REPORT + "\n## Next steps\n1. Restart basket-9.\n"
    spans = [("137", "number"), ("basket-9", "name")]
    named = [
        {"start": report.index(said), "end": report.index(said) + len(said), "text": said,
         "kind": kind, "reason": f"{said} is nowhere"}
        for said, kind in spans
    ]  # fmt: skip
    session = make_session(report, unsupported=named)
    head = "**Unverified:** ops.control has run.\n\n"
    AlertSession.objects.filter(pk=session.pk).update(final_analysis=head + report)

    told = read(api, session)

    marked = [claim for claim in told["claims"] if claim["unsupported"]]
    assert [(claim["text"], claim["status"], claim["reason"]) for claim in marked] == [
        ("The pod basket-7 ended with exit code 137.", "cited", "137 is nowhere"),
        ("basket-9", "uncited", "basket-9 is nowhere"),
    ]
    assert all((head + report)[c["start"] : c["end"]] == c["text"] for c in told["claims"])


def test_a_session_without_a_report_has_no_claims(api):
    session = SessionFactory(running=True)

    assert read(api, session) == {
        "session_id": str(session.pk), "claims": [],
        "counts": {"proved": 0, "cited": 0, "denied": 0, "expired": 0, "failed": 0, "misquoted": 0,
                   "uncited": 0, "words": "no claims"},
    }  # fmt: skip


def test_an_unknown_and_a_hidden_session_are_not_found(api):
    hidden = make_session()
    AlertSession.objects.filter(pk=hidden.pk).update(deleted_at="2026-01-01T00:00:00Z")

    for session_id in (hidden.pk, uuid.uuid4()):
        answer = api.get(f"/api/v1/sessions/{session_id}/evidence")
        assert answer.status_code == 404
        assert set(answer.json()) == {"message"}


def test_a_stranger_is_told_nothing(stranger):
    session = make_session()

    assert stranger.get(f"/api/v1/sessions/{session.pk}/evidence").status_code == 401


def test_the_number_of_queries_does_not_grow_with_the_claims(api, django_assert_max_num_queries):
    session = make_session(REPORT + REPORT.partition("## Evidence")[2] * 20)

    with django_assert_max_num_queries(10):
        read(api, session)
