"""Incidents on the pages: in the list, on the session's page, and the box that starts nothing."""

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from investigations.models import AlertSession, AuditEvent, Delivery, Incident, TimelineEvent
from investigations.services.deliveries import read_delivery, take_delivery
from investigations.sources.reading import Post
from investigations.stream.fragments import fragment_for
from investigations.stream_messages import session_updated, timeline_event_created
from tests.factories import (
    EpisodeFactory,
    ExecutionFactory,
    IncidentFactory,
    MemberChangeFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_event

pytestmark = pytest.mark.django_db

POST = {
    "version": "4",
    "groupKey": "g1",
    "alerts": [
        {"status": "firing", "labels": {"alertname": "DiskFull", "severity": "warning"}},
        {"status": "resolved", "labels": {"alertname": "DiskSlow"}},
    ],
}


def test_the_list_says_how_many_alerts_a_session_is_about_and_what_became_of_them(viewer):
    many = IncidentFactory(recovered=True, member_count=12)
    shown = SessionFactory(completed=True, incident=many, title="Disks of the cluster")
    alone = SessionFactory(completed=True, incident=IncidentFactory(), title="One disk")

    page = viewer.get("/").content.decode()
    recovered = viewer.get("/?state=recovered").content.decode()

    assert '<span class="t-tag">12 alerts</span> <span class="t-tag">Recovered</span>' in page
    assert f"/sessions/{alone.pk}/" in page
    assert "1 alert" not in page
    assert f"/sessions/{shown.pk}/" in recovered
    assert f"/sessions/{alone.pk}/" not in recovered


@pytest.mark.parametrize(
    ("state", "said"),
    [("recovered", "The alert is over."), ("firing", "The alert still fires."), ("plain", "")],
)
def test_a_copied_summary_says_first_how_the_alert_is(viewer, state, said):
    incident = IncidentFactory(recovered=True) if state == "recovered" else IncidentFactory()
    session = SessionFactory(
        completed=True,
        incident=None if state == "plain" else incident,
        title="One disk",
        executive_summary="The disk of db-1 is full.",
    )

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()

    copied = page.split('id="summary-text" hidden>')[1].split("</div>")[0]
    first, second = copied.split("\n\n")[:2]
    assert first == "# One disk"
    assert second == (said or "The disk of db-1 is full.")


def test_a_held_session_says_until_when_and_why(viewer):
    until = timezone.now() + timedelta(minutes=30)
    held = SessionFactory(
        incident=IncidentFactory(), not_before=until, held_for="in maintenance: upgrade"
    )

    row = viewer.get("/fragments/active/").content.decode()
    assert "held until" in row
    assert "in maintenance: upgrade</small>" in row
    page = viewer.get(f"/sessions/{held.pk}/").content.decode()
    assert "It waits: in maintenance: upgrade." in page


def test_the_page_of_a_session_shows_when_each_alert_came_and_went(viewer):
    earlier = SessionFactory(completed=True, incident=IncidentFactory(), title="Last week's")
    incident = IncidentFactory(previous=earlier.incident, team="payments", member_count=3)
    session = SessionFactory(completed=True, incident=incident)
    member = EpisodeFactory(incident=incident, title="Disk <b> is full", count=7)
    for kind in ("joined", "resolved", "reopened"):
        MemberChangeFactory(episode=member, kind=kind)

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()

    assert "Disk &lt;b&gt; is full" in page
    for words in ("joined", "resolved", "fires again", "told 7 times", "payments", "and 2 more"):
        assert words in page
    assert f'href="/sessions/{earlier.pk}/"' in page


def test_an_open_page_shows_what_its_incident_has_become():
    session = SessionFactory(running=True, incident=IncidentFactory())
    execution = ExecutionFactory(stage=StageFactory(session=session))
    news = add_event(execution, TimelineEvent.Type.NOTICE, "Over: a.", about="incident")
    Incident.objects.update(state="recovered", firing_count=0, recovered_at=timezone.now())

    for told in (session_updated(session.pk), timeline_event_created(news)):
        html = fragment_for(told)
        assert 'id="incident"' in html
        assert "1 alert, 0 firing, recovered" in html
        assert '<span class="t-tag">Recovered</span>' in html


def test_a_plain_session_has_no_incident(viewer):
    assert 'id="incident"' not in viewer.get(f"/sessions/{SessionFactory().pk}/").content.decode()


# ---- What would become of a post ----------------------------------------------------------------


def nothing_is_kept() -> bool:
    return not any(model.objects.exists() for model in (AlertSession, Incident, Delivery))


def test_the_box_says_what_would_be_done_and_does_nothing(viewer):
    answer = viewer.post(
        "/submit-alert/route/", {"source": "alertmanager", "post": json.dumps(POST)}
    )

    page = answer.content.decode()
    assert answer.status_code == 200
    assert "waits 30 s for more alerts of its group" in page
    assert "group g1" in page
    assert "chain host" in page
    assert "resolved" in page
    assert nothing_is_kept()


@pytest.mark.parametrize("post", ["", "{", "[]", json.dumps({"hello": "world"})])
def test_the_box_says_what_is_wrong_with_a_post(viewer, post):
    answer = viewer.post("/submit-alert/route/", {"source": "sentry", "post": post})

    assert answer.status_code == 422
    assert 'id="route-error"' in answer.content.decode()


def test_the_command_says_the_same(tmp_path: Path):
    file = tmp_path / "post.json"
    file.write_text(json.dumps(POST))
    out = StringIO()

    call_command("route", "--data", str(file), stdout=out)

    told = out.getvalue()
    assert "read as a post of alertmanager" in told
    assert "DiskFull (warning): held until" in told
    assert "alert type host, chain host" in told
    assert nothing_is_kept()
    with pytest.raises(CommandError, match="would be refused"):
        call_command("route", "--data", str(file), "--source", "grafana")


def test_a_duplicate_is_shown_with_the_chain_of_its_investigation(viewer, tmp_path: Path):
    take_delivery(read_delivery(Post(POST)), body=POST, author="")
    file = tmp_path / "post.json"
    file.write_text(json.dumps(POST))
    out = StringIO()

    call_command("route", "--data", str(file), stdout=out)
    page = viewer.post("/submit-alert/route/", {"source": "", "post": json.dumps(POST)})

    for told in (out.getvalue(), page.content.decode()):
        assert "duplicate of incident" in told
        assert "alert type host, chain host" in told
    assert Delivery.objects.count() == 1


# ---- Maintenance --------------------------------------------------------------------------------


def test_a_window_is_opened_by_a_person_and_ended_early_and_lets_go_of_what_it_held(viewer):
    ends = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    form = {"name": "Upgrade <b>", "matchers": 'cluster="blue"\n\n', "ends_at": ends}

    wrong = viewer.post("/maintenance/open/", {**form, "matchers": "cluster"})
    viewer.post("/maintenance/open/", form)
    [window] = viewer.get("/api/v1/maintenance").json()["windows"]
    page = viewer.get("/maintenance/").content.decode()
    held = SessionFactory(
        incident=IncidentFactory(),
        not_before=timezone.now() + timedelta(hours=1),
        held_for="in maintenance: Upgrade",
    )
    ended = viewer.delete(f"/api/v1/maintenance/{window['id']}")

    held.refresh_from_db()
    assert wrong.status_code == 422
    assert "must be matchers such as" in wrong.content.decode()
    assert "cluster=&quot;blue&quot;</div>" in page
    assert window["matchers"] == ['cluster="blue"']
    assert window["author"] == viewer.get("/").wsgi_request.user.username
    assert "Upgrade &lt;b&gt;" in page
    assert ended.status_code == 200
    assert not held.is_held
    assert viewer.delete(f"/api/v1/maintenance/{window['id']}").status_code == 409
    assert AuditEvent.objects.filter(action__startswith="maintenance.").count() == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"starts_at": "tomorrow"}, "The start must be a moment"),
        ({"ends_at": "31.01."}, "The end must be a moment"),
        ({"ends_at": ""}, "The end is needed: when the window ends, in UTC."),
        ({"name": "a\0b"}, "The name has a NUL character"),
        ({"matchers": 'a="\0"'}, "A matcher has a NUL character"),
    ],
)
def test_what_cannot_be_read_of_a_window_is_said_and_opens_none(viewer, wrong, said):
    ends = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")

    answer = viewer.post("/maintenance/open/", {"name": "Upgrade", "ends_at": ends, **wrong})

    assert answer.status_code == 422
    (field,) = wrong
    (error,) = re.findall(
        r'<p class="t-formerror" id="window-([a-z]+)-error">', answer.content.decode()
    )
    assert field.startswith(error)
    assert said in answer.content.decode()
    assert "No window is open" in answer.content.decode()


def test_an_empty_form_of_a_window_says_at_each_field_what_is_needed(viewer):
    page = viewer.post("/maintenance/open/", {"name": " ", "ends_at": ""}).content.decode()

    assert 'id="window-name-error">A name is needed.</p>' in page
    assert 'id="window-end-error">The end is needed: when the window ends, in UTC.</p>' in page
    assert "ends_at:" not in page


SOON = (timezone.now() + timedelta(hours=1)).isoformat()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "a"}, "ends_at"),
        ({"name": " ", "ends_at": "2036-01-01T00:00:00Z"}, "name"),
        ({"name": "a", "ends_at": "2036-01-01T00:00:00Z"}, "ends_at"),
        ({"name": "a", "ends_at": "2026-01-01T00:00:00Z"}, "ends_at"),
        ({"name": "a", "ends_at": "soon"}, "ends_at"),
        ({"name": "a", "ends_at": "2036-01-01T00:00:00Z", "matchers": ["="]}, "matchers[0]"),
        ({"name": "a", "ends_at": SOON, "match": ["cluster=blue"]}, "match"),
        ({"name": "a", "ends_at": SOON, "start": "2036-01-01T00:00:00Z"}, "start"),
    ],
)
def test_a_window_that_cannot_be_is_refused_by_its_field(viewer, body, field):
    answer = viewer.post("/api/v1/maintenance", body, content_type="application/json")

    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_window_is_opened_again_as_it_was_shown(viewer):
    body = {"name": "Upgrade", "ends_at": SOON, "matchers": ["cluster=blue"]}
    shown = viewer.post("/api/v1/maintenance", body, content_type="application/json").json()

    again = viewer.post("/api/v1/maintenance", shown, content_type="application/json")

    assert (again.status_code, again.json()["matchers"]) == (201, ["cluster=blue"])
