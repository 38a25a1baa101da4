"""What operators ask of the administration's lists: in which order, of whom, with which errors."""

import re
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from investigations.models import (
    AlertSession,
    ApiToken,
    AuditEvent,
    LLMInteraction,
    MCPInteraction,
    Message,
    TimelineEvent,
)
from investigations.roles import create_roles
from investigations.selectors.tokens import find_token
from tests import factories

pytestmark = pytest.mark.django_db
HISTORY = {
    TimelineEvent: factories.TimelineEventFactory,
    Message: factories.MessageFactory,
    LLMInteraction: factories.LLMInteractionFactory,
    MCPInteraction: factories.MCPInteractionFactory,
}


@pytest.fixture
def operator(client):
    client.force_login(factories.UserFactory(admin=True, username="ann"))
    return client


def address_of(model) -> str:
    return reverse(f"admin:investigations_{model._meta.model_name}_changelist")


def listed(client, model, **query) -> list[str]:
    """The ids of the rows that the list shows, in its order."""
    page = client.get(address_of(model), query, follow=True)
    assert page.status_code == 200, page.content[:300]
    ids = re.findall(rf"/{model._meta.model_name}/([0-9a-f-]{{36}})/change/", page.content.decode())
    return list(dict.fromkeys(ids))


# ---- Order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", HISTORY, ids=lambda model: model.__name__)
def test_the_history_is_listed_in_the_order_in_which_it_happened(operator, model):
    execution = factories.ExecutionFactory(active=True)
    start = timezone.now() - timedelta(minutes=5)
    numbered = hasattr(model, "sequence_number")
    rows = [
        HISTORY[model](
            execution=execution,
            created_at=start + timedelta(seconds=number // 2 if numbered else number),
            **({"sequence_number": number + 1} if numbered else {}),
        )
        for number in range(8)
    ]
    newest_first = [str(row.pk) for row in reversed(rows)]

    assert listed(operator, model) == newest_first
    assert listed(operator, model, q=str(execution.session_id)) == newest_first
    assert listed(operator, model, **chosen_day(start)) == newest_first
    exported = operator.get(f"{address_of(model)}export.json").streaming_content
    text = b"".join(exported).decode()
    assert re.findall(r'"id": "([0-9a-f-]{36})"', text) == newest_first


def chosen_day(moment: datetime) -> dict[str, int]:
    return {f"created_at__{part}": getattr(moment, part) for part in ("year", "month", "day")}


@pytest.mark.parametrize("model", HISTORY, ids=lambda model: model.__name__)
def test_no_list_sorts_its_whole_table(operator, model):
    with connection.cursor() as cursor:
        for way in ("seqscan", "sort", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
    response = operator.get(address_of(model))

    plan = response.context["cl"].queryset[:50].explain()

    assert "Seq Scan" not in plan
    assert not re.search(r"(?<!Incremental )Sort  \(", plan), plan


# ---- Filters and errors -------------------------------------------------------------------------


def test_what_failed_today_is_one_click_away(operator):
    failed = factories.ExecutionFactory(failed=True, error_message="The provider is away.")
    factories.ExecutionFactory(completed=True)
    model = type(failed)

    found = listed(operator, model, status__exact="failed")
    page = operator.get(address_of(model), {"status__exact": "failed"}, follow=True)

    assert found == [str(failed.pk)]
    assert page.redirect_chain[0][0].count("created_at__") == 3
    assert "these are the rows of today" in page.content.decode()


def test_what_failed_the_day_before_is_found_on_its_day(operator):
    yesterday = timezone.now() - timedelta(days=1)
    call = factories.LLMInteractionFactory(error_message="429", created_at=yesterday)
    factories.LLMInteractionFactory(error_message="", created_at=yesterday)
    factories.LLMInteractionFactory(error_message="500")

    assert listed(operator, LLMInteraction, error="yes", **chosen_day(yesterday)) == [str(call.pk)]


def test_a_file_of_filtered_rows_is_of_one_day_too(operator):
    factories.MCPInteractionFactory(error_message="away")

    wide = operator.get(f"{address_of(MCPInteraction)}export.csv", {"error": "yes"})

    assert wide.status_code == 400


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (LLMInteraction, "model_name", "gpt-lab"),
        (LLMInteraction, "provider_name", "lab"),
        (MCPInteraction, "server_name", "prometheus"),
        (MCPInteraction, "tool_name", "query_range"),
    ],
)
def test_calls_are_filtered_by_whom_they_asked(operator, model, field, value):
    wanted, other = HISTORY[model](**{field: value}), HISTORY[model](**{field: "another"})

    page = operator.get(address_of(model)).content.decode()

    assert listed(operator, model, **{field: value}) == [str(wanted.pk)]
    assert f"?{field}={value}" in page
    assert other.pk != wanted.pk


@pytest.mark.parametrize("column", ["alert_type", "chain_id", "author"])
def test_sessions_and_what_belongs_to_them_are_filtered_by_what_people_know(operator, column):
    wanted = factories.SessionFactory(**{column: "ours"})
    call = factories.MCPInteractionFactory(
        execution=factories.ExecutionFactory(stage__session=wanted)
    )
    factories.MCPInteractionFactory()

    page = operator.get(address_of(AlertSession)).content.decode()

    assert f"?{column}=ours" in page
    assert listed(operator, AlertSession, **{column: "ours"}) == [str(wanted.pk)]
    assert listed(operator, MCPInteraction, **{f"session__{column}": "ours"}) == [str(call.pk)]


def test_errors_stand_in_the_lists(operator):
    session = factories.SessionFactory(failed=True, error_message="No worker took it. " * 20)

    page = operator.get(address_of(AlertSession)).content.decode()
    found = listed(operator, AlertSession, error="yes")

    assert "No worker took it." in page
    assert "No worker took it. " * 20 not in page
    assert found == [str(session.pk)]


# ---- Search -------------------------------------------------------------------------------------


def test_sessions_are_found_by_title_author_and_the_beginning_of_an_id(operator):
    wanted = factories.SessionFactory(title="DiskFull on shop-db-1", author="bea", alert_data="x")
    factories.SessionFactory(title="Latency", author="carl", alert_data="y")

    for text in ("shop-db-1", "diskfull", "bea", str(wanted.pk)[:8], str(wanted.pk)[:13]):
        assert listed(operator, AlertSession, q=text) == [str(wanted.pk)], text


def test_rows_of_a_session_are_found_by_the_beginning_of_its_id(operator):
    event, other = factories.TimelineEventFactory(), factories.TimelineEventFactory()

    assert listed(operator, TimelineEvent, q=str(event.session_id)[:8]) == [str(event.pk)]
    assert other.session_id != event.session_id


# ---- Restoring ----------------------------------------------------------------------------------


def restore(client, row):
    sent = {"action": "restore", "_selected_action": [str(row.pk)], "confirmed": "yes"}
    page = client.post(f"{address_of(AlertSession)}?deleted=yes", sent, follow=True)
    return page.content.decode()


def test_a_deleted_session_is_brought_back_and_the_trail_says_by_whom(operator):
    deleted = factories.SessionFactory(completed=True, deleted_at=timezone.now())

    page = restore(operator, deleted)

    assert "1 alert session brought back." in page
    assert operator.get(f"/sessions/{deleted.pk}/").status_code == 200
    act = AuditEvent.objects.get(action="session.restore")
    assert (act.actor, act.target_id) == ("ann", str(deleted.pk))


def test_a_session_that_retention_would_hide_again_stays_where_it_is(operator):
    long_ago = timezone.now() - timedelta(days=4000)
    old = factories.SessionFactory(completed=True, completed_at=long_ago, deleted_at=timezone.now())

    page = restore(operator, old)

    assert "retention would soon hide it again" in page
    old.refresh_from_db()
    assert old.deleted_at is not None


# ---- Tokens -------------------------------------------------------------------------------------


def make_token(client, owner, **more):
    sent = {"name": "ci", "owner": owner.pk, "scopes": ["read", "submit"], **more}
    return client.post(reverse("admin:investigations_apitoken_add"), sent)


def test_a_token_is_made_and_shown_once(operator):
    owner = factories.UserFactory(username="robot")

    answer = make_token(operator, owner)

    text = re.search(r'id="token">(tarsy_[\w-]+)<', answer.content.decode())[1]
    token = find_token(text)
    assert (token.owner, token.scopes) == (owner, ["read", "submit"])
    assert "no-store" in answer["Cache-Control"]
    assert text not in operator.get(address_of(ApiToken)).content.decode()
    made = AuditEvent.objects.get(action="token.create")
    assert (made.actor, made.details["owner"]) == ("ann", "robot")


def test_a_second_token_of_a_name_is_refused_with_the_reason(operator):
    owner = factories.UserFactory(username="robot")
    make_token(operator, owner)

    again = make_token(operator, owner).content.decode()

    assert "robot already has a token named" in again
    assert ApiToken.objects.count() == 1


def test_who_is_no_superuser_makes_tokens_for_themselves_only(client):
    create_roles()
    clerk = factories.UserFactory(is_staff=True)
    clerk.groups.add(Group.objects.get(name="viewer"))
    clerk.user_permissions.add(
        *Permission.objects.filter(codename__in=["add_apitoken", "view_apitoken"])
    )
    boss = factories.UserFactory(admin=True)
    client.force_login(clerk)

    refused, made = make_token(client, boss), make_token(client, clerk)

    assert "Select a valid choice" in refused.content.decode()
    assert 'id="token"' in made.content.decode()
    assert [token.owner for token in ApiToken.objects.all()] == [clerk]


def test_who_may_not_make_tokens_is_refused(client):
    reader = factories.UserFactory(is_staff=True)
    client.force_login(reader)

    assert client.get(reverse("admin:investigations_apitoken_add")).status_code == 403
