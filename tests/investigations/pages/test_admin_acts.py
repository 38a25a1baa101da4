"""What operators do in the administration: acts on chosen rows, files of whole lists."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.test import AsyncClient
from django.urls import reverse
from django.utils import timezone

from investigations.admin import actions, export
from investigations.models import AlertSession, AuditEvent
from investigations.roles import create_roles
from investigations.selectors.tokens import find_token
from investigations.services.tokens import create_token
from tests import factories

pytestmark = pytest.mark.django_db
SESSIONS = "/admin/investigations/alertsession/"


@pytest.fixture
def operator(client):
    client.force_login(factories.UserFactory(admin=True, username="ann"))
    return client


def choose(client, address, action, *rows, confirmed=True):
    sent = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    return client.post(address, sent | ({"confirmed": "yes"} if confirmed else {}), follow=True)


# ---- Acts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["cancel", "retry", "delete"])
def test_nothing_is_done_before_a_page_has_listed_what_was_chosen(operator, action):
    waiting, ended = factories.SessionFactory(), factories.SessionFactory(completed=True)

    page = choose(operator, SESSIONS, action, waiting, ended, confirmed=False).content.decode()

    assert f"{SESSIONS}{waiting.pk}/change/" in page
    assert f"{SESSIONS}{ended.pk}/change/" in page
    assert 'name="confirmed" value="yes"' in page
    assert AlertSession.objects.filter(status="pending", deleted_at=None).count() == 1
    assert not AuditEvent.objects.exists()


def test_chosen_sessions_are_cancelled_and_those_that_have_ended_are_named(operator):
    waiting, ended = factories.SessionFactory(), factories.SessionFactory(completed=True)

    page = choose(operator, SESSIONS, "cancel", waiting, ended).content.decode()

    waiting.refresh_from_db()
    assert waiting.status == "cancelled"
    assert "1 alert session told to stop." in page
    assert "is completed already and cannot be cancelled" in page
    acts = AuditEvent.objects.filter(actor="ann", action="session.cancel")
    assert [act.target_id for act in acts] == [str(waiting.pk)]
    assert [entry.object_id for entry in LogEntry.objects.all()] == [str(waiting.pk)]


def test_a_session_is_retried_once_however_often_it_is_sent(operator):
    ended = factories.SessionFactory(failed=True)

    choose(operator, SESSIONS, "retry", ended)
    again = choose(operator, SESSIONS, "retry", ended).content.decode()

    new = AlertSession.objects.get(status="pending")
    assert (new.alert_data, new.alert_type, new.author) == (
        ended.alert_data, ended.alert_type, "ann",
    )  # fmt: skip
    assert f"was retried already, as {new.pk}" in again
    assert AuditEvent.objects.get(action="session.retry").details == {"retried_as": str(new.pk)}


def test_a_running_session_is_neither_retried_nor_deleted(operator):
    running = factories.SessionFactory(running=True)

    retried = choose(operator, SESSIONS, "retry", running).content.decode()
    deleted = choose(operator, SESSIONS, "delete", running).content.decode()

    assert "can be retried when it has ended" in retried
    assert "cancel it first" in deleted
    running.refresh_from_db()
    assert running.deleted_at is None
    assert AlertSession.objects.count() == 1


def test_a_deleted_session_vanishes_and_is_not_deleted_twice(operator):
    ended = factories.SessionFactory(completed=True)

    choose(operator, SESSIONS, "delete", ended)
    again = choose(operator, SESSIONS, "delete", ended).content.decode()
    among_all = choose(operator, f"{SESSIONS}?deleted=all", "delete", ended).content.decode()

    assert operator.get(f"/sessions/{ended.pk}/").status_code == 404
    assert "Nothing of what was chosen is in this list any more" in again
    assert "there is no session" in among_all
    assert AuditEvent.objects.filter(action="session.delete").count() == 1


def test_deleted_sessions_are_listed_only_for_who_asks_for_them(operator):
    kept, deleted = factories.SessionFactory(), factories.SessionFactory(completed=True)
    choose(operator, SESSIONS, "delete", deleted)

    def listed(query: str) -> set[str]:
        page = operator.get(SESSIONS + query).content.decode()
        return {row for row in (str(kept.pk), str(deleted.pk)) if f"/{row}/change/" in page}

    assert listed("") == {str(kept.pk)}
    assert listed("?deleted=yes") == {str(deleted.pk)}
    assert listed("?deleted=all") == {str(kept.pk), str(deleted.pk)}


@pytest.mark.parametrize("shorten", [str, lambda row: str(row)[:8], lambda row: row.hex])
def test_an_id_finds_a_deleted_session_that_is_said_to_be_deleted(operator, shorten):
    kept = factories.SessionFactory(completed=True)
    gone = factories.SessionFactory(completed=True, deleted_at=timezone.now())

    page = operator.get(SESSIONS, {"q": shorten(gone.pk)}).content.decode()
    of_kept = operator.get(SESSIONS, {"q": shorten(kept.pk)}).content.decode()

    assert f"/{gone.pk}/change/" in page
    assert ">deleted<" in page
    assert f"/{kept.pk}/change/" in of_kept
    assert ">deleted<" not in of_kept


def test_whoever_asks_for_an_id_may_still_leave_out_what_is_deleted(operator):
    gone = factories.SessionFactory(completed=True, deleted_at=timezone.now())

    page = operator.get(SESSIONS, {"q": str(gone.pk)}).content.decode()
    others = operator.get(SESSIONS, {"q": str(gone.pk), "deleted": "no"}).content.decode()

    assert chosen_filter(page, "deleted") == "All"
    assert f"/{gone.pk}/change/" not in others
    assert chosen_filter(others, "deleted") == "Not deleted"


def chosen_filter(page: str, title: str) -> str:
    """The choice of a filter that is marked as the one in force."""
    [choices] = re.findall(rf'<details data-filter-title="{title}".*?</details>', page, re.DOTALL)
    [chosen] = re.findall(r'<li class="selected">\s*<a [^>]*>([^<]+)</a>', choices)
    return chosen


def test_acts_are_offered_and_done_only_by_permission(client):
    create_roles()
    reader = factories.UserFactory(is_staff=True)
    reader.groups.add(Group.objects.get(name="viewer"))
    reader.user_permissions.add(Permission.objects.get(codename="view_apitoken"))
    client.force_login(reader)
    waiting, ended = factories.SessionFactory(), factories.SessionFactory(completed=True)

    for action in ("cancel", "retry", "delete"):
        page = choose(client, SESSIONS, action, waiting, ended).content.decode()
        assert f'value="{action}"' not in page

    assert AlertSession.objects.filter(deleted_at=None).count() == 2
    assert not AuditEvent.objects.exists()


def test_more_rows_than_a_person_reads_are_not_acted_upon(operator, monkeypatch):
    monkeypatch.setattr(actions, "MOST_AT_ONCE", 2)
    waiting = factories.SessionFactory.create_batch(3)

    page = choose(operator, SESSIONS, "cancel", *waiting).content.decode()

    assert "Choose at most 2 at once" in page
    assert AlertSession.objects.filter(status="pending").count() == 3


def test_a_token_is_revoked_and_its_hash_is_never_shown(operator):
    owner = factories.UserFactory(username="pager-owner")
    text = create_token(owner=owner, name="pager", actor="test")
    token = find_token(text)
    address = reverse("admin:investigations_apitoken_changelist")
    one = reverse("admin:investigations_apitoken_change", args=[token.pk])

    seen = operator.get(address).content.decode() + operator.get(one).content.decode()
    choose(operator, address, "revoke", token)

    assert "pager-owner" in seen
    assert token.token_hash not in seen + read(operator.get(f"{address}export.csv"))
    assert find_token(text) is None
    assert AuditEvent.objects.get(action="token.revoke").actor == "ann"


# ---- Files --------------------------------------------------------------------------------------


def read(answer) -> str:
    return b"".join(answer.streaming_content).decode()


def test_the_filtered_rows_are_exported_over_all_pages_in_pieces(operator, monkeypatch):
    monkeypatch.setattr(export, "CHUNK", 3)
    same = timezone.now()
    wanted = factories.SessionFactory.create_batch(8, failed=True, created_at=same)
    factories.SessionFactory.create_batch(2)

    rows = list(csv.DictReader(io.StringIO(read(
        operator.get(f"{SESSIONS}export.csv?status__exact=failed")
    ))))  # fmt: skip
    as_json = json.loads(read(operator.get(f"{SESSIONS}export.json?status__exact=failed")))

    assert len(rows) == len(as_json) == 8
    assert {row["id"] for row in rows} == {str(session.pk) for session in wanted}
    assert [row["id"] for row in rows] == [row["id"] for row in as_json]
    assert "alert_data" not in rows[0]
    acts = AuditEvent.objects.filter(action="admin.export", target_id="alertsession")
    assert {act.details["format"] for act in acts} == {"csv", "json"}
    assert acts[0].details["query"] == {"status__exact": ["failed"]}


def test_an_empty_export_is_a_file_all_the_same(operator):
    assert json.loads(read(operator.get(f"{SESSIONS}export.json"))) == []
    assert read(operator.get(f"{SESSIONS}export.csv")).startswith("id,alert_type,")
    assert operator.get(f"{SESSIONS}export.exe").status_code == 404


@pytest.mark.parametrize("start", [
    "=", "+", "-", "@", "\t", "\r", " =", "＝", "\ufeff=", "\u200b+", "\u2060 \u200e@", "\u00ad-",
    "\u3164=", "\ufe0f=",
])  # fmt: skip
def test_no_cell_is_a_formula(operator, start):
    title = f"{start}HYPERLINK(1)"
    factories.SessionFactory(title=title)

    row = next(csv.DictReader(io.StringIO(read(operator.get(f"{SESSIONS}export.csv")), newline="")))

    assert row["title"] == f"'{title}"


@pytest.mark.django_db(transaction=True)
async def test_under_asgi_the_export_is_sent_in_pieces_too():
    client = AsyncClient()
    await client.aforce_login(await User.objects.acreate(
        username="ann", is_staff=True, is_superuser=True
    ))  # fmt: skip
    await AlertSession.objects.acreate(alert_type="kubernetes", alert_data="{}", chain_id="k")

    answer = await client.get(f"{SESSIONS}export.json")
    pieces = [piece async for piece in answer.streaming_content]

    assert answer.is_async
    assert len(json.loads(b"".join(pieces))) == 1


# ---- Ways through the history -------------------------------------------------------------------


def test_dates_lead_to_a_day_without_reading_the_table(operator, django_assert_max_num_queries):
    old = factories.SessionFactory(created_at=datetime(2025, 2, 3, 12, tzinfo=UTC))
    new = factories.SessionFactory(created_at=timezone.now())

    # Three of them are looks into indexes, for the values that the filters offer.
    with django_assert_max_num_queries(10) as queries:
        years = operator.get(SESSIONS).content.decode()
    months = operator.get(f"{SESSIONS}?created_at__year=2025").content.decode()
    days = operator.get(f"{SESSIONS}?created_at__year=2025&created_at__month=2").content.decode()
    day = operator.get(
        f"{SESSIONS}?created_at__year=2025&created_at__month=2&created_at__day=3"
    ).content.decode()

    assert "?created_at__year=2025" in years
    assert not any("DISTINCT" in query["sql"] for query in queries.captured_queries)
    assert "created_at__month=2&amp;created_at__year=2025" in months
    assert "created_at__month=1&amp;" not in months
    assert "created_at__day=3&amp;" in days
    for page in (months, days, day):
        assert f"/{old.pk}/change/" in page
        assert f"/{new.pk}/change/" not in page


def test_a_session_leads_to_all_that_belongs_to_it(operator):
    event = factories.TimelineEventFactory(created_at=timezone.now() - timedelta(days=1))

    page = operator.get(f"{SESSIONS}{event.session_id}/change/").content.decode()

    for model in ("stage", "agentexecution", "timelineevent", "message", "event"):
        assert f'href="/admin/investigations/{model}/?q={event.session_id}"' in page


# ---- Whatever the address says ------------------------------------------------------------------

HOSTILE = [
    f"{SESSIONS}?created_at__year=-1",
    f"{SESSIONS}?created_at__year=0",
    f"{SESSIONS}?created_at__year=99999999999999999999",
    f"{SESSIONS}?created_at__year=9999&created_at__month=12&created_at__day=31",
    f"{SESSIONS}?created_at__year=9999",
    f"{SESSIONS}?created_at__year=x",
    f"{SESSIONS}?created_at__month=5",
    f"{SESSIONS}?created_at__year=2025&created_at__month=13",
    f"{SESSIONS}?created_at__gte=99999-99-99",
    f"{SESSIONS}?created_at__gte=0001-01-01+00:00:00%2B14:00",
    f"{SESSIONS}?status__exact=%00",
    f"{SESSIONS}?status__regex=(",
    f"{SESSIONS}?nothing=1",
    f"{SESSIONS}?q=%00",
    f"{SESSIONS}?q={'a+' * 2000}",
    f"{SESSIONS}?p=-1",
    f"{SESSIONS}?p=99999999999999999999",
    f"{SESSIONS}?p=x",
    f"{SESSIONS}?o=99.x.-1",
    f"{SESSIONS}?_to_field=%00",
    f"{SESSIONS}?all=1",
    f"{SESSIONS}?_facets=1",
    f"{SESSIONS}export.csv?status__exact=%00",
    f"{SESSIONS}export.csv?created_at__year=-1",
    f"{SESSIONS}%00/change/",
    f"{SESSIONS}_00/change/",
    f"{SESSIONS}_00/history/",
    "/admin/investigations/agentexecution/?attempt__exact=99999999999999999999&q={id}",
    "/admin/investigations/agentexecution/?status__exact=%00&q={id}",
    "/admin/investigations/auditevent/?q=%00",
    "/admin/investigations/auditevent/?action=%00",
    "/admin/investigations/auditevent/99999999999999999999/change/",
    "/admin/investigations/apitoken/?revoked_at__isempty=x",
    "/admin/auth/user/?is_staff__exact=x",
    "/admin/auth/user/?groups__id__exact=99999999999999999999",
    "/admin/auth/user/?groups__id__exact=x",
    "/admin/auth/user/?last_login__year=-1",
    "/admin/auth/user/?username__regex=(",
    "/admin/auth/user/?username=%00",
    "/admin/auth/user/?q=%00",
    "/admin/auth/user/add/?groups=%00",
    "/admin/autocomplete/?term=%00",
    "/admin/autocomplete/?term=%00&app_label=auth&model_name=user&field_name=groups",
    "/admin/autocomplete/?app_label=%00&model_name=%00&field_name=%00",
    "/admin/r/1/%00/",
    "/admin/r/{type}/x/",
    "/admin/r/99999999999999999999/1/",
    "/admin/jsi18n/?x=%00",
    "/admin/login/?next=%00",
    "/admin/%00/",
]


@pytest.mark.django_db(transaction=True)
def test_no_address_of_the_administration_is_an_error_of_ours(operator):
    operator.raise_request_exception = False
    kind = Permission.objects.get(codename="view_alertsession").content_type_id
    session = factories.SessionFactory()
    wrong = []
    for address in HOSTILE:
        url = address.replace("{id}", str(session.pk)).replace("{type}", str(kind))
        answer = operator.get(url)
        if answer.status_code not in (200, 302, 400, 403, 404):
            wrong.append(f"{url[:90]}: {answer.status_code}")

    assert wrong == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", ["alertsession", "auditevent", "apitoken"])
def test_chosen_rows_that_cannot_be_are_a_bad_request(operator, model):
    operator.raise_request_exception = False
    factories.SessionFactory()
    address = f"/admin/investigations/{model}/"
    for identity in ("\x00", "x", "9" * 30):
        sent = {"action": "cancel", "_selected_action": [identity], "confirmed": "yes"}
        assert operator.post(address, sent).status_code in (200, 302, 400), identity
