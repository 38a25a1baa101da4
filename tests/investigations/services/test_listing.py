"""The list is of incidents: a plain alert is one, and what is looked into again stays one row."""

import itertools
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from config import get_config, use_config
from config.schema.incidents import IncidentsConfig, InhibitionConfig, MaintenanceConfig
from investigations.models import AlertEpisode, AlertSession, Incident
from investigations.selectors.incidents import (
    IncidentFilter,
    list_incidents,
    read_incident,
    read_shown_incident,
)
from investigations.selectors.session_list.rows import RecentRow, read_recent
from investigations.selectors.sessions import SessionFilter
from investigations.services.deliveries import take_delivery
from investigations.services.incidents.investigating import RECOVERED_BEFORE
from investigations.services.incidents.telling import follows_incident
from investigations.services.intake import DATA_LIMIT, read_alert, submit_alert
from investigations.services.sessions import (
    claim_next_session,
    delete_session,
    restore_session,
    retry_session,
)
from investigations.sources.reading import JSON, Post
from investigations.sources.registry import read_post_of
from tarsy.errors import Conflict, NotFound
from tests.factories import ExecutionFactory, SessionFactory
from tests.investigations.engine import committed
from tests.processes import wait_for

pytestmark = pytest.mark.django_db
PLAIN = {"data": {"alert": "disk full", "severity": "critical", "host": "db-1"}}
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with configured(group_wait="0s"):
        yield


def configured(**fields: object) -> object:
    return use_config(replace(get_config(), incidents=IncidentsConfig(**fields)))


def rows(**wanted: object) -> list[RecentRow]:
    return list(read_recent(SessionFilter(by_incident=True, **wanted)).rows)


def ids(found: list[RecentRow]) -> list[object]:
    return [each.session.pk for each in found]


def post(status: str = "firing", key: str = "a", group: str = "g") -> AlertSession | None:
    alert: JSON = {"status": status, "labels": {"alertname": key}, "fingerprint": key}
    body: JSON = {"version": "4", "groupKey": group, "alerts": [alert], "n": next(_numbers)}
    reading = read_post_of("alertmanager", Post(body), {})
    return take_delivery(reading, body=body, author="test").session


def end(session: AlertSession, status: str = "failed") -> None:
    """As if it had been sent a while ago: all that a test writes has one moment."""
    now = timezone.now()
    AlertSession.objects.filter(pk=session.pk).update(
        status=status, created_at=now - timedelta(minutes=5), started_at=now, completed_at=now
    )


def test_a_plain_alert_is_an_incident_with_one_member():
    session = submit_alert(read_alert(PLAIN), author="test")

    incident = Incident.objects.get()
    assert (incident.kind, incident.state, incident.severity) == ("alert", "firing", "critical")
    detail = read_incident(incident.pk)
    assert [each.episode.title for each in detail.members] == [session.title]
    assert (incident.member_count, detail.more_members) == (1, 0)
    assert [each.pk for each in detail.sessions] == [session.pk]
    # It looks as it always did: nothing is said of an incident, and no agent waits for news of it.
    assert read_shown_incident(session) is None
    assert not follows_incident(ExecutionFactory(session=session))


def test_nothing_holds_joins_or_ends_a_plain_alert_and_it_explains_no_other():
    always = MaintenanceConfig(
        name="always", match=[], days=["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        begins="00:00", ends="24:00",
    )  # fmt: skip
    explains = InhibitionConfig(source_match=["severity=critical"], target_match=["alertname=~.+"])
    with configured(group_wait="0s", maintenance=[always], inhibit=[explains]):
        first = submit_alert(read_alert(PLAIN), author="test")
        assert claim_next_session() == first.pk
    with configured(group_wait="0s", inhibit=[explains], storm_after=1):
        second = post()
    assert second is not None
    assert (second.held_for, second.incident.kind) == ("", "group")


def test_whoever_asks_for_what_fires_is_shown_no_plain_alerts_of_before():
    plain = submit_alert(read_alert(PLAIN), author="test")
    followed = post()
    assert followed is not None
    for session in (plain, followed):
        end(session)

    assert ids(rows(states=["firing", "reopened"])) == [followed.pk]
    assert len(rows()) == 2


def test_what_is_looked_into_again_is_one_row_by_its_newest_investigation():
    first = submit_alert(read_alert(PLAIN), author="test")
    end(first)
    again = retry_session(first.pk, "ana")

    assert again.incident_id == first.incident_id
    assert (again.title, again.severity) == (first.title, first.severity)
    assert (ids(rows()), rows()[0].investigations) == ([again.pk], 2)
    assert rows(statuses=["failed"]) == []
    shown = read_shown_incident(again)
    assert shown is not None
    assert {each.pk for each in shown.sessions} == {first.pk, again.pk}


def test_an_alert_that_has_grown_beyond_what_may_be_sent_can_be_repeated():
    rows_of_data = [{"k": number} for number in range(60_000)]
    first = submit_alert(read_alert({"data": {"rows": rows_of_data}}), author="test")
    end(first)
    assert len(first.alert_data) > DATA_LIMIT

    again = retry_session(first.pk, "ana")

    assert again.alert_data == first.alert_data


def test_a_row_is_found_by_what_an_earlier_investigation_found():
    first = submit_alert(read_alert(PLAIN), author="test")
    end(first, "completed")
    AlertSession.objects.filter(pk=first.pk).update(final_analysis="The zebrafish swims.")
    again = retry_session(first.pk, "ana")

    assert ids(rows(search="zebrafish")) == [again.pk]
    assert ids(rows(search=str(first.pk))) == [again.pk]
    assert rows(search="nothing of it") == []
    plain = read_recent(SessionFilter(search="zebrafish"))
    assert [each.session.pk for each in plain.rows] == [first.pk]


def test_a_deleted_investigation_leaves_the_row_to_the_one_before_it():
    first = submit_alert(read_alert(PLAIN), author="test")
    end(first)
    again = retry_session(first.pk, "ana")
    end(again)
    AlertSession.objects.filter(pk=again.pk).update(created_at=timezone.now())

    delete_session(again.pk, "ana")
    assert ids(rows()) == [first.pk]
    restore_session(again.pk, "ana")
    assert ids(rows()) == [again.pk]


def test_what_was_deleted_finds_nothing_and_takes_its_plain_alert_along():
    first = submit_alert(read_alert(PLAIN), author="test")
    end(first, "completed")
    AlertSession.objects.filter(pk=first.pk).update(final_analysis="The zebrafish swims.")
    again = retry_session(first.pk, "ana")
    end(again)

    delete_session(first.pk, "ana")
    assert rows(search="zebrafish") == []
    assert ids(rows()) == [again.pk]
    assert read_incident(first.incident_id).sessions == [again]
    delete_session(again.pk, "ana")
    with pytest.raises(NotFound):
        read_incident(first.incident_id)
    assert list_incidents(IncidentFilter(), before="", page_size=9).incidents == []
    restore_session(again.pk, "ana")
    assert read_incident(first.incident_id).sessions == [again]


@committed
def test_who_deletes_the_newest_waits_for_who_deletes_the_one_before_it():
    first = submit_alert(read_alert(PLAIN), author="test")
    end(first)
    second = retry_session(first.pk, "ana")
    end(second, "completed")
    third = retry_session(second.pk, "ana")
    AlertSession.objects.filter(pk=third.pk).update(status="failed", completed_at=timezone.now())

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            delete_session(second.pk, "ana")
            waiting = other.submit(_delete_elsewhere, third.pk)
            wait_for(_somebody_waits_for_us)
        waiting.result(timeout=30)

    # The row is left to one that is there, and not to the one that was going.
    assert ids(rows()) == [first.pk]


def _delete_elsewhere(session_id: uuid.UUID) -> None:
    try:
        delete_session(session_id, "bob")
    finally:
        connection.close()


def _somebody_waits_for_us() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks"
            " WHERE NOT granted AND transactionid = pg_current_xact_id()::xid)"
        )
        return bool(cursor.fetchone()[0])


def test_a_retry_stays_with_its_incident_and_begins_although_that_has_recovered():
    first = post()
    assert first is not None
    end(first)
    post("resolved")
    again = retry_session(first.pk, "ana")

    assert again.incident_id == first.incident_id
    always = MaintenanceConfig(
        name="always", match=[], days=["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        begins="00:00", ends="24:00",
    )  # fmt: skip
    with configured(group_wait="0s", maintenance=[always]):
        assert claim_next_session() == again.pk
    # What was sent while it fired is still what there is to look into.
    again.refresh_from_db()
    assert '"alertname": "a"' in again.alert_data
    assert again.source == "alertmanager"


@pytest.mark.parametrize("when_recovered", ["finish", "stop"])
def test_a_retry_that_waits_begins_although_its_incident_recovers_meanwhile(when_recovered):
    first = post()
    assert first is not None
    end(first)
    again = retry_session(first.pk, "ana")

    with configured(group_wait="0s", when_recovered=when_recovered):
        post("resolved")
        assert claim_next_session() == again.pk


def test_of_an_incident_one_investigation_at_a_time_is_repeated():
    first = post()
    assert first is not None
    post("resolved")
    first.refresh_from_db()
    assert first.error_message == RECOVERED_BEFORE
    second = post()
    assert second is not None

    with pytest.raises(Conflict, match=f"{second.pk}, is pending"):
        retry_session(first.pk, "ana")

    assert ids(rows()) == [second.pk]
    assert rows()[0].investigations == 2


def test_incidents_that_a_storm_took_over_before_they_began_are_no_rows():
    with configured(group_wait="0s", storm_after=3):
        for name in "abcdef":
            body: JSON = [{"labels": {"alertname": name}}]
            reading = read_post_of("prometheus", Post(body), {})
            take_delivery(reading, body=body, author="test")

    (row,) = rows()
    assert row.session.incident.kind == "storm"


def test_sessions_of_before_get_incidents_and_each_is_one_row():
    plain = SessionFactory(completed=True, incident=None, title="Disk full", severity="")
    first = SessionFactory(failed=True, incident=None)
    second = SessionFactory(failed=True, incident=None)
    third = SessionFactory(completed=True, incident=None)
    for earlier, later in ((first, second), (second, third)):
        AlertSession.objects.filter(pk=earlier.pk).update(
            session_metadata={"retried_as": str(later.pk)}
        )
    known = post()
    assert known is not None
    migration = import_module("investigations.migrations.0081_incidents_of_plain_alerts")

    for _ in range(2):  # What was interrupted is run once more.
        with connection.schema_editor() as editor:
            migration.give_incidents(None, editor)

    assert set(ids(rows())) == {plain.pk, third.pk, known.pk}
    third.refresh_from_db()
    assert third.incident_id == first.pk
    assert Incident.objects.filter(kind="alert").count() == 2
    assert Incident.objects.get(pk=plain.pk).severity == "unknown"
    assert AlertEpisode.objects.filter(incident=plain.pk).get().title == "Disk full"


# ---- Any mix ------------------------------------------------------------------------------------

GROUPS = {"a": "g1", "b": "g1", "c": "g2"}
ACTS = st.one_of(
    st.tuples(st.just("plain"), st.integers(0, 2)),
    st.tuples(st.sampled_from(["fire", "recover"]), st.sampled_from(sorted(GROUPS))),
    st.tuples(st.sampled_from(["begin", "end", "retry", "delete"]), st.integers(0, 9)),
)


def act(kind: str, place: str | int) -> None:
    """What somebody does; whatever is refused changes nothing."""
    sessions = list(AlertSession.objects.order_by("created_at", "id"))
    match kind:
        case "plain":
            submit_alert(read_alert({"data": f"disk {place} is full"}), author="test")
        case "fire" | "recover":
            post("firing" if kind == "fire" else "resolved", str(place), GROUPS[str(place)])
        case "begin":
            claim_next_session()
        case "end":
            for session in [each for each in sessions if each.status == "in_progress"][:1]:
                end(session, ("completed", "failed")[int(place) % 2])
        case "retry" | "delete" if sessions:
            chosen = sessions[int(place) % len(sessions)].pk
            with suppress(Conflict, NotFound):
                (retry_session if kind == "retry" else delete_session)(chosen, "ana")


@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(ACTS, min_size=5, max_size=25))
def test_no_mix_of_alerts_posts_and_people_makes_a_second_investigation_or_row(acts):
    with transaction.atomic():
        for kind, place in acts:
            act(kind, place)
        check_incidents()
        transaction.set_rollback(True)


def check_incidents() -> None:
    for incident in Incident.objects.all():
        sessions = list(incident.sessions.all())
        by_itself = [each for each in sessions if "retry_of" not in each.session_metadata]
        assert len([each for each in by_itself if each.error_message != RECOVERED_BEFORE]) <= 1
        assert len([each for each in sessions if not each.is_terminal]) <= 1
        there = [each for each in sessions if each.deleted_at is None]
        listed = [each for each in there if each.is_listed]
        assert len(listed) == bool(there)
        members = list(incident.members.all())
        if incident.kind == Incident.Kind.ALERT:
            assert (len(members), len(by_itself)) == (1, 1)
            continue
        assert {GROUPS[each.key] for each in members} == {incident.group_key}
        assert incident.firing_count == sum(each.state == "firing" for each in members)
        # Nothing that fires is left without anybody who looks, unless a person wanted it so.
        if incident.is_open and all(each.deleted_at is None for each in sessions):
            assert any(each.error_message != RECOVERED_BEFORE for each in sessions)
    assert not AlertSession.objects.filter(incident=None).exists()
