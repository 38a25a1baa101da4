"""One act on several sessions: who may, what is asked first, and what is told of each."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import Group
from django.db import connections
from django.test import Client

from investigations.models import AlertSession, AuditEvent
from investigations.roles import create_roles
from tests.factories import SessionFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def as_role(client):
    create_roles()

    def log_in(role):
        user = UserFactory()
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        return client

    return log_in


def ids(*sessions):
    return {"session": [str(session.pk) for session in sessions]}


@pytest.mark.parametrize(
    ("role", "acts"),
    [("viewer", []), ("operator", ["cancel", "retry"]), ("admin", ["cancel", "retry", "delete"])],
)
def test_each_role_finds_the_acts_it_may_do_and_a_viewer_no_boxes(as_role, role, acts):
    SessionFactory(completed=True)

    page = as_role(role).get("/").content.decode()

    offered = [act for act in ("cancel", "retry", "delete") if f'"/sessions/{act}/"' in page]
    assert offered == acts
    assert ('name="session"' in page) == bool(acts)


def test_nothing_happens_before_it_is_confirmed(as_role):
    waits, ended = SessionFactory(title="still waits"), SessionFactory(completed=True)

    page = as_role("operator").get("/sessions/cancel/", ids(waits, ended)).content.decode()

    assert "Cancel 1 session?" in page
    assert "still waits" in page
    assert "It has ended already" in page
    waits.refresh_from_db()
    assert waits.status == "pending"


def test_cancelling_several_tells_of_each(as_role, chains):
    waits, ended, gone = SessionFactory(), SessionFactory(completed=True), uuid.uuid4()
    chosen = {"session": [str(waits.pk), str(ended.pk), str(gone)]}

    page = as_role("operator").post("/sessions/cancel/", chosen).content.decode()

    assert "1 of 3 sessions cancelled" in page
    assert page.count("Not cancelled:") == 2
    statuses = set(AlertSession.objects.values_list("status", flat=True))
    assert statuses == {"cancelled", "completed"}


def test_one_that_ended_meanwhile_keeps_no_other_from_its_end(as_role, chains, monkeypatch):
    first, second = SessionFactory(), SessionFactory()
    client = as_role("operator")
    # As if a worker had been quicker after the page of the first one was read.
    monkeypatch.setattr("investigations.services.bulk.Act.refusal", lambda act, session: "")
    AlertSession.objects.filter(pk=first.pk).update(
        status="failed", completed_at=first.created_at, started_at=first.created_at
    )

    page = client.post("/sessions/cancel/", ids(first, second)).content.decode()

    assert "1 of 2 sessions cancelled" in page
    assert "the session is failed already and cannot be cancelled" in page
    second.refresh_from_db()
    assert second.status == "cancelled"


def test_a_retry_sends_the_alert_again_and_links_to_what_it_started(as_role, chains):
    old = SessionFactory(failed=True, alert_type="single", alert_data="disk full", chain_id="x")
    unknown = SessionFactory(failed=True, alert_type="no longer there")

    page = as_role("operator").post("/sessions/retry/", ids(old, unknown)).content.decode()

    made = AlertSession.objects.get(status="pending")
    assert (made.alert_data, made.alert_type) == ("disk full", "single")
    assert f"/sessions/{made.pk}/" in page
    assert "1 of 2 sessions started again" in page
    assert "&quot;no longer there&quot; is not known" in page


def test_a_form_sent_twice_starts_an_alert_once(as_role, chains):
    old = SessionFactory(failed=True, alert_type="single", alert_data="disk full", chain_id="x")
    client, spelled = as_role("operator"), {"session": [str(old.pk), str(old.pk).upper()]}

    first = client.post("/sessions/retry/", spelled).content.decode()
    second = client.post("/sessions/retry/", ids(old)).content.decode()

    made = AlertSession.objects.get(status="pending")
    assert "1 of 1 session started again" in first
    assert "0 of 1 session started again" in second
    assert f"was retried already, as {made.pk}" in second
    assert AuditEvent.objects.filter(action="session.retry").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("act", "state"),
    [("cancel", {}), ("retry", {"failed": True}), ("delete", {"completed": True})],
)
def test_of_forms_sent_at_once_one_acts_on_each_session(as_role, chains, act, state):
    sessions = [SessionFactory(alert_type="single", chain_id="x", **state) for _ in range(3)]
    client, together = as_role("admin"), threading.Barrier(4)

    def send(_number):
        try:
            together.wait(timeout=30)
            mine = Client(headers={"host": "localhost"})
            mine.cookies = client.cookies
            return mine.post(f"/sessions/{act}/", ids(*sessions)).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(send, range(4)))

    assert codes == [200] * 4
    acts = AuditEvent.objects.filter(action=f"session.{act}").values_list("target_id", flat=True)
    assert sorted(acts) == sorted(str(each.pk) for each in sessions)
    assert AlertSession.objects.count() == (6 if act == "retry" else 3)


def test_a_deleted_session_is_gone_and_the_act_is_on_record(as_role):
    ended, runs = SessionFactory(completed=True), SessionFactory(running=True)
    client = as_role("admin")

    page = client.post("/sessions/delete/", ids(ended, runs)).content.decode()

    assert "1 of 2 sessions deleted" in page
    assert "has not ended yet: cancel it first" in page
    assert client.get(f"/sessions/{ended.pk}/").status_code == 404
    assert client.get(f"/sessions/{runs.pk}/").status_code == 200
    act = AuditEvent.objects.get(action="session.delete")
    assert act.target_id == str(ended.pk)


@pytest.mark.parametrize(
    "sent", [{"session": ["x"]}, {"session": [str(uuid.uuid4()) for _ in range(101)]}]
)
def test_nonsense_and_too_many_are_refused(as_role, sent):
    assert as_role("operator").get("/sessions/cancel/", sent).status_code == 400


def test_the_way_back_leads_to_the_same_view_and_nowhere_else(as_role):
    session = SessionFactory(completed=True)
    client = as_role("operator")

    for back in ("status=failed&search=disk", "https://evil.example/", "//evil.example"):
        page = client.get("/sessions/retry/", ids(session) | {"back": back}).content.decode()
        assert ('href="/?status=failed&amp;search=disk"' in page) == ("status" in back)
        assert "evil" not in page


def test_hostile_titles_stay_text(as_role, chains):
    session = SessionFactory(failed=True, title=HOSTILE, alert_type=HOSTILE, author=HOSTILE)
    client = as_role("operator")

    pages = [client.get("/"), client.get("/", {"alert_type": HOSTILE, "search": HOSTILE})]
    pages += [ask("/sessions/retry/", ids(session)) for ask in (client.get, client.post)]

    for page in pages:
        assert page.status_code == 200
        assert "<img" not in page.content.decode()
