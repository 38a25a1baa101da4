"""The trace of a session: what the page says before anything is opened, and each call opened."""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.test.utils import override_script_prefix
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agents.fencing import fence
from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Message,
    TimelineEvent,
)
from investigations.selectors.trace.bodies import PREVIEW
from investigations.selectors.trace.idle_times import find_idle
from investigations.selectors.trace.page import MANY, read_trace_page
from investigations.selectors.trace.scale import NARROWEST, TimeScale
from investigations.templatetags.display import part
from tests.factories import (
    ApprovalRequestFactory,
    AuditEventFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_event, add_model_call, add_traced_tool

pytestmark = pytest.mark.django_db
SCRIPT = {"X-Requested-With": "fetch"}


def _read(viewer, session, query="") -> str:
    answer = viewer.get(f"/sessions/{session.pk}/trace/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def _open(viewer, session, path) -> str:
    answer = viewer.get(f"/sessions/{session.pk}/trace/{path}", headers=SCRIPT)
    assert answer.status_code == 200
    return answer.content.decode()


def test_calls_stand_below_their_iteration_agent_and_stage_in_the_order_of_time(viewer, traced):
    page = _read(viewer, traced)

    order = ["1 Look", "inspector", "Iteration 1", "LLM call 1", 'id="T1"', "Iteration 2",
             "LLM call 2", 'id="T2"']  # fmt: skip
    places = [page.index(words) for words in order]
    assert places == sorted(places)


def test_a_page_carries_no_body_of_a_call(viewer, traced):
    page = _read(viewer, traced)

    assert "You investigate alerts." not in page
    assert "OOMKilled" not in page
    call = traced.llm_interactions.first()
    assert f'data-body="/sessions/{traced.pk}/trace/llm/{call.pk}/"' in page


def test_the_marks_around_text_from_outside_are_words(viewer, traced):
    message = Message.objects.filter(execution__session=traced, role="user").first()
    Message.objects.filter(pk=message.pk).update(content=fence("is <<<outside x", "alert data"))
    call = traced.llm_interactions.order_by("created_at").first()

    opened = _open(viewer, traced, f"llm/{call.pk}/")

    assert "[text from outside, alert data]\nis ‹‹‹outside x\n[end of text from outside]" in opened


def test_what_calls_took_and_cost_is_told_and_what_has_no_price_too(viewer, traced):
    page = _read(viewer, traced)

    assert "~$0.0340" in page
    assert '<span class="t-col-cost">–</span>' in page
    assert ">unpriced<" not in page
    assert '<b title="1 of 2 model calls have no price">~$0.03</b> + unpriced' in page
    assert "1.2k, 80" in page
    assert "0.41 s" in page


def test_the_filter_leaves_the_calls_that_failed_and_what_is_around_them(viewer, traced):
    page = _read(viewer, traced, "?show=errors")

    assert 'id="T2"' in page
    assert 'id="T1"' not in page
    assert "LLM call" not in page
    assert "Iteration 2" in page
    assert "Iteration 1" not in page
    assert re.search(r'aria-current="true">.*?Errors 1<', page, re.DOTALL)


@pytest.mark.parametrize(
    ("show", "has_models", "has_tools"), [("llm", True, False), ("tools", False, True),
                                          ("nonsense", True, True), ("all", True, True)],
)  # fmt: skip
def test_filters_are_addresses(viewer, traced, show, has_models, has_tools):
    page = _read(viewer, traced, f"?show={show}")

    assert ("LLM call 1" in page, 'id="T1"' in page) == (has_models, has_tools)


def test_short_calls_can_be_left_out_together_with_another_filter(viewer, traced):
    slow = traced.mcp_interactions.get(tool_number=1)
    slow.duration_ms = 12_000
    slow.save()

    page = _read(viewer, traced, "?longer=10")

    assert 'id="T1"' in page
    assert 'id="T2"' not in page
    assert "LLM call" not in page
    assert '<option value="10" selected>' in page
    assert "?show=tools&amp;longer=10" in page
    assert 'id="T1"' not in _read(viewer, traced, "?show=llm&longer=10")


@pytest.fixture
def two_stages(long) -> AlertSession:
    """The second stage takes half of the time."""
    end = long.started_at + timedelta(seconds=40)
    long.stages.update(started_at=long.started_at, completed_at=end)
    StageFactory(
        session=long, stage_name="Check", stage_index=2, status="completed",
        started_at=end, completed_at=end + timedelta(seconds=40),
    )  # fmt: skip
    return long


def test_the_time_of_one_stage_can_take_the_whole_scale(viewer, two_stages):
    whole = _read(viewer, two_stages)
    zoomed = _read(viewer, two_stages, "?stage=2")

    assert '<option value="2">Zoom to 2 Check</option>' in whole
    assert 'x="50.0%" y="3" width="50.0%"' in whole
    assert '<option value="2" selected>' in zoomed
    assert 'x="0.0%" y="3" width="100.0%"' in zoomed
    assert zoomed.count('id="stage-') == 1
    assert 'href="?' not in zoomed
    assert "?show=tools&amp;stage=2" in zoomed


def test_what_is_opened_in_a_zoomed_stage_is_drawn_to_its_scale(viewer, two_stages):
    execution = two_stages.executions.get()
    two_stages.mcp_interactions.filter(tool_number=7).update(duration_ms=0)
    opened = f"agents/{execution.pk}/7/"

    page = _read(viewer, two_stages, "?stage=1")

    assert f'data-body="/sessions/{two_stages.pk}/trace/{opened}?stage=1"' in page
    assert 'x="18.75%" y="3"' in _open(viewer, two_stages, opened)
    assert 'x="37.5%" y="3"' in _open(viewer, two_stages, f"{opened}?stage=1")


@pytest.mark.parametrize("stage", ["x", "-1", "77", "9" * 40])
def test_a_stage_that_there_is_not_leaves_the_whole_session(viewer, two_stages, stage):
    page = _read(viewer, two_stages, f"?stage={stage}")

    assert page.count('id="stage-') == 2


@pytest.mark.parametrize("longer", ["x", "-1", "\u0663", "9" * 40])
def test_a_duration_that_is_none_leaves_everything(viewer, traced, longer):
    assert 'id="T2"' in _read(viewer, traced, f"?longer={longer}")


def test_a_trace_without_errors_says_so(viewer, finished):
    assert "No call of this session failed" in _read(viewer, finished, "?show=errors")


def test_a_session_that_has_not_begun_has_a_page(viewer, db):
    assert "Nothing has run yet" in _read(viewer, SessionFactory())


def test_an_execution_that_failed_without_a_call_is_an_error(viewer, db):
    stage = StageFactory(session=SessionFactory(failed=True), failed=True)
    ExecutionFactory(stage=stage, failed=True, agent_name="keyless")

    page = _read(viewer, stage.session, "?show=errors")

    assert "keyless" in page
    assert "The model provider refused the key (401)." in page


def test_failed_attempts_and_other_models_stand_between_the_calls(viewer, traced):
    execution = traced.executions.get()
    add_event(execution, TimelineEvent.Type.ERROR, "529 overloaded. Trying again in 2 s.")
    add_event(execution, TimelineEvent.Type.PROVIDER_FALLBACK, "small goes on in place of large.")

    page = _read(viewer, traced)

    assert "529 overloaded. Trying again in 2 s." in page
    assert "Another model took over" in page


# ---- Opened --------------------------------------------------------------------------------------


def test_a_model_call_shows_the_whole_conversation_and_what_was_new_in_it(viewer, traced):
    first, second = traced.llm_interactions.order_by("created_at")

    opened = _open(viewer, traced, f"llm/{second.pk}/")

    assert "3 messages that the model had been asked before" in opened
    shown_earlier = opened[: opened.index("tool T1")]
    for role in ("system", "user", "assistant"):
        assert f'<span class="t-msg-role">{role}</span>' in shown_earlier
    assert "OOMKilled" not in shown_earlier
    assert opened.index("tool T1") < opened.index("OOMKilled") < opened.index("It is the memory.")
    # Not yet said when the first call was made.
    assert "It is the memory." not in _open(viewer, traced, f"llm/{first.pk}/")


def test_an_earlier_message_comes_whole_as_plain_text(viewer, traced):
    second = traced.llm_interactions.order_by("created_at").last()

    answer = viewer.get(f"/sessions/{traced.pk}/trace/llm/{second.pk}/messages/1/")

    assert answer.content.decode() == "You investigate alerts. " * 200
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_message_behind_the_answer_is_not_part_of_the_call(viewer, traced):
    first = traced.llm_interactions.order_by("created_at").first()

    assert viewer.get(f"/sessions/{traced.pk}/trace/llm/{first.pk}/messages/4/").status_code == 404


def test_a_result_that_the_model_got_in_short_form_is_told(viewer, traced):
    second = traced.llm_interactions.order_by("created_at").last()
    second.llm_request = {**second.llm_request, "compacted": [1]}
    second.save()

    assert "was given this result in short form" in _open(viewer, traced, f"llm/{second.pk}/")


def test_what_a_summarizer_was_asked_is_shown_from_its_call(viewer, traced):
    conversation = [{"role": "user", "content": "Sum this up"},
                    {"role": "assistant", "content": "It is short"}]  # fmt: skip
    call = LLMInteractionFactory(
        execution=traced.executions.get(), interaction_type="summarization",
        llm_request={"conversation": conversation},
    )  # fmt: skip

    opened = _open(viewer, traced, f"llm/{call.pk}/")

    assert opened.index("Sum this up") < opened.index("It is short")
    whole = viewer.get(f"/sessions/{traced.pk}/trace/llm/{call.pk}/messages/2/")
    assert whole.content == b"It is short"


def test_a_tool_call_shows_arguments_result_and_what_the_gate_did(viewer, traced):
    call = traced.mcp_interactions.get(tool_number=1)
    about = {"session": str(traced.pk), "execution": str(call.execution_id), "call": 1}
    for action, facts in (
        ("call.propose", {"class": "write"}),
        ("call.start", {"target": "deployment:basket", "hash": "7f31"}),
        ("call.end", {"outcome": "done"}),
        ("call.verify", {"status": "verified"}),
    ):
        AuditEventFactory(action=action, target_id=str(traced.pk), details={**about, **facts})

    opened = _open(viewer, traced, f"tools/{call.pk}/")

    assert '<dt>namespace</dt><dd class="t-pre">checkout</dd>' in opened
    assert "&quot;reason&quot;: &quot;OOMKilled&quot;" in opened
    acts = opened[opened.index("What the safety gate did") :]
    order = ["Proposed", "Let through", "deployment:basket", "Ended", "Effect looked at"]
    places = [acts.index(words) for words in order]
    assert places == sorted(places)
    assert f'href="/sessions/{traced.pk}/#T1"' in opened
    page = _read(viewer, traced)
    assert '<span class="t-tag">write</span>' in page


def test_a_refused_call_says_why_in_words_in_its_row(viewer, traced):
    execution = traced.executions.get()
    details = {"session": str(traced.pk), "execution": str(execution.pk), "call": 2,
               "code": "STRICT_RESOLUTION", "reason": "No such resource."}  # fmt: skip
    AuditEventFactory(action="call.block", target_id=str(traced.pk), details=details)

    page = _read(viewer, traced)
    assert "STRICT_RESOLUTION" not in page
    assert "what it means to act on has not been found exactly: No such resource." in page


def test_an_answer_that_the_gate_held_back_has_a_row_of_its_own(viewer, traced):
    execution = traced.executions.get()
    details = {"session": str(traced.pk), "execution": str(execution.pk), "call": None,
               "reason": "It claims a restart that no tool made."}  # fmt: skip
    AuditEventFactory(action="answer.block", target_id=str(traced.pk), details=details)

    page = _read(viewer, traced, "?show=errors")

    assert "Answer held back" in page
    assert "It claims a restart that no tool made." in page


def test_the_wait_for_a_person_and_the_decision_stand_in_their_place(viewer, traced):
    execution = traced.executions.get()
    call = execution.mcp_interactions.get(tool_number=2)
    approval = ApprovalRequestFactory(
        execution=execution, approved=True, decided_by="ana", tool_number=2,
        created_at=call.created_at - timedelta(seconds=100),
        decided_at=call.created_at - timedelta(seconds=10),
    )  # fmt: skip
    AuditEventFactory(
        actor="ana", action="approval.approve", target_type="approval", target_id=str(approval.pk),
        details={"call": 2, "reason": "Buys time."},
    )  # fmt: skip

    page = _read(viewer, traced)

    assert "Approved by ana" in page
    assert "1:30" in page
    assert "Buys time." in page
    assert 'class="b-you"' in page
    # Who was waited for is shown among the tool calls, and is none.
    assert read_trace_page(traced).counts["tools"] == 2


def test_a_running_session_that_waits_for_a_person_is_called_so_as_on_its_timeline(viewer, db):
    session = SessionFactory(running=True)
    stage = StageFactory(session=session, active=True)
    approval = ApprovalRequestFactory(execution=ExecutionFactory(stage=stage, active=True))

    waiting = _read(viewer, session)

    type(approval).objects.update(status="denied", decided_at=timezone.now())
    assert "Needs approval" in waiting
    assert "Needs approval" not in _read(viewer, session)


def test_a_long_result_comes_cut_and_whole_on_request(viewer, traced):
    call = traced.mcp_interactions.get(tool_number=1)
    call.tool_result = {"content": "x" * 50_000, "is_error": False}
    call.save()

    opened = _open(viewer, traced, f"tools/{call.pk}/")

    assert "x" * PREVIEW in opened
    assert "x" * (PREVIEW + 1) not in opened
    assert "of 50 kB are shown" in opened
    whole = viewer.get(f"/sessions/{traced.pk}/trace/tools/{call.pk}/result/")
    assert whole.content == b"x" * 50_000


def test_raw_arguments_are_the_json_that_is_kept(viewer, traced):
    call = traced.mcp_interactions.get(tool_number=1)

    raw = viewer.get(f"/sessions/{traced.pk}/trace/tools/{call.pk}/arguments/").content

    assert json.loads(raw) == call.tool_arguments


def test_without_a_script_a_call_is_a_page_of_its_own(viewer, traced):
    call = traced.mcp_interactions.first()

    page = viewer.get(f"/sessions/{traced.pk}/trace/tools/{call.pk}/").content.decode()

    assert "Back to the trace of" in page
    assert f"/sessions/{traced.pk}/trace/#tool-{call.pk}" in page


@pytest.mark.parametrize("path", ["llm/{llm}/", "llm/{llm}/messages/1/", "tools/{tool}/",
                                  "tools/{tool}/result/", "tools/{tool}/arguments/",
                                  "agents/{agent}/1/"])  # fmt: skip
def test_a_call_is_found_below_its_own_session_only(viewer, traced, finished, path):
    place = path.format(
        llm=traced.llm_interactions.last().pk,
        tool=traced.mcp_interactions.first().pk,
        agent=traced.executions.get().pk,
    )

    assert viewer.get(f"/sessions/{traced.pk}/trace/{place}").status_code == 200
    assert viewer.get(f"/sessions/{finished.pk}/trace/{place}").status_code == 404
    assert viewer.get(f"/sessions/{uuid.uuid4()}/trace/{place}").status_code == 404


def test_strangers_see_nothing_of_a_trace(settings, client, traced):
    settings.TARSY_AUTH = "local"
    call = traced.mcp_interactions.first()

    for place in ("", f"tools/{call.pk}/", f"tools/{call.pk}/result/"):
        assert client.get(f"/sessions/{traced.pk}/trace/{place}").status_code == 302


# ---- Many ----------------------------------------------------------------------------------------


@pytest.fixture
def long(db: None) -> AlertSession:
    """Forty iterations, an error in the third."""
    session = SessionFactory(completed=True)
    stage = StageFactory(session=session, completed=True)
    execution = ExecutionFactory(stage=stage, completed=True)
    for n in range(1, 41):
        add_model_call(execution, iteration=n, at=session.started_at + timedelta(seconds=2 * n))
        add_traced_tool(
            execution, n, "x" * 20_000, is_error=n == 3,
            at=session.started_at + timedelta(seconds=2 * n + 1),
        )  # fmt: skip
    return session


def test_of_many_iterations_only_those_with_an_error_come_with_their_calls(viewer, long):
    page = _read(viewer, long)
    execution = long.executions.get()

    assert page.count("data-iteration") == 40
    assert page.count("LLM call") == 1
    assert f'data-body="/sessions/{long.pk}/trace/agents/{execution.pk}/7/"' in page
    assert re.search(r'data-holds="[^"]*\bT7\b', page)
    assert 'id="T7"' in _open(viewer, long, f"agents/{execution.pk}/7/")
    assert MANY < 40


def test_the_number_of_queries_does_not_grow_with_the_calls(
    viewer, traced, long, django_assert_max_num_queries
):
    for session in (traced, long):
        with django_assert_max_num_queries(16):
            _read(viewer, session)
    last = long.llm_interactions.order_by("created_at").last()
    with django_assert_max_num_queries(10):
        _open(viewer, long, f"llm/{last.pk}/")


def test_an_opened_call_stays_small_however_long_its_conversation_is(viewer, long):
    execution = long.executions.get()
    rows = [
        Message(
            session=long, stage=execution.stage, execution=execution, sequence_number=n,
            role="assistant" if n % 2 else "tool", content="y" * 20_000,
        )
        for n in range(1, 82)
    ]  # fmt: skip
    Message.objects.bulk_create(rows)
    last = long.llm_interactions.order_by("created_at").last()
    last.last_message_id = rows[-1].pk
    last.save()

    assert len(_open(viewer, long, f"llm/{last.pk}/")) < 150_000


def test_parts_of_a_session_have_the_addresses_that_the_routes_say(long):
    call = long.mcp_interactions.first()

    assert part("trace-tool", long.pk, call.pk) == reverse("trace-tool", args=[long.pk, call.pk])
    with override_script_prefix("/tarsy/"):
        address = part("event-content", long.pk, call.pk)
    assert address == f"/tarsy/sessions/{long.pk}/events/{call.pk}/content/"


def test_iterations_keep_their_order_where_one_between_them_stands_open(viewer, long):
    page = _read(viewer, long)

    places = re.findall(r'id="agent-[0-9a-f-]{36}-([0-9]+)"', page)
    assert places == [str(n) for n in range(1, 41)]


# ---- Hostile -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</div></details><b hx-get='/x'>",
    ],
)
def test_text_from_outside_stays_text_wherever_it_stands(viewer, traced, hostile):
    execution = traced.executions.get()
    message = MessageFactory(
        execution=execution, sequence_number=9, content=hostile,
        tool_calls=[{"id": "1", "name": hostile, "arguments": hostile}],
    )  # fmt: skip
    model = LLMInteractionFactory(
        execution=execution, iteration=3, model_name=hostile, error_message=hostile,
        thinking_content=hostile, last_message_id=message.pk, llm_response={hostile: hostile},
    )  # fmt: skip
    tool = MCPInteractionFactory(
        execution=execution, server_name=hostile, tool_name=hostile, tool_number=3,
        tool_arguments={hostile: hostile}, tool_result={"content": hostile}, error_message=hostile,
    )  # fmt: skip
    AuditEventFactory(
        actor=hostile, action="call.block", target_id=str(traced.pk),
        details={"execution": str(execution.pk), "call": 3, "code": hostile, hostile: hostile},
    )  # fmt: skip
    add_event(execution, TimelineEvent.Type.ERROR, hostile)

    pages = [_read(viewer, traced), _open(viewer, traced, f"llm/{model.pk}/"),
             _open(viewer, traced, f"tools/{tool.pk}/")]  # fmt: skip

    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b hx-get" not in page
        assert "&lt;" in page


def test_the_trace_keeps_the_strict_policy(viewer, traced):
    answer = viewer.get(f"/sessions/{traced.pk}/trace/")

    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert " style=" not in answer.content.decode()
    assert " onclick=" not in answer.content.decode()


# ---- The scale -----------------------------------------------------------------------------------

moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31))  # noqa: DTZ001
spans = st.tuples(moments, moments).map(lambda pair: (min(pair), max(pair)))


@given(st.lists(spans, max_size=6), spans)
def test_a_bar_is_visible_and_stays_within_the_scale(stages, work):
    bar = TimeScale(stages).bar(*work)

    assert 0 <= bar.start <= 100
    assert bar.width >= NARROWEST - 0.01
    assert bar.start + bar.width <= 100.01


@given(st.lists(spans, min_size=1, max_size=6))
def test_the_scale_counts_each_moment_of_work_once_and_none_in_between(stages):
    scale = TimeScale(stages)

    longest = max((end - start).total_seconds() for start, end in stages)
    together = sum((end - start).total_seconds() for start, end in stages)
    assert longest <= scale.seconds + 1e-6
    assert scale.seconds <= together + 1e-6


BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


@given(st.lists(spans, min_size=1, max_size=6), st.lists(spans, max_size=6), spans, moments)
def test_waiting_moves_no_bar_before_another_and_takes_a_fifth_at_most(stages, idle, work, moment):
    scale = TimeScale(stages, idle)

    start, end = work
    middle = min(max(start, moment), end)
    assert scale.bar(start, middle).start <= scale.bar(middle, end).start + 0.01
    assert scale.seconds == pytest.approx(TimeScale(stages).seconds)
    assert list(scale.ticks) == sorted(scale.ticks)


def idle_times(session: AlertSession, now: datetime) -> list[tuple[datetime, datetime]]:
    agents = AgentExecution.objects.filter(session=session)
    return find_idle(agents, ApprovalRequest.objects.filter(session=session), now)


def test_an_hour_until_a_person_decides_leaves_the_work_its_room(running):
    running.executions.update(started_at=at(0))
    ApprovalRequestFactory(
        execution=running.executions.get(), tool_number=1, status="denied",
        created_at=at(20), decided_at=at(3620),
    )  # fmt: skip

    scale = TimeScale([(at(0), at(3640))], idle_times(running, at(3640)))

    assert scale.has_short_waits
    assert scale.bar(at(0), at(20)) == (0, 40)
    assert scale.bar(at(20), at(3620)) == (40, 20)
    assert scale.ticks[-1] == 3640


def test_waiting_is_no_idle_time_while_another_agent_works(running):
    execution = running.executions.get()
    running.executions.update(started_at=at(0))
    ExecutionFactory(stage=execution.stage, completed=True, started_at=at(0), completed_at=at(30))
    ApprovalRequestFactory(execution=execution, tool_number=1, created_at=at(10))

    assert idle_times(running, at(100)) == [(at(30), at(100))]


def test_hours_between_two_questions_take_no_room(db):
    session = SessionFactory(completed=True)
    for hours in (0, 20):
        start = session.started_at + timedelta(hours=hours)
        StageFactory(
            session=session, status="completed", started_at=start,
            completed_at=start + timedelta(seconds=60),
        )  # fmt: skip

    scale = read_trace_page(session).scale

    assert scale.seconds == 120
    assert scale.has_gaps


def test_the_axis_says_what_is_left_out_or_drawn_shorter(viewer, traced, running):
    later = traced.started_at + timedelta(hours=20)
    StageFactory(session=traced, status="completed", started_at=later, completed_at=later)
    now = timezone.now()
    running.executions.update(started_at=now - timedelta(seconds=3640))
    running.stages.update(started_at=now - timedelta(seconds=3640))
    ApprovalRequestFactory(
        execution=running.executions.get(), tool_number=1, status="denied",
        created_at=now - timedelta(seconds=3620), decided_at=now - timedelta(seconds=20),
    )  # fmt: skip

    assert "Time in which nothing ran is left out." in _read(viewer, traced)
    assert "Waiting for a person is drawn shorter than it was." in _read(viewer, running)


def test_the_head_says_the_same_as_that_of_the_timeline(viewer, finished):
    finished.source, finished.severity, finished.author = "alertmanager", "critical", "poster"
    finished.service = "shop-web"
    finished.save()
    shown = re.compile(r'<h1.*?</h1>|<span class="t-not-phone">from .*?</span>', re.DOTALL)

    heads = [
        shown.findall(viewer.get(f"/sessions/{finished.pk}/{view}").content.decode())
        for view in ("", "trace/")
    ]

    assert heads[0] == heads[1]
    assert "critical" in "".join(heads[0])
    assert "from Alertmanager" in "".join(heads[0])


def test_a_running_session_is_traced_until_now(db):
    start = timezone.now() - timedelta(seconds=30)
    session = SessionFactory(running=True, started_at=start)
    StageFactory(session=session, active=True, started_at=start)

    assert 29 <= read_trace_page(session).scale.seconds < 300


def test_hashes_are_shown_by_their_ends_and_it_is_said_what_each_is_of(viewer, traced):
    execution = traced.executions.get()
    about = {"session": str(traced.pk), "execution": str(execution.pk), "call": 1}
    of_arguments, of_all = "a1b2" * 16, "c3d4" * 16
    for action, facts in (
        ("call.propose", {"arguments_hash": of_arguments}),
        ("call.start", {"hash": of_all}),
    ):
        AuditEventFactory(action=action, target_id=str(traced.pk), details={**about, **facts})
    call = traced.mcp_interactions.get(tool_number=1)

    opened = _open(viewer, traced, f"tools/{call.pk}/")

    assert "hash of its arguments" in opened
    assert "hash of the whole write" in opened
    assert "a1b2a1b2…a1b2<" in opened
    assert f'title="{of_all}"' in opened
    assert f'data-copy-text="{of_all}"' in opened
    assert "The second is of the whole write that an approval is bound to" in opened
