"""Approvals over REST: who may look, who may decide, and what is answered when it is too late."""

import json
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from investigations.models import ApprovalRequest
from investigations.services.tokens import create_token
from tests.factories import ApprovalRequestFactory, UserFactory
from tests.investigations.api.test_schema import check, document  # noqa: F401  (a fixture)
from tests.investigations.approving import acts, let_time_pass, make_decider

LIST = "/api/v1/approvals"

pytestmark = pytest.mark.django_db


@pytest.fixture
def decider(client: Client) -> Client:
    client.force_login(make_decider(username="ana"))
    return client


def post(client: Client, approval: ApprovalRequest, verb: str, body: object = None, **headers: str):
    return client.post(
        f"{LIST}/{approval.pk}/{verb}", "" if body is None else json.dumps(body),
        content_type="application/json", headers=headers,
    )  # fmt: skip


def test_a_request_shows_everything_that_will_run(api):
    arguments = {"name": "render-4", "text": "x\u200by", "deep": {"list": [1, None, True]}}
    approval = ApprovalRequestFactory(
        arguments=arguments, preview={"undo": "Start it again.", "verification": ["It runs."]}
    )

    shown = api.get(f"{LIST}/{approval.pk}").json()

    assert shown["arguments"] == arguments
    assert (shown["server_name"], shown["tool_name"]) == ("ops", "control")
    assert shown["preview"]["undo"] == "Start it again."
    assert shown["preview"]["current_state"] == ""
    assert (shown["status"], shown["decided_by"]) == ("pending", None)


def test_an_unknown_request_is_not_found(decider):
    assert decider.get(f"{LIST}/{uuid.uuid4()}").status_code == 404
    unsaved = ApprovalRequest(pk=uuid.uuid4())
    assert post(decider, unsaved, "approve").status_code == 404


def test_requests_of_a_deleted_session_are_gone(decider):
    approval = ApprovalRequestFactory()
    type(approval.session).objects.filter(pk=approval.session_id).update(deleted_at=timezone.now())

    assert decider.get(f"{LIST}/{approval.pk}").status_code == 404
    assert decider.get(LIST).json()["approvals"] == []
    assert post(decider, approval, "approve").status_code == 404


def test_requests_are_listed_by_status_and_session_in_pages(api):
    waiting = [
        ApprovalRequestFactory(expires_at=timezone.now() + timedelta(minutes=minutes))
        for minutes in (3, 1, 2)
    ]
    ApprovalRequestFactory(denied=True)

    def ids(**query: object) -> list[str]:
        return [row["id"] for row in api.get(LIST, query).json()["approvals"]]

    assert len(ids()) == 4
    assert ids(status="pending") == [str(waiting[n].pk) for n in (1, 2, 0)]
    assert len(ids(status="denied,expired")) == 1
    assert ids(session_id=waiting[0].session_id) == [str(waiting[0].pk)]
    assert ids(session_id=uuid.uuid4()) == []
    page = api.get(LIST, {"page_size": 3, "page": 2}).json()
    assert len(page["approvals"]) == 1
    assert page["pagination"] == {"page": 2, "page_size": 3, "total_pages": 2, "total_items": 4}


@pytest.mark.parametrize("query", [{"status": "open"}, {"session_id": "7"}])
def test_a_wrong_filter_is_refused_by_name(api, query):
    answer = api.get(LIST, query)

    assert (answer.status_code, answer.json()["field"]) == (400, next(iter(query)))


@pytest.mark.parametrize(("verb", "status"), [("approve", "approved"), ("deny", "denied")])
def test_whoever_may_decide_decides(decider, verb, status):
    approval = ApprovalRequestFactory()

    answer = post(decider, approval, verb, {"reason": "as agreed"})

    assert answer.status_code == 200
    assert answer.json()["status"] == status
    assert (answer.json()["decided_by"], answer.json()["decision_reason"]) == ("ana", "as agreed")


def test_a_decision_needs_no_body(decider):
    assert post(decider, ApprovalRequestFactory(), "approve").status_code == 200
    assert post(decider, ApprovalRequestFactory(), "deny", {"reason": None}).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": 5}, "reason"),
        ({"reason": "x" * 2001}, "reason"),
        ({"why": "x"}, "why"),
        (["reason"], "body"),
    ],
)
def test_a_wrong_body_is_refused_by_name_and_decides_nothing(decider, body, field):
    approval = ApprovalRequestFactory()

    answer = post(decider, approval, "deny", body)

    assert (answer.status_code, answer.json()["field"]) == (400, field)
    approval.refresh_from_db()
    assert approval.status == "pending"


def test_the_second_decision_and_the_late_one_are_conflicts(decider):
    decided, late = ApprovalRequestFactory(), ApprovalRequestFactory()
    post(decider, decided, "deny")
    let_time_pass(late)

    again, after = post(decider, decided, "approve"), post(decider, late, "approve")

    assert (again.status_code, again.json()) == (
        409,
        {"message": "the request was denied already by ana"},
    )
    assert after.status_code == 409
    assert "expired" in after.json()["message"]


def test_without_the_permission_nothing_is_decided_and_the_attempt_is_audited(client):
    approval = ApprovalRequestFactory()
    client.force_login(UserFactory())

    answers = [post(client, approval, verb) for verb in ("approve", "deny")]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert "investigations.decide_approval" in answers[0].json()["message"]
    approval.refresh_from_db()
    assert approval.status == "pending"
    assert acts(approval) == ["approval.refuse_decision"] * 2


def test_where_nobody_logs_in_nobody_in_particular_decides(api):
    assert post(api, ApprovalRequestFactory(), "approve").status_code == 403


def test_without_an_identity_nothing_is_shown(stranger):
    approval = ApprovalRequestFactory()

    assert stranger.get(LIST).status_code == 401
    assert stranger.get(f"{LIST}/{approval.pk}").status_code == 401
    assert post(stranger, approval, "approve").status_code == 401


def test_a_token_may_what_its_owner_may(stranger):
    owner, other = make_decider(username="ana"), UserFactory()
    good = create_token(owner=owner, name="phone", actor="test")
    bad = create_token(owner=other, name="pagerduty", actor="test")
    approval = ApprovalRequestFactory()

    refused = post(stranger, approval, "approve", authorization=f"Bearer {bad}")
    allowed = post(stranger, approval, "approve", authorization=f"Bearer {good}")

    assert (refused.status_code, allowed.status_code) == (403, 200)
    assert allowed.json()["decided_by"] == "ana"


def test_a_name_from_a_trusted_proxy_counts_only_with_an_account_that_may(settings, stranger):
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]
    make_decider(username="ana")
    approval = ApprovalRequestFactory()
    origin = {"origin": "http://localhost"}

    unknown = post(stranger, approval, "approve", **{"X-Forwarded-User": "eve", **origin})
    known = post(stranger, approval, "approve", **{"X-Forwarded-User": "ana", **origin})

    assert (unknown.status_code, known.status_code) == (403, 200)


def test_a_page_of_another_site_decides_nothing(decider):
    approval = ApprovalRequestFactory()
    strict = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    strict.force_login(make_decider())

    foreign = post(decider, approval, "approve", origin="https://evil.example")
    without_token = post(strict, approval, "approve")

    assert (foreign.status_code, without_token.status_code) == (403, 403)
    approval.refresh_from_db()
    assert approval.status == "pending"


def test_answers_are_as_the_document_says(decider, document):  # noqa: F811
    approval = ApprovalRequestFactory(preview={"undo": "No.", "verification": ["It runs."]})
    ApprovalRequestFactory(approved=True)
    one = f"{LIST}/{{approval_id}}"

    check(document, LIST, "get", decider.get(LIST))
    check(document, LIST, "get", decider.get(LIST, {"status": "x"}))
    check(document, one, "get", decider.get(f"{LIST}/{approval.pk}"))
    check(document, f"{one}/approve", "post", post(decider, approval, "approve"))
    check(document, f"{one}/deny", "post", post(decider, approval, "deny"))
    check(document, f"{one}/deny", "post", post(Client(), approval, "deny"))
