from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import SessionFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_strangers_are_sent_to_the_login_and_come_back(client):
    answer = client.get("/?status=failed")

    assert answer.status_code == 302
    assert answer.url == "/login/?next=/%3Fstatus%3Dfailed"


def test_a_script_of_a_stranger_gets_401(client):
    assert client.get("/fragments/active/", headers={"HX-Request": "true"}).status_code == 401


def test_everybody_may_look_on_a_closed_network(client, settings):
    settings.TARSY_AUTH = "none"

    assert client.get("/").status_code == 200


def test_an_empty_list_shows_how_to_send_an_alert_to_this_host(viewer):
    page = viewer.get("/", headers={"host": "localhost"}).content.decode()

    assert "No alert has arrived yet" in page
    assert "curl -X POST http://localhost/api/v1/alerts" in page


def test_running_queued_and_ended_sessions_have_their_sections(viewer, running):
    SessionFactory(title="waits first")
    SessionFactory(completed=True, title="is over")

    page = viewer.get("/").content.decode()

    assert "Investigate: writing" in page
    assert "0 of 1" in page
    assert page.index("basket restarts") < page.index("waits first") < page.index("is over")


def test_the_conclusion_is_told_in_one_line(viewer, finished):
    page = viewer.get("/").content.decode()

    assert "The basket service passes its memory limit." in page
    assert "[T1]" not in page


def test_a_failed_session_tells_its_reason(viewer):
    SessionFactory(failed=True)

    assert "The model provider refused the key (401)." in viewer.get("/").content.decode()


def test_pages_follow_each_other_without_gap_or_repeat(viewer):
    now = timezone.now()
    for n in range(60):
        # Several share one moment: the id decides then.
        at = now - timedelta(minutes=n // 3)
        SessionFactory(completed=True, title=f"session-{n:03}", created_at=at)

    seen, address = [], "/"
    for _ in range(3):
        recent = viewer.get(address).context["recent"]
        seen += [row.session.title for row in recent.rows]
        address = f"/?before={recent.next_cursor}"

    assert len(seen) == 60
    assert len(set(seen)) == 60
    assert recent.next_cursor == ""


def test_a_false_cursor_is_refused(viewer):
    assert viewer.get("/?before=yesterday").status_code == 400


def test_the_status_filter_keeps_only_what_it_names(viewer):
    SessionFactory(completed=True, title="went well")
    SessionFactory(failed=True, title="went badly")

    page = viewer.get("/?status=failed").content.decode()

    assert "went badly" in page
    assert "went well" not in page


def test_a_filter_without_a_match_offers_the_way_back(viewer):
    SessionFactory(completed=True)

    assert "No session matches this filter" in viewer.get("/?status=timed_out").content.decode()


def test_removed_sessions_are_gone(viewer):
    SessionFactory(completed=True, title="removed", deleted_at=timezone.now())

    assert "removed" not in viewer.get("/").content.decode()


def test_the_number_of_queries_does_not_grow_with_the_rows(viewer, django_assert_max_num_queries):
    for _ in range(3):
        SessionFactory(running=True)
    for _ in range(30):
        SessionFactory(completed=True)

    with django_assert_max_num_queries(22):
        viewer.get("/")


def test_the_row_of_a_session_that_ended_says_so(viewer):
    session = SessionFactory(completed=True)

    assert "Completed" in viewer.get(f"/sessions/{session.pk}/row/").content.decode()


def test_admins_find_the_admin_and_others_do_not(client, viewer):
    assert 'href="/admin/"' not in viewer.get("/").content.decode()
    client.force_login(UserFactory(admin=True))
    assert 'href="/admin/"' in client.get("/").content.decode()
