"""The panel on which a person decides, and everything else on a page that says one is needed."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from investigations.models import AgentExecution, ApprovalRequest, Incident
from investigations.stream.fragments import fragment_for
from investigations.stream_messages import approval_decided, approval_requested
from tests.factories import (
    ApprovalRequestFactory,
    IncidentFactory,
    SessionFactory,
    UserFactory,
)
from tests.investigations.approving import acts, let_time_pass, make_decider

pytestmark = pytest.mark.django_db


@pytest.fixture
def decider(client: Client) -> Client:
    client.force_login(make_decider(username="ana"))
    return client


@pytest.fixture
def waiting(running) -> ApprovalRequest:
    return ApprovalRequestFactory(
        execution=running.executions.get(),
        tool_number=1,
        server_name="k8s",
        tool_name="pods_delete",
        target="render-4",
        arguments={"name": "render-4", "note": "x\u200by\u202e", "file": "a\n<b>\x1b[2K\n"},
        risk="high",
        preview={
            "does": "deletes the pod, for good",
            "undo": "Nothing undoes it here.",
            "verification": ["No answer before a read."],
            "current_state": "hanging",
            "origins": ["name: stands in the result of ops.query [T1]"],
            "found_by": 1,
            "masked": 2,
        },
    )


def read(client: Client, approval: ApprovalRequest) -> str:
    return client.get(f"/sessions/{approval.session_id}/").content.decode()


def decide(client: Client, approval: ApprovalRequest, verb: str, **data: str):
    """With the second step of a grave write done."""
    typed = {f"typed-{approval.pk}": approval.target}
    return client.post(f"/approvals/{approval.pk}/{verb}/", {**typed, **data})


def test_everything_that_will_run_is_shown_with_nothing_hidden(decider, waiting):
    page = read(decider, waiting)

    panel = page[page.index(f'id="approval-{waiting.pk}"') : page.index('id="alert"')]
    assert "k8s.<b>pods_delete</b>" in panel
    assert "Declared as: deletes the pod, for good" in panel
    assert 'on <b>render-4</b>, found by <a class="t-ev" href="#T1"' in panel
    assert 'It was <b class="t-mono">hanging</b> at ' in panel
    assert 'name: stands in the result of ops.query <a class="t-ev" href="#T1"' in panel
    assert re.search(r'<progress class="t-drain" max="\d+" value="\d+"', panel)
    assert 'x<span class="t-inv">U+200B</span>y<span class="t-inv">U+202E</span>' in panel
    assert 'a\n&lt;b&gt;<span class="t-inv">U+001B</span>[2K\n' in panel
    assert "2 masked values will run unseen" in panel
    assert "High risk" in panel
    for text in (waiting.reason, "Nothing undoes it here.", "No answer before a read."):
        assert escape(text) in panel
    assert f'<time datetime="{waiting.expires_at:%Y-%m-%dT%H:%M:%S}' in panel


def test_long_arguments_are_not_cut(decider, waiting):
    ApprovalRequest.objects.filter(pk=waiting.pk).update(arguments={"file": "x" * 100_000 + "END"})

    assert "xEND" in read(decider, waiting)


def change_of(*rows: tuple[str, str], **more: object) -> dict[str, object]:
    """A change as the desk writes it down."""
    numbered = [
        {"kind": kind, "text": text, "old": None, "new": number, "note": ""}
        for number, (kind, text) in enumerate(rows, 1)
    ]
    return {
        "path": "/srv/app.conf", "asked_path": "/srv/app.conf", "exists": True, "facts": {},
        "state": "a file of 60 bytes, mode 0640", "size_after": 70, "rows": numbered,
        "added": 1, "removed": 1, "left_out": 0, **more,
    }  # fmt: skip


def show_change(approval: ApprovalRequest, change: dict[str, object]) -> None:
    preview = {**approval.preview, "change": change}
    ApprovalRequest.objects.filter(pk=approval.pk).update(preview=preview)


def test_what_becomes_of_a_file_is_shown_line_by_line_with_nothing_hidden(decider, waiting):
    rows = [("del", "limit=1\t"), ("add", "limit=\u200b2<b>\r"), ("gap", ""), ("same", "")]
    show_change(waiting, change_of(*rows, asked_path="/srv/link\u202e"))

    page = read(decider, waiting)

    assert "1 line added, 1 removed" in page
    assert "a file of 60 bytes, mode 0640" in page
    assert 'asked for as <span class="t-mono t-path">/srv/link<span class="t-inv">U+202E' in page
    assert '<div class="is-del"><i>1</i><s>-</s><span>limit=1\t</span></div>' in page
    assert '<span>limit=<span class="t-inv">U+200B</span>2&lt;b&gt;<span' in page
    assert '&lt;b&gt;<span class="t-inv">U+000D</span></span></div>' in page
    assert '<div class="is-gap"><i>3</i><s></s><span>…</span></div>' in page


def test_a_long_change_is_all_on_the_page_and_its_rest_can_be_opened(decider, waiting):
    rows = [("add", f"line {number}") for number in range(1, 501)]
    show_change(waiting, change_of(*rows, left_out=7))

    page = read(decider, waiting)

    before, _, rest = page.partition("<summary>300 lines more</summary>")
    assert "<span>line 200</span>" in before
    assert "<span>line 201</span>" in rest
    assert "<span>line 500</span>" in rest
    assert "7 changed lines more are too many to be drawn" in rest


def test_a_write_that_changes_no_file_shows_no_change(decider, waiting):
    assert "What changes" not in read(decider, waiting)


def test_the_api_gives_the_change_of_a_file(decider, waiting):
    show_change(waiting, change_of(("add", "  limit=2  ")))

    told = decider.get(f"/api/v1/approvals/{waiting.pk}").json()

    assert told["preview"]["change"]["rows"][0]["text"] == "  limit=2  "


def test_the_page_says_that_a_person_is_needed(decider, waiting):
    page = read(decider, waiting)

    assert "Needs approval" in page
    assert "<title>(!) " in page
    assert "Waiting for a person to approve" in page
    assert re.search(r't-waits[^>]*>.*?1 approval<span class="t-not-phone"> waits for you', page)


def test_the_page_says_that_its_conclusion_waits_for_a_person_and_where(decider, waiting):
    page = read(decider, waiting)
    message = approval_requested(waiting)

    words = "inspector waits for a person to decide about a change."
    assert f'<a href="#approvals">{words}</a>' in page
    assert 'data-said="Investigate: Needs approval"' in page
    assert words in fragment_for(message)
    assert 'data-said="Investigate: Needs approval"' in fragment_for(message)

    assert re.search(r'id="waits">.*1 approval<', fragment_for(message))

    decide(decider, waiting, "deny")
    waiting.refresh_from_db()

    # Wherever it was decided, the bar of each open page counts what waits from now on.
    assert '<span class="t-waitslot" id="waits"></span>' in fragment_for(approval_decided(waiting))
    assert "Investigate ends when inspector is done" in fragment_for(approval_decided(waiting))


def test_who_decides_about_an_alert_that_is_over_is_told_so(decider, waiting):
    waiting.session.incident = IncidentFactory()
    waiting.session.save()
    assert "Is this still wanted?" not in read(decider, waiting)

    Incident.objects.update(
        state=Incident.State.RECOVERED, firing_count=0, recovered_at=timezone.now()
    )

    assert "The alert is over since " in read(decider, waiting)
    assert "Is this still wanted?" in fragment_for(approval_requested(waiting))


def test_silence_is_no_worry_while_a_person_is_waited_for(decider, waiting):
    waiting.session.last_interaction_at = timezone.now() - timedelta(minutes=5)
    waiting.session.save()

    assert "data-stale" not in read(decider, waiting)
    assert "stale" not in decider.get("/").content.decode()

    decide(decider, waiting, "deny")

    assert "data-stale" in read(decider, waiting)
    assert "data-stale" in decider.get("/").content.decode()


def test_the_list_says_so_too(decider, waiting):
    page = decider.get("/").content.decode()

    assert "Needs approval" in page
    assert "1 approval<" in page


def test_who_may_not_decide_sees_all_and_is_told_why_there_is_no_button(viewer, waiting):
    page = read(viewer, waiting)

    assert "data-decides" not in page
    assert 'id="decide-form"' not in page
    assert 'class="t-waits"' not in page
    # What the stream brings for those who decide finds no place here.
    assert 'id="waits"' not in page
    assert " data-known" in page
    assert "Your account may not decide about changes" in page
    assert "groups approver and admin" in page
    assert "k8s.<b>pods_delete</b>" in page


def test_who_is_not_signed_in_is_asked_to_and_not_told_that_they_may_not(client, settings, waiting):
    settings.TARSY_AUTH = "none"

    page = read(client, waiting)

    assert "data-decides" not in page
    assert " data-known" not in page
    assert f'href="/login/?next=/sessions/{waiting.session_id}/">Sign in to decide</a>' in page


@pytest.mark.parametrize(
    ("verb", "status", "word"), [("approve", "approved", "Approved"), ("deny", "denied", "Denied")]
)
def test_a_decision_takes_the_place_of_the_panel(decider, waiting, verb, status, word):
    answer = decide(decider, waiting, verb, **{f"reason-{waiting.pk}": "as agreed"})

    assert answer.status_code == 302
    assert answer["Location"] == f"/sessions/{waiting.session_id}/"
    waiting.refresh_from_db()
    assert (waiting.status, waiting.decision_reason) == (status, "as agreed")
    page = read(decider, waiting)
    assert f"<b>{word}</b> by ana" in page
    assert "Approve this change?" not in page
    assert "Needs approval" not in page


@pytest.mark.parametrize("typed", ["", "render-5", "RENDER-4", "render -4", "render-4\u200b"])
def test_a_grave_write_is_not_approved_without_the_name_of_its_target(decider, waiting, typed):
    answer = decide(decider, waiting, "approve", **{f"typed-{waiting.pk}": typed})

    assert answer.status_code == 400
    waiting.refresh_from_db()
    assert waiting.status == "pending"


@pytest.mark.parametrize("target", ["", "a\u200bb", "a  b", "x" * 81])
def test_where_no_target_can_be_typed_the_tool_is_named(decider, waiting, target):
    ApprovalRequest.objects.filter(pk=waiting.pk).update(target=target)

    assert 'data-typed="pods_delete"' in read(decider, waiting)
    decide(decider, waiting, "approve", **{f"typed-{waiting.pk}": " pods_delete "})

    waiting.refresh_from_db()
    assert waiting.status == "approved"


def test_a_grave_write_is_denied_and_a_lesser_one_approved_in_one_step(decider, waiting):
    decide(decider, waiting, "deny", **{f"typed-{waiting.pk}": ""})
    lesser = ApprovalRequestFactory(execution=waiting.execution, risk="medium")
    decide(decider, lesser, "approve", **{f"typed-{lesser.pk}": ""})

    waiting.refresh_from_db()
    lesser.refresh_from_db()
    assert (waiting.status, lesser.status) == ("denied", "approved")


def test_an_approval_that_was_not_used_says_that_nothing_was_let_through(decider, waiting):
    decide(decider, waiting, "approve")

    assert "let through" not in read(decider, waiting)  # It may be, in this very moment.
    AgentExecution.objects.filter(pk=waiting.execution_id).update(
        status="cancelled", lease_token=None, completed_at=timezone.now()
    )
    assert ", not let through" in read(decider, waiting)
    ApprovalRequest.objects.filter(pk=waiting.pk).update(used_at=timezone.now())
    page = read(decider, waiting)
    assert ", let through at" in page
    assert ", not let through" not in page


def test_a_state_that_was_seen_is_told_as_one_look_which_denies_no_loop(decider, waiting):
    waiting.preview["current_state"] = "running"
    waiting.save()

    page = read(decider, waiting)

    told = page[page.index('It was <b class="t-mono">running</b> at ') :]
    assert "in one look right before TARSy asked." in told[:400]
    assert "What is started again and again changes from look to look." in told[:400]


def test_a_state_that_nothing_shows_is_not_passed_over(decider, waiting):
    waiting.preview["current_state"] = ""
    waiting.save()

    assert "No read that TARSy knows tells how it is now." in read(decider, waiting)


def test_who_may_not_decide_is_refused_and_written_down(viewer, waiting):
    assert decide(viewer, waiting, "approve").status_code == 403

    waiting.refresh_from_db()
    assert waiting.status == "pending"
    assert acts(waiting) == ["approval.refuse_decision"]


def test_a_reason_that_is_no_text_decides_nothing(decider, waiting):
    reason = {f"reason-{waiting.pk}": "no\0pe"}

    answer = decider.post(f"/approvals/{waiting.pk}/deny/", reason)

    assert answer.status_code == 400
    waiting.refresh_from_db()
    assert waiting.status == "pending"


def test_a_decision_that_comes_late_leads_back_to_what_happened(decider, waiting):
    let_time_pass(waiting)

    assert decide(decider, waiting, "approve").status_code == 302
    assert "<b>Expired</b>" in read(decider, waiting)


def test_a_form_of_another_site_decides_nothing(waiting):
    strict = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    strict.force_login(make_decider())

    assert decide(strict, waiting, "approve").status_code == 403
    waiting.refresh_from_db()
    assert waiting.status == "pending"


def test_only_a_post_decides(decider, waiting):
    assert decider.get(f"/approvals/{waiting.pk}/approve/").status_code == 405


def test_a_new_request_comes_with_the_stream_and_a_decision_takes_its_place(waiting):
    asked = fragment_for(approval_requested(waiting))
    ApprovalRequest.objects.filter(pk=waiting.pk).update(
        status="denied", decided_by="ben", decision_reason="Not now.", decided_at=waiting.created_at
    )
    waiting.refresh_from_db()

    decided = fragment_for(approval_decided(waiting))

    identity = f'id="approval-{waiting.pk}" data-into="approvals"'
    assert identity in asked
    assert identity in decided
    assert "Needs approval" in asked
    assert "<b>Denied</b> by ben" in decided
    assert "Needs approval" not in decided
    head = f'id="agent-{waiting.execution_id}-head"'
    assert head in asked
    assert head in decided


def test_a_fragment_is_the_same_for_everybody(waiting):
    html = fragment_for(approval_requested(waiting))

    assert "csrf" not in html
    assert "<script" not in html
    assert "style=" not in html


def test_requests_can_be_filtered_in_the_admin(client, waiting):
    client.force_login(UserFactory(admin=True))
    ApprovalRequestFactory(denied=True, session=SessionFactory(running=True))

    page = client.get("/admin/investigations/approvalrequest/?status__exact=pending")

    assert str(waiting.pk) in page.content.decode()
    assert "1 approval request" in page.content.decode()
