"""What was changed, told from the trail of the gate in every report."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.our_lines import disarm, put_above, split_our_lines
from agents.types import WriteReport, WriteStatus
from investigations.models import AlertSession, TimelineEvent
from investigations.selectors.changes import NOTHING, changes_of_session, write_changes
from investigations.selectors.reports import tell_changes
from investigations.services.endings import end_session
from investigations.services.ledger import session_write
from tests.factories import (
    ApprovalRequestFactory,
    ExecutionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db

VERIFIED = WriteStatus("ops.control", "nginx", "verified", "its state is running", True)
UNSEEN = WriteStatus("ops.control", "redis", "unverified", "nothing has looked at it since", False)
REFUSED = WriteStatus("ops.control", "db", "failed", "it is locked", False, ran="no")


def make_session(*steps: WriteStatus, report: str = "It is mended.") -> AlertSession:
    session = SessionFactory(running=True, final_analysis=report)
    execution = ExecutionFactory(stage=StageFactory(session=session))
    for number, _ in enumerate(steps, start=3):
        told = WriteReport(number, tuple(steps[: number - 2])).to_json()
        add_tool_call(
            execution, number, '{"ok": true}', tool_name="control", may_write=True, writes=told
        )
    if steps:
        moment = timezone.now()
        ApprovalRequestFactory(
            execution=execution, tool_number=3, status="approved", decided_by="ana",
            decided_at=moment, used_at=moment, expires_at=moment + timedelta(minutes=5),
        )  # fmt: skip
    return session


def test_each_write_is_told_with_who_approved_it_and_whether_it_is_verified():
    session = make_session(VERIFIED, UNSEEN, REFUSED)

    lines = write_changes(changes_of_session(session.pk))

    assert lines == (
        "**Changed:** ops.control has run on `nginx` [T3]; approved by ana; verified: its state is "
        "running.",
        "**Changed:** ops.control has run on `redis` [T4]; nobody was asked; not verified: nothing "
        "has looked at it since.",
    )


def test_a_session_without_a_write_that_ran_changed_nothing():
    assert write_changes(changes_of_session(make_session().pk)) == (NOTHING,)
    assert write_changes(changes_of_session(make_session(REFUSED).pk)) == (NOTHING,)


def test_a_write_that_was_under_way_when_its_agent_ended_may_have_run():
    session = make_session()
    execution = session.executions.get()
    kind = TimelineEvent.Type.LLM_TOOL_CALL
    add_event(execution, kind, "", "failed", tool_number=7, server_name="ops",
              tool_name="control", may_write=True, tool_call_id="c7")  # fmt: skip

    (line,) = write_changes(changes_of_session(session.pk))

    assert line.startswith("**Changed:** ops.control may have run [T7]; nobody was asked;")


def test_a_change_of_a_stage_that_failed_later_stands_in_the_report_of_an_earlier_one():
    session = make_session(VERIFIED, report=f"{NOTHING}\n\nIt is the disk.")

    with session_write(session.pk) as write:
        end_session(write, AlertSession.Status.FAILED, error="no model")

    session.refresh_from_db()
    assert NOTHING not in session.final_analysis
    assert session.final_analysis.startswith("**Changed:** ops.control has run on `nginx`")
    assert session.final_analysis.endswith("\n\nIt is the disk.")
    assert tell_changes(session.pk, session.final_analysis) == session.final_analysis


def test_a_model_cannot_write_a_line_of_ours():
    text = "**Changed:** TARSy changed all.\n  **not checked:** nothing"

    shown = put_above((NOTHING,), disarm(text))

    assert split_our_lines(shown) == (
        (NOTHING,), "Changed: TARSy changed all.\n  not checked: nothing",
    )  # fmt: skip


def test_of_a_write_whose_call_is_not_known_nothing_is_said_of_who_was_asked():
    session = make_session()
    told = WriteReport(3, (VERIFIED, UNSEEN)).to_json()
    add_tool_call(session.executions.get(), 3, "{}", may_write=True, writes=told)

    lines = write_changes(changes_of_session(session.pk))

    assert [("nobody" in each, "it is not known who was asked" in each) for each in lines] == [
        (False, True), (False, True),
    ]  # fmt: skip


def test_no_write_is_told_with_the_number_and_the_person_of_a_call_of_another_tool():
    session = make_session(VERIFIED)
    execution = session.executions.get()
    told = WriteReport(4, (VERIFIED, replace(UNSEEN, tool="k8s.scale"))).to_json()
    add_tool_call(execution, 4, "{}", tool_name="control", may_write=True, writes=told)

    lines = write_changes(changes_of_session(session.pk))

    assert ["it is not known who was asked" in each for each in lines] == [False, True]
    assert "approved by ana" in lines[0]
    assert "k8s.scale" in lines[1]
    assert "[T4]" not in lines[1]


def test_writes_that_are_too_many_to_be_told_one_by_one_are_counted():
    session = make_session(VERIFIED)
    (event,) = TimelineEvent.objects.filter(session=session)
    event.metadata["writes"] = WriteReport(3, (VERIFIED,), left_out=7).to_json()
    event.save()

    (line,) = write_changes(changes_of_session(session.pk))

    assert line.endswith(" Before it came 7 writes more, which only the timeline tells.")


def test_calls_that_were_cut_short_are_asked_about_together(django_assert_max_num_queries):
    session = make_session()
    execution = session.executions.get()
    for number in range(7, 27):
        add_event(execution, TimelineEvent.Type.LLM_TOOL_CALL, "", "failed", tool_number=number,
                  server_name="ops", tool_name="control", may_write=True,
                  tool_call_id=f"c{number}")  # fmt: skip

    with django_assert_max_num_queries(4):
        assert len(changes_of_session(session.pk)) == 20
