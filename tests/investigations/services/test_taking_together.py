"""Posts that are taken together become what they would have become one after the other."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.errors import LockNotAvailable

from config import get_config, use_config
from config.schema.incidents import IncidentsConfig
from investigations.incidents.grouping import STORM_KEY
from investigations.models import AlertEpisode, AlertSession, Delivery, Incident, MemberChange
from investigations.services.deliveries import (
    DescribedPost,
    Outcome,
    company_of,
    describe_post,
    take_delivery,
    take_together,
)
from investigations.services.incidents import known
from investigations.services.incidents.known import number_of
from investigations.sources.reading import Reading, make_alert
from tarsy.errors import QueueFull
from tests.factories import IncidentFactory
from tests.processes import wait_for

pytestmark = pytest.mark.django_db

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
STORM_AFTER = 4
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with use_config(replace(get_config(), incidents=IncidentsConfig(group_wait="0s"))):
        yield


@dataclass(frozen=True)
class Told:
    """One alert of a post; its moments are minutes after `START`."""

    key: str
    group: str = "g"
    fires: bool = True
    begins: int | None = 0
    severity: str = "warning"
    same_body: bool = False


def read(*told: Told) -> Reading:
    alerts = tuple(
        make_alert(
            "firing" if each.fires else "resolved",
            key=each.key,
            titles=[f"Alert {each.key}"],
            body={"alert": each.key},
            severity=each.severity,
            starts_at=None if each.begins is None else START + timedelta(minutes=each.begins),
            ends_at=None
            if each.fires or each.begins is None
            else START + timedelta(minutes=each.begins + 5),
        )
        for each in told
    )
    return Reading("alertmanager", alerts, group_key=told[0].group)


def body_of(*told: Told) -> object:
    return {"told": repr(told)} if told[0].same_body else {"post": next(_numbers)}


def take(*told: Told) -> Outcome:
    return take_delivery(read(*told), body=body_of(*told), author="test")


def described(*told: Told) -> DescribedPost:
    return describe_post(read(*told), body_of(*told), "test", "")


# ---- The same as one after the other ------------------------------------------------------------


@st.composite
def posts(draw: Callable[..., object]) -> list[tuple[Told, ...]]:
    told = st.builds(
        Told,
        key=st.sampled_from("abcdef"),
        group=st.just("g"),
        fires=st.integers(0, 3).map(bool),
        begins=st.sampled_from([0, 0, 10, None]),
        severity=st.sampled_from(["warning", "warning", "critical"]),
        same_body=st.integers(0, 4).map(lambda number: not number),
    )
    many = st.lists(told, min_size=1, max_size=3, unique_by=lambda each: each.key)
    groups = st.sampled_from(["g", "g", "h", "i", "j", "k"])
    return draw(
        st.lists(
            st.tuples(many, groups).map(
                lambda drawn: tuple(replace(each, group=drawn[1]) for each in drawn[0])
            ),
            min_size=1,
            max_size=5,
        )
    )


@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(posts(), posts(), st.sampled_from([None, STORM_AFTER]))
def test_posts_taken_together_leave_what_they_leave_one_after_the_other(before, at_once, storm):
    rules = IncidentsConfig(group_wait="10s", storm_after=storm)
    with use_config(replace(get_config(), incidents=rules)):
        order = list(range(len(at_once)))

        def together() -> list[Outcome]:
            done = dict(enumerate(take_together([described(*each) for each in at_once])))
            order.sort(key=lambda place: done[place] is None)
            return [done[place] or take(*at_once[place]) for place in order]

        def apart() -> list[Outcome]:
            return [take(*at_once[place]) for place in order]

        assert _left_by(before, together) == _left_by(before, apart)


@pytest.mark.parametrize(
    "at_once",
    [
        [Told("b", group="h", begins=None), Told("b", group="h", fires=False, begins=None)],
        [Told("a", fires=False, begins=None), Told("a", begins=None)],
    ],
    ids=["begins and ends", "ends and comes back"],
)
def test_no_post_overtakes_an_earlier_one_about_the_same_alert(at_once):
    take(Told("a", begins=None))

    done = take_together([described(each) for each in at_once])
    for each, outcome in zip(at_once, done, strict=True):
        if outcome is None:
            take(each)

    last = at_once[-1]
    row = AlertEpisode.objects.get(key=last.key, is_latest=True)
    assert (row.state == AlertEpisode.State.FIRING) == last.fires
    assert Incident.objects.get(group_key=last.group).firing_count == int(last.fires)


def test_a_storm_that_loses_and_gains_members_at_once_counts_both():
    rules = IncidentsConfig(group_wait="0s", storm_after=STORM_AFTER)
    with use_config(replace(get_config(), incidents=rules)):
        for number in range(STORM_AFTER + 4):
            take(Told(f"first {number}", group=f"first {number}"))
        over = Told("first 1", group="first 1", fires=False)

        done = take_together([described(over), described(Told("new", group="new"))])

    assert all(done)
    storm = Incident.objects.get(kind="storm")
    firing = AlertEpisode.objects.filter(incident=storm, state="firing").count()
    assert storm.firing_count == firing == STORM_AFTER + 4


def _left_by(before: Sequence[tuple[Told, ...]], act: Callable[[], list[Outcome]]) -> object:
    with transaction.atomic():
        for each in before:
            take(*each)
        left = ([_told(each) for each in act()], _rows())
        transaction.set_rollback(True)
    return left


def _told(outcome: Outcome) -> object:
    """What is answered, without ids."""
    groups = {row.pk: row.group_key for row in Incident.objects.all()}
    delivery = outcome.delivery

    def without_ids(text: str) -> str:
        ids = {**groups, **dict.fromkeys(Delivery.objects.values_list("pk", flat=True), "a post")}
        for pk, name in ids.items():
            text = text.replace(str(pk), name)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "then", text)

    alerts = [
        (
            each.kind,
            without_ids(each.outcome),
            each.incident and groups[each.incident.pk],
            each.session and groups[each.session.incident_id],
        )
        for each in outcome.alerts
    ]
    kept = [{**each, "outcome": without_ids(each["outcome"])} for each in delivery.alerts]
    return (
        delivery.outcome,
        without_ids(delivery.why),
        groups.get(delivery.incident_id),
        delivery.session_id and AlertSession.objects.get(pk=delivery.session_id).incident.group_key,
        delivery.alert_count,
        kept,
        alerts,
    )


def _rows() -> object:
    incident = ("kind", "group_key", "state", "title", "severity", "takes_members",
                "member_count", "firing_count")  # fmt: skip
    episode = ("key", "state", "is_latest", "count", "starts_at", "ended_at", "title",
               "incident__group_key", "incident__kind")  # fmt: skip
    session = ("title", "severity", "status", "incident__group_key", "error_message", "is_listed")
    change = ("kind", "episode__key", "incident__group_key")
    return (
        sorted(Incident.objects.values_list(*incident), key=repr),
        sorted(AlertEpisode.objects.values_list(*episode), key=repr),
        sorted(AlertSession.objects.values_list(*session), key=repr),
        sorted(MemberChange.objects.values_list(*change), key=repr),
        sorted(Delivery.objects.values_list("outcome", "alert_count", "sha256"))
        and Delivery.objects.count(),
    )


# ---- At the same time ---------------------------------------------------------------------------


def take_while_the_first_waits(*posts: tuple[Told, ...]) -> list[Outcome]:
    """Each in a thread of its own, in this order; the first holds up the others."""
    config, company = get_config(), company_of("alertmanager")

    def run(told: tuple[Told, ...]) -> Outcome:
        try:
            with use_config(config):
                return take(*told)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(posts)) as pool:
        with transaction.atomic():
            hold_source()
            done = [pool.submit(run, posts[0])]
            wait_for(lambda: count_waiting() == 1, what="the first to wait")
            for count, told in enumerate(posts[1:], start=1):
                done.append(pool.submit(run, told))
                wait_for(lambda count=count: company.waiting == count, what="the queue")
        return [each.result(60) for each in done]


def hold_source() -> None:
    hold("source", "alertmanager")


def hold(*words: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number_of(*words)])


def count_waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]


def kinds(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.delivery.outcome for outcome in outcomes]


@pytest.mark.django_db(transaction=True)
def test_posts_that_come_while_one_is_taken_are_written_in_one_transaction():
    take(Told("a"))

    done = take_while_the_first_waits(*[(Told(key),) for key in "abcdaa"])

    assert kinds(done) == ["duplicate", "joined", "joined", "joined", "duplicate", "duplicate"]
    moments = [each.delivery.received_at for each in done]
    assert len(set(moments[1:])) == 1
    assert moments[0] != moments[1]
    incident = Incident.objects.get()
    assert (incident.member_count, incident.firing_count) == (4, 4)
    assert AlertEpisode.objects.get(key="a").count == 4
    assert AlertSession.objects.get().title == "Alert a and 3 more"
    assert Delivery.objects.count() == 7


@pytest.mark.django_db(transaction=True)
def test_of_posts_at_the_same_time_each_that_begins_something_begins_it_once():
    done = take_while_the_first_waits(
        (Told("a"),),
        (Told("b"),),
        (Told("c", group="h"),),
        (Told("d", group="h"),),
        (Told("a", fires=False),),
    )

    assert kinds(done)[:2] == ["started", "joined"]
    assert sorted(kinds(done)[2:4]) == ["joined", "started"]
    assert kinds(done)[4] == "resolved"
    assert Incident.objects.count() == AlertSession.objects.count() == 2
    assert Incident.objects.get(group_key="g").firing_count == 1


@pytest.mark.django_db(transaction=True)
def test_copies_at_the_same_time_are_one_post_and_its_duplicates():
    take(Told("a"))

    done = take_while_the_first_waits(
        (Told("x"),), *[(Told("b", same_body=True),)] * 4, (Told("c"),)
    )

    assert sorted(kinds(done)[1:5]) == ["duplicate", "duplicate", "duplicate", "joined"]
    assert AlertEpisode.objects.get(key="b").count == 1
    assert Incident.objects.get().member_count == 4


@pytest.mark.django_db(transaction=True)
def test_a_post_that_is_refused_takes_none_of_its_company_with_it():
    take(Told("a"))
    full = get_config().queue.model_copy(update={"max_queue_size": 1})

    with use_config(replace(get_config(), queue=full)), pytest.raises(QueueFull):
        take_while_the_first_waits(
            (Told("a"),), (Told("b"),), (Told("c", group="h"),), (Told("d"),)
        )

    assert Incident.objects.get().member_count == 3
    assert sorted(Delivery.objects.values_list("outcome", flat=True)) == [
        "duplicate", "joined", "joined", "started",
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_what_joins_a_storm_at_the_same_time_leaves_one_incident():
    rules = IncidentsConfig(group_wait="0s", storm_after=STORM_AFTER)
    with use_config(replace(get_config(), incidents=rules)):
        for number in range(STORM_AFTER + 2):
            take(Told(f"first {number}", group=f"first {number}"))

        done = take_while_the_first_waits(
            *[(Told(f"k{number}", group=f"k{number}"),) for number in range(7)]
        )

    assert kinds(done) == ["joined"] * 7
    assert len({each.delivery.received_at for each in done[1:]}) == 1
    storm = Incident.objects.get(absorbed_by=None)
    assert (storm.kind, storm.member_count, storm.firing_count) == ("storm", 13, 13)
    assert AlertSession.objects.filter(status="pending").count() == 1
    assert AlertSession.objects.get(status="pending").title == storm.title


@pytest.mark.django_db(transaction=True)
def test_an_end_that_waits_while_a_storm_takes_over_its_incident_is_one_of_the_storm():
    take(Told("a"))
    config, incident = get_config(), Incident.objects.get()

    def run() -> Outcome:
        try:
            with use_config(config):
                return take(Told("a", fires=False))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Incident.objects.select_for_update().get()
            done = pool.submit(run)
            wait_for(lambda: count_waiting() == 1, what="the end to wait")
            storm = IncidentFactory(
                source="alertmanager", kind="storm", group_key=STORM_KEY, member_count=2,
                firing_count=2,
            )  # fmt: skip
            Incident.objects.filter(pk=incident.pk).update(
                absorbed_by=storm, takes_members=False, firing_count=0
            )
            AlertEpisode.objects.update(incident=storm)
        assert done.result(60).delivery.incident_id == storm.pk

    storm.refresh_from_db()
    assert (storm.firing_count, storm.state) == (1, "firing")
    assert MemberChange.objects.get(kind="resolved").incident == storm


@pytest.mark.django_db(transaction=True)
def test_what_fails_together_is_taken_by_each_alone():
    take(Told("a"))
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_c() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF NEW.key = 'c' AND NEW.first_seen_at > clock_timestamp() - interval '1 h'"
            " THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$;"
            " CREATE TRIGGER refuse_c BEFORE INSERT ON investigations_alertepisode"
            " FOR EACH ROW EXECUTE FUNCTION refuse_c()"
        )
    try:
        with pytest.raises(Exception, match="refused"):
            take_while_the_first_waits((Told("a"),), (Told("b"),), (Told("c"),), (Told("d"),))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse_c CASCADE")

    assert set(AlertEpisode.objects.values_list("key", flat=True)) == {"a", "b", "d"}
    assert Incident.objects.get().member_count == 3
    assert Delivery.objects.count() == Delivery.objects.filter(alert_count=1).count() == 4


@pytest.mark.django_db(transaction=True)
def test_a_post_behind_a_lock_that_is_never_let_go_fails_whole_and_its_company_is_taken(
    monkeypatch,
):
    monkeypatch.setattr(known, "LOCK_PATIENCE", "200ms")
    take(Told("a"))
    config, company = get_config(), company_of("alertmanager")

    def run(key: str) -> Outcome:
        try:
            with use_config(config):
                return take(Told(key))
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool, transaction.atomic():
        hold("alert", "alertmanager", "b")
        done = {key: pool.submit(run, key) for key in "bcd"}
        assert kinds([done[key].result(60) for key in "cd"]) == ["joined", "joined"]
        with pytest.raises(OperationalError) as failure:
            done["b"].result(60)

    assert isinstance(failure.value.__cause__, LockNotAvailable)
    assert company.waiting == 0
    assert set(AlertEpisode.objects.values_list("key", flat=True)) == {"a", "c", "d"}
    assert Delivery.objects.count() == Incident.objects.get().member_count == 3
    assert kinds([take(Told("b"))]) == ["joined"]


@pytest.mark.django_db(transaction=True)
def test_a_post_within_somebodys_transaction_waits_in_the_database_and_in_no_company():
    config = get_config()

    def run(key: str, *, is_within: bool) -> None:
        try:
            with use_config(config), transaction.atomic() if is_within else nullcontext():
                take(Told(key))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            hold_source()
            first = pool.submit(run, "a", is_within=False)
            wait_for(lambda: count_waiting() == 1, what="the first to wait")
            second = pool.submit(run, "b", is_within=True)
            wait_for(lambda: count_waiting() == 2, what="the second to wait")
        first.result(60), second.result(60)

    assert Incident.objects.get().member_count == 2
