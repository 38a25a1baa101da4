import re
import uuid

import pytest

from agents.report import parse_report
from investigations.models import AlertSession, Event, LLMInteraction, Stage, TimelineEvent
from investigations.selectors.claims import ReportClaims
from investigations.selectors.session_page.conclusions import build_card
from investigations.selectors.session_page.page import LATEST
from safety.grounding.withholding import WITHHELD
from tests.factories import (
    ApprovalRequestFactory,
    EventFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import REPORT, add_event, add_model_call, add_tool_call

pytestmark = pytest.mark.django_db


def _read(viewer, session) -> str:
    answer = viewer.get(f"/sessions/{session.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_unknown_session_is_not_found(viewer):
    answer = viewer.get(f"/sessions/{uuid.uuid4()}/")

    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()


def test_the_conclusion_comes_before_the_timeline(viewer, finished):
    page = _read(viewer, finished)

    assert "The basket service passes its memory limit." in page
    assert "High confidence, with gaps in its evidence." in page
    assert page.index('id="conclusion"') < page.index('id="timeline"')


def test_a_report_that_tells_of_an_act_that_never_was_is_not_said_to_be_sure(viewer, finished):
    AlertSession.objects.filter(pk=finished.pk).update(
        final_analysis=finished.final_analysis.replace("It ", f"{WITHHELD} It ") + f"\n\n{WITHHELD}"
    )

    page = _read(viewer, finished)

    assert "High confidence" not in page
    assert "its confidence counts for nothing" in page


def test_stages_that_sum_up_others_have_no_number(viewer, finished):
    for index, (name, kind) in enumerate(
        [("Investigate - Synthesis", "synthesis"), ("verify", "investigation")], start=2
    ):
        StageFactory(session=finished, stage_index=index, stage_name=name, stage_type=kind)

    page = _read(viewer, finished)

    head = r'(?:stage-n" aria-hidden="true">(\d)</span>\s*)?<h2 class="t-stage-t">([^<]*)</h2>'
    assert re.findall(head, page) == [
        ("1", "Investigate"), ("", "Investigate: synthesis"), ("2", "Verify"),
    ]  # fmt: skip


def test_an_agent_that_has_begun_gets_its_tools_ready_before_it_asks_a_model(viewer, running):
    execution = running.executions.get()
    execution.timeline_events.all().delete()

    page, listed = _read(viewer, running), viewer.get("/").content.decode()

    assert "Getting its tools ready" in page
    assert f'id="since-{execution.pk}"' in page
    assert "getting tools ready" in listed


def test_claims_show_their_evidence_or_its_absence(viewer, finished):
    page = _read(viewer, finished)

    assert 'href="#T1"' in page
    assert '<span id="claim-counts">1 cited, 1 uncited.</span>' in page
    assert page.count("</svg>Uncited</span>") == 1
    assert "From the alert" in page


QUOTING = """## Conclusion
The pod basket-7 was killed. Confidence: high

## Evidence
1. It ended with exit code 137 [T1 "exit_code: 137"].
2. It has 3 restarts [T1 "restarts: 3"].

## Next steps
1. Look at `[T1 "x"]`.
"""


def test_a_quote_that_the_result_has_not_is_told_wherever_the_report_stands(viewer):
    session = SessionFactory(completed=True, final_analysis=QUOTING)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, '{"pod": "basket-7", "exit_code": 137}')
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, QUOTING)

    page = _read(viewer, session)

    assert '<span id="claim-counts">1 proved, 1 misquoted.</span>' in page
    assert "</svg>Misquoted</span>" in page
    assert page.count('class="t-ev t-ev--said" href="#T1" data-quote="exit_code: 137"') >= 2
    assert 'class="t-ev t-ev--not" href="#T1" data-quote="restarts: 3"' in page
    assert "of the report are counted" not in page
    # In what is copied as Markdown as well.
    assert page.count("Claims: 1 proved, 1 misquoted.") == 2


@pytest.mark.parametrize(
    ("decision", "word"), [("denied", "denied"), ("expired", "expired"), ("approved", "failed")]
)
def test_what_nobody_let_run_stands_as_that_and_is_no_gap_in_the_evidence(viewer, decision, word):
    analysis = """## Conclusion
The pod basket-7 was killed. Confidence: high

## Evidence
1. It ended with exit code 137 [T1 "exit_code: 137"].
2. The restart did not run [T2].
"""
    session = SessionFactory(completed=True, final_analysis=analysis)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, '{"pod": "basket-7", "exit_code": 137}')
    add_tool_call(execution, 2, "Command denied: no reason was given.", is_error=True)
    request = ApprovalRequestFactory(execution=execution, tool_number=2)

    assert "1 proved, 1 failed." in _read(viewer, session)
    request.status, request.decided_by = decision, "" if decision == "expired" else "ana"
    request.decided_at = request.created_at
    request.save()
    page = _read(viewer, session)

    assert f'<span id="claim-counts">1 proved, 1 {word}.</span>' in page
    if word != "failed":
        assert "High confidence in the conclusion." in page
        assert f'<span class="t-state">{word.capitalize()}</span>' in page
        assert "nothing backs" not in page


def test_a_tally_of_more_claims_than_are_numbered_says_what_it_counts(viewer):
    said = 'It ended with exit code 137 [T1 "exit_code: 137"]. It was basket-7 [T1 "basket-7"].'
    analysis = f"## Conclusion\nIt was killed. Confidence: high\n\n## Evidence\n1. {said}\n"
    session = SessionFactory(completed=True, final_analysis=analysis)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, '{"pod": "basket-7", "exit_code": 137}')

    page = _read(viewer, session)

    assert page.count('class="t-claim"') == 1
    assert '<span id="claim-counts">2 proved.</span>' in page
    assert "2 in the numbered ones; one may hold several." in page


def test_a_tally_says_where_what_it_counts_stands_and_an_uncited_line_is_marked_there(viewer):
    analysis = (
        "## Conclusion\nIt was killed. Confidence: high\n\n"
        '## Evidence\n1. It ended with exit code 137 [T1 "exit_code: 137"].\n\n'
        '## Ruled out\n- Another pod: it was basket-7 [T1 "basket-7"].\n- The disk is not full.\n'
    )
    session = SessionFactory(completed=True, final_analysis=analysis)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, '{"pod": "basket-7", "exit_code": 137}')

    page = _read(viewer, session)

    assert '<span id="claim-counts">2 proved, 1 uncited.</span>' in page
    assert "1 in the numbered ones and 2 under Ruled out." in page
    (ruled_out,) = re.findall(r"<h3>Ruled out</h3>.*?</ul>", page, re.DOTALL)
    marks = ["t-unsup-mark" in line for line in ruled_out.split("<li>")[1:]]
    assert marks == [False, True]


def test_a_chip_opens_the_result_where_the_quote_stands(viewer):
    session = SessionFactory(completed=True)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, "a" * 5_000 + " <b>exit_code</b>: 137 \u202e" + "b" * 5_000)
    address = f"/sessions/{session.pk}/calls/1/quote/"

    found = viewer.get(address, {"q": "<B>exit_code</B>: 137"}).content.decode()
    missing = viewer.get(address, {"q": "<i>exit_code"}).content.decode()

    assert '<mark id="quote-T1">&lt;b&gt;exit_code&lt;/b&gt;: 137</mark> [U+202E]bbb' in found
    assert "characters 5,001 to 5,022 of" in found.replace("5001", "5,001").replace("5022", "5,022")
    assert len(found) < 5_000
    assert "T1 does not say" in missing
    assert "<i>" not in missing
    assert viewer.get(f"/sessions/{session.pk}/calls/9/quote/?q=x").status_code == 200
    assert viewer.get(f"/sessions/{uuid.uuid4()}/calls/1/quote/?q=x").status_code == 404


def test_a_command_of_a_next_step_can_be_copied(viewer, finished):
    page = _read(viewer, finished)

    assert "Raise the limit" in page
    assert page.count("kubectl set resources deploy/basket --limits=memory=1Gi</code>") == 2


@pytest.mark.parametrize(
    ("step", "command"),
    [
        ("Run `kubectl get pods` now.", "kubectl get pods"),
        ("Look in `web` for what begins with `SELECT 1 FROM carts`.", "SELECT 1 FROM carts"),
        ("Restart `web` and then `worker`.", ""),
        ("Compare `df -h` with `df -i`.", ""),
    ],
)
def test_only_what_stands_between_backticks_is_a_command(step, command):
    card = build_card(f"## Conclusion\nIt was X.\n\n## Next steps\n1. {step}", ReportClaims())

    assert card is not None
    assert card.next_steps[0].command == command


def test_a_line_of_ours_is_shown_without_the_marks_of_markdown():
    line = r"**Changed:** ops.control has run on `web`; verified: data.is\_well is true."
    card = build_card(f"{line}\n\n## Conclusion\nIt was X.\n\n## Evidence\n1. X.", ReportClaims())

    assert card is not None
    assert card.ours[0].text.endswith("on web; verified: data.is_well is true.")


def test_a_copied_summary_says_what_was_changed_who_approved_it_and_what_verified_it(viewer):
    changed = (
        r"**Changed:** ops.control has run on `web` [T3]; approved by ana; verified: is\_well."
    )
    report = f"{changed}\n\n## Conclusion\nIt was X.\n\n## Evidence\n1. X."
    session = SessionFactory(completed=True, final_analysis=report)

    copied = _read(viewer, session).split('id="summary-text" hidden>')[1].split("</div>")[0]

    line = "**Changed:** ops.control has run on web [T3]; approved by ana; verified: is_well."
    assert line in copied.split("\n")


def test_a_report_without_the_shape_is_shown_as_it_is(viewer):
    session = SessionFactory(completed=True, final_analysis="It was **the disk**.")

    assert "It was <strong>the disk</strong>." in _read(viewer, session)


@pytest.mark.parametrize("report", ["It was **the disk**.", REPORT])
def test_what_an_earlier_stage_found_is_not_called_the_conclusion_of_a_running_session(
    viewer, running, report
):
    running.final_analysis = report
    running.save()

    page = _read(viewer, running)

    assert 'id="concl-h">Found so far</h2>' in page
    assert "Not the conclusion yet.</b>" in page
    assert "Investigate ends when inspector is done" in page


def test_markup_of_a_report_is_read_and_never_shown_wherever_its_words_stand(viewer):
    said = r"The pod `shop/cart` has no selector \{app\}."
    report = REPORT.replace(parse_report(REPORT).conclusion, said)
    session = SessionFactory(running=True, final_analysis=report)
    execution = ExecutionFactory(
        stage=StageFactory(session=session, stage_name="Look", completed=True), completed=True
    )
    links = [{"kind": "pod", "name": "shop/cart", "says": said, "calls": []}] * 2
    rules = {"causes": [{"chain": links}]}
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, report, rules=rules)
    over = SessionFactory(completed=True, final_analysis=report)

    page, rows = _read(viewer, session), viewer.get("/").content.decode()

    plain = "The pod shop/cart has no selector {app}."
    assert f"<b>Found so far:</b> <span>{plain}</span>" in page
    assert f'<p class="t-stage-line">{plain}</p>' in page
    assert page.count("<p>The pod <code>shop/cart</code> has no selector {app}.</p>") >= 2
    assert f'<span class="t-cell-sub">{plain}</span>' in rows
    assert f"/sessions/{over.pk}/" in rows


def test_agents_stand_side_by_side_with_their_tool_calls(viewer, finished):
    page = _read(viewer, finished)

    assert "2 agents side by side" in page
    assert page.count('class="t-agent"') == 2
    assert 'id="T1"' in page
    assert "kind=pods namespace=checkout" in page
    assert "~$0.50" in page


def test_a_running_session_can_be_cancelled_and_continues_from_its_last_event(viewer, running):
    page = _read(viewer, running)

    assert f'data-last-seq="{running.last_seq}"' in page
    assert 'data-live="1"' in page
    assert "No conclusion yet." in page
    assert "Investigate ends when inspector is done" in page
    assert f'action="/sessions/{running.pk}/cancel/"' in page


def test_cancelling_is_told_to_the_service_with_the_name_of_who_asked(viewer, running, monkeypatch):
    told = []
    monkeypatch.setattr(
        "investigations.views.sessions.cancel_session", lambda pk, actor: told.append((pk, actor))
    )

    answer = viewer.post(f"/sessions/{running.pk}/cancel/")

    assert answer.url == f"/sessions/{running.pk}/"
    assert told[0][0] == running.pk
    assert told[0][1].startswith("engineer-")


def test_cancelling_what_has_ended_changes_nothing(viewer, finished):
    answer = viewer.post(f"/sessions/{finished.pk}/cancel/")

    assert answer.status_code == 302
    finished.refresh_from_db()
    assert finished.status == "completed"


def test_a_queued_session_is_cancelled_at_once(viewer):
    session = SessionFactory()

    viewer.post(f"/sessions/{session.pk}/cancel/")

    session.refresh_from_db()
    assert session.status == "cancelled"


def test_a_failed_session_shows_the_reason_and_the_last_finding_as_such(viewer):
    session = SessionFactory(failed=True)
    stage = StageFactory(session=session, completed=True)
    execution = ExecutionFactory(stage=stage, completed=True)
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, "The queue stands still.")

    page = _read(viewer, session)

    assert "The model provider refused the key (401)." in page
    assert "Last finding, not a conclusion" in page


@pytest.mark.parametrize(("provider", "is_told"), [("rehearsal", True), ("openai", False)])
def test_scripted_answers_are_called_that(viewer, provider, is_told):
    stage = StageFactory(active=True)
    ExecutionFactory(stage=stage, active=True, llm_provider=provider)

    assert ("Scripted answers." in _read(viewer, stage.session)) is is_told


def test_a_scripted_answer_to_a_question_does_not_make_the_investigation_scripted(viewer, finished):
    chat = StageFactory(session=finished, stage_type=Stage.Type.CHAT, stage_index=9, completed=True)
    answer = ExecutionFactory(stage=chat, completed=True, llm_provider="rehearsal")
    LLMInteractionFactory(execution=answer, estimated_cost_usd=None)

    page = _read(viewer, finished)

    assert "Scripted answers." not in page
    assert "Scripted answer</span>" in page
    assert ">unpriced<" not in page


def test_scripted_answers_take_no_tokens_and_no_money_wherever_either_is_told(viewer, finished):
    LLMInteraction.objects.filter(session=finished).update(
        input_tokens=0, output_tokens=0, total_tokens=0, estimated_cost_usd=0.0
    )

    for page in (f"/sessions/{finished.pk}/", f"/sessions/{finished.pk}/trace/", "/"):
        html = viewer.get(page).content.decode()
        assert "scripted" in html
        assert "$" not in html
        assert not re.search(r"\btokens <b>|<b>0</b> tokens", html)


def test_text_that_follows_as_the_finding_is_not_shown_twice(viewer, finished):
    execution = finished.executions.first()
    add_event(execution, TimelineEvent.Type.LLM_RESPONSE, "Only once, please.", is_final=True)

    assert "Only once, please." not in _read(viewer, finished)


def test_a_long_timeline_sends_its_latest_events_and_a_way_to_the_rest(viewer):
    stage = StageFactory(active=True)
    execution = ExecutionFactory(stage=stage, active=True)
    TimelineEvent.objects.bulk_create(
        TimelineEvent(
            session=stage.session,
            stage=stage,
            execution=execution,
            sequence_number=n,
            event_type="llm_thinking",
            status="completed",
            content=f"thought-{n:04}.",
        )
        for n in range(1, 451)
    )

    page = _read(viewer, stage.session)
    earlier = viewer.get(
        f"/sessions/{stage.session.pk}/executions/{execution.pk}/earlier/?before=251",
        headers={"HX-Request": "true"},
    ).content.decode()

    assert page.count('class="t-event"') == LATEST
    assert "Load earlier, 250 more" in page
    assert "thought-0450." in page
    assert "thought-0250." not in page
    assert "thought-0250." in earlier
    assert "thought-0051." in earlier
    assert "Load earlier, 50 more" in earlier


def test_many_agents_share_the_room_of_a_page_and_those_with_few_events_leave_theirs(viewer):
    stage = StageFactory(active=True)
    agents = [ExecutionFactory(stage=stage, active=True, agent_index=n) for n in range(1, 5)]
    for place, execution in enumerate(agents):
        TimelineEvent.objects.bulk_create(
            TimelineEvent(
                session=stage.session,
                stage=stage,
                execution=execution,
                sequence_number=1000 * place + n,
                event_type="llm_thinking",
                status="completed",
                content=f"thought-{place}-{n:04}.",
            )
            for n in range(1, 21 if place == 0 else 151)
        )

    page = _read(viewer, stage.session)

    assert page.count('class="t-event"') == LATEST
    assert page.count("thought-0-") == 20
    assert page.count("thought-1-") == page.count("thought-3-") == 60
    assert "thought-3-0150." in page
    assert "Load earlier, 90 more" in page


def test_earlier_events_are_a_whole_page_without_a_script(viewer, finished):
    execution = finished.executions.first()
    address = f"/sessions/{finished.pk}/executions/{execution.pk}/earlier/?before=99"

    assert "Back to basket restarts" in viewer.get(address).content.decode()


def test_a_large_result_is_cut_and_whole_on_request(viewer, running):
    execution = running.executions.get()
    event = add_tool_call(execution, 2, "x" * 50_000)

    page = _read(viewer, running)
    whole = viewer.get(f"/sessions/{running.pk}/events/{event.pk}/content/")

    assert "The first 8.2 kB of 50 kB are shown." in page
    assert "x" * 9000 not in page
    assert whole.content == b"x" * 50_000
    assert whole.headers["Content-Type"].startswith("text/plain")
    assert whole.headers["X-Content-Type-Options"] == "nosniff"


def test_the_number_of_queries_does_not_grow_with_the_agents(
    viewer, finished, django_assert_max_num_queries
):
    for n in range(3, 9):
        execution = ExecutionFactory(stage=finished.stages.get(), completed=True)
        add_tool_call(execution, n)

    with django_assert_max_num_queries(24):
        _read(viewer, finished)


def test_pages_carry_a_strict_policy_and_keep_it(viewer, finished, running):
    for session in (finished, running):
        answer = viewer.get(f"/sessions/{session.pk}/")
        page = answer.content.decode()

        assert "script-src 'self';" in answer.headers["Content-Security-Policy"] + ";"
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert " style=" not in page
        assert "<script>" not in page
        assert " onclick=" not in page


def test_a_page_without_a_socket_can_ask_for_what_it_missed(viewer, running):
    EventFactory(session=running, seq=running.last_seq + 1)
    after = running.last_seq - 1

    answer = viewer.get(f"/sessions/{running.pk}/events/?after={after}").json()

    assert answer["has_more"] is False
    assert [message["type"] for message in answer["messages"]] == ["session.status"]
    assert 'id="session-head"' in answer["messages"][0]["html"]


def test_a_page_that_missed_what_retention_removed_is_told_to_load_anew(viewer, finished):
    for _ in range(3):
        EventFactory(session=finished)
    finished.refresh_from_db()
    Event.objects.filter(session=finished).exclude(seq=finished.last_seq).delete()

    def asks(after: int) -> bool:
        return viewer.get(f"/sessions/{finished.pk}/events/?after={after}").json()["has_more"]

    assert asks(finished.last_seq - 2)
    assert not asks(finished.last_seq - 1)
    assert not asks(finished.last_seq)
    Event.objects.all().delete()
    assert asks(finished.last_seq - 1)
    assert not asks(finished.last_seq)


def test_a_summary_stands_behind_its_tool_call_with_who_made_it(viewer):
    execution = ExecutionFactory(stage=StageFactory(session=SessionFactory(), active=True))
    add_tool_call(execution, 1)
    add_tool_call(execution, 2)
    add_event(
        execution,
        "mcp_tool_summary",
        "The **disk** is full",
        server_name="ops",
        tool_name="query",
        tool_number=1,
        original_tokens=7_900,
        summarization_model="cheap-1",
        summarization_provider="cheap",
        summarization_fallback=True,
    )

    page = _read(viewer, execution.session)

    caption = (
        "Summary of the result of T1 by cheap-1 in place of the model that was to make it, of "
        "about 7,900 tokens"
    )
    assert page.index('id="T1"') < page.index(caption) < page.index('id="T2"')
    assert "The <strong>disk</strong> is full" in page
    assert 'data-after="T1"' in page


def test_a_summary_that_streams_shows_what_it_is_about(viewer):
    stage = StageFactory(session=SessionFactory(), active=True)
    execution = ExecutionFactory(stage=stage, active=True)
    add_tool_call(execution, 1)
    add_event(execution, "mcp_tool_summary", status="streaming", tool_number=1)

    page = _read(viewer, execution.session)

    assert "Summary of the result of T1" in page
    assert page.count("data-stream") == 1
    assert "Summarizing a result" in page


@pytest.mark.parametrize("kind", ["llm_thinking", "llm_response", "mcp_tool_summary"])
def test_a_text_that_was_broken_off_is_shown_with_the_mark_that_it_was_cut(viewer, kind):
    execution = ExecutionFactory(completed=True)
    add_event(execution, kind, "The disk is", status="cancelled", broken_off=True)

    page = _read(viewer, execution.session)

    assert "The disk is" in page
    assert "Cancelled before the text was complete." in page


def test_tokens_that_no_model_told_are_unknown_and_a_price_can_be_given_in_one_click(viewer):
    session = SessionFactory(completed=True, final_analysis="It was the disk.")
    execution = ExecutionFactory(
        stage=StageFactory(session=session, completed=True),
        completed=True,
        llm_provider="own",
        model_name="llama-4",
    )
    add_model_call(
        execution, iteration=1, at=session.completed_at, input_tokens=None, output_tokens=None,
        total_tokens=None, estimated_cost_usd=None,
    )  # fmt: skip

    page = _read(viewer, session)

    assert "tokens <b>unknown</b>" in page
    assert ", tokens unknown</span>" in page
    assert "<b>0</b> tokens" not in page
    assert 'popovertarget="pricing"' in page
    assert "llama-4: {input_per_million: 0.00, output_per_million: 0.00}" in page
    assert ">unknown</td>" in viewer.get("/").content.decode()


def test_a_block_of_code_below_a_step_is_the_command_of_that_step(viewer):
    report = (
        "## Conclusion\nIt leaks.\n\n## Next steps\n1. Roll back to v4.17.3:\n\n"
        "```\nkubectl rollout undo deploy/payments-api\n```\n2. Tell the team.\n"
    )
    page = _read(viewer, SessionFactory(completed=True, final_analysis=report))

    assert '<code id="step-1">kubectl rollout undo deploy/payments-api</code>' in page
    assert 'id="step-2"' not in page


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("alertmanager", "What raised the alert"),
        ("pagerduty", "Alert in PagerDuty"),
        ("generic", "Alert"),
        ("", "Alert"),
    ],
)
def test_the_link_of_an_alert_is_named_after_what_it_opens(viewer, source, words):
    kept = {"links": {"alert": "http://shop.example:8801/"}}
    session = SessionFactory(completed=True, source=source, session_metadata=kept)

    assert f'title="http://shop.example:8801/">{words}<svg' in _read(viewer, session)
