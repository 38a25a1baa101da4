"""A passage that was marked in an agent's report stays marked where a synthesis repeats it."""

import pytest

from investigations.models import Stage, TimelineEvent
from investigations.selectors.claims import judge_report
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db

OWN = "1. Errors are at 0.1 % of requests [T1]. Nothing else was seen."
REASON = "no result gives 0.1 %"


def _make(synthesis: str, *, marked: bool = True):
    session = SessionFactory(completed=True, final_analysis=synthesis)
    first = StageFactory(session=session, completed=True)
    execution = ExecutionFactory(stage=first)
    add_tool_call(execution, 1, "errors: 3 of 1,000 requests")
    place = OWN.index("0.1 %")
    named = {"start": place, "end": place + 5, "text": "0.1 %", "kind": "number", "reason": REASON}
    kind = TimelineEvent.Type.FINAL_ANALYSIS
    add_event(execution, kind, OWN, **({"unsupported": [named]} if marked else {}))
    second = StageFactory(
        session=session, completed=True, stage_index=2, stage_type=Stage.Type.SYNTHESIS
    )
    add_event(ExecutionFactory(stage=second), kind, synthesis, claims={})
    return session


REPORT = """## Conclusion
It is healthy. Confidence: high

## Evidence
- Errors are at 0.1 % of requests [T1].
- Latency is flat [T1].
"""


def test_what_an_agent_said_without_support_is_marked_in_the_synthesis_that_repeats_it():
    judged = judge_report(_make(REPORT).pk, REPORT)

    (mark,) = judged.marks
    assert REPORT[mark.start : mark.end] == "0.1 %"
    assert mark.reason == REASON
    assert [each.reason for each in judged.claims] == [REASON, ""]


@pytest.mark.parametrize(
    "report",
    [
        REPORT.replace("0.1 %", "0.3 %"),
        # Proved since, by the words of a result.
        REPORT.replace("[T1].", '[T1 "3 of 1,000 requests"].', 1),
    ],
)
def test_what_is_said_otherwise_or_proved_is_not(report):
    assert judge_report(_make(report).pk, report).marks == ()
