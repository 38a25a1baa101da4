"""Posts become incidents, each with one investigation, however the posts come."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agents.types import Message, WriteReport, WriteStatus
from config import get_config, use_config
from config.schema.incidents import (
    BudgetConfig,
    IncidentsConfig,
    InhibitionConfig,
    MaintenanceConfig,
    RouteConfig,
)
from investigations.models import (
    AgentExecution,
    AlertEpisode,
    AlertSession,
    Delivery,
    Incident,
    MaintenanceWindow,
    MemberChange,
)
from investigations.services.deliveries import Outcome, take_delivery
from investigations.services.executions import claim_execution
from investigations.services.incidents.investigating import ABSORBED, RECOVERED_BEFORE
from investigations.services.incidents.telling import (
    follows_incident,
    read_news,
    record_news,
)
from investigations.services.sessions import (
    cancel_session,
    claim_next_session,
    retry_session,
)
from investigations.sources.reading import Reading, make_alert
from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    SessionFactory,
    StageFactory,
    WindowFactory,
)
from tests.investigations.pages.conftest import add_tool_call

pytestmark = pytest.mark.django_db

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with configured(group_wait="0s"):
        yield


def configured(**fields: object) -> object:
    return use_config(replace(get_config(), incidents=IncidentsConfig(**fields)))


@dataclass(frozen=True)
class Told:
    """One alert of a post; its moments are minutes after `START`."""

    key: str = "a"
    fires: bool = True
    begins: int | None = 0
    ends: int | None = None
    severity: str = "warning"
    labels: tuple[tuple[str, str], ...] = ()


def reading(*told: Told, group: str = "g", source: str = "alertmanager") -> Reading:
    alerts = tuple(
        make_alert(
            "firing" if each.fires else "resolved",
            key=each.key,
            titles=[f"Alert {each.key}"],
            body={"alert": each.key},
            severity=each.severity,
            labels=dict(each.labels),
            starts_at=None if each.begins is None else START + timedelta(minutes=each.begins),
            ends_at=None if each.ends is None else START + timedelta(minutes=each.ends),
        )
        for each in told
    )
    return Reading(source, alerts, group_key=group)


def post(*told: Told, body: object = None, **of_reading: str) -> Outcome:
    """Each post differs from all others, unless its body is given."""
    body = {"post": next(_numbers)} if body is None else body
    return take_delivery(reading(*told, **of_reading), body=body, author="test")


def over(key: str = "a", begins: int | None = 0, ends: int | None = 5) -> Told:
    return Told(key, fires=False, begins=begins, ends=ends)


def kinds(outcome: Outcome) -> list[str]:
    return [each.kind for each in outcome.alerts]


def waiting() -> list[AlertSession]:
    return list(AlertSession.objects.filter(status="pending"))


def age(incident: Incident, **ago: float) -> None:
    """As if everything about it had happened so long ago."""
    back = timedelta(**ago)
    rows = Incident.objects.filter(pk=incident.pk)
    for name in ("opened_at", "last_joined_at", "last_seen_at", "recovered_at", "reopened_at"):
        moment = getattr(Incident.objects.get(pk=incident.pk), name)
        rows.update(**{name: moment - back if moment else None})
    AlertEpisode.objects.filter(incident=incident).update(
        first_seen_at=timezone.now() - back, last_seen_at=timezone.now() - back
    )
    for change in MemberChange.objects.filter(incident=incident):
        MemberChange.objects.filter(pk=change.pk).update(at=change.at - back)


# ---- One investigation --------------------------------------------------------------------------


def test_a_late_alert_of_a_group_joins_and_is_no_second_investigation():
    first = post(Told("a"))
    second = post(Told("a"), Told("b"))

    assert kinds(first) == ["started"]
    assert kinds(second) == ["duplicate", "joined"]
    assert second.session == first.session
    incident = Incident.objects.get()
    assert (incident.member_count, incident.firing_count) == (2, 2)
    assert AlertSession.objects.get().title == "Alert a and 1 more"


def test_alerts_of_other_groups_and_sources_are_incidents_of_their_own():
    post(Told("a"), group="g1")
    post(Told("b"), group="g2")
    post(Told("a"), group="g1", source="grafana")

    assert Incident.objects.count() == AlertSession.objects.count() == 3


@pytest.mark.parametrize("source", ["prometheus", "datadog"])
def test_a_source_that_does_not_group_is_grouped_by_labels(source):
    named = (("alertname", "DiskFull"), ("cluster", "blue"))
    outcome = post(
        Told("a", labels=(*named, ("instance", "1"))),
        Told("b", labels=(*named, ("instance", "2"))),
        Told("c", labels=(("alertname", "DiskFull"), ("cluster", "green"))),
        Told("d"),
        Told("e"),
        source=source,
        group="",
    )

    groups = [each.incident.pk for each in outcome.alerts]
    assert groups[0] == groups[1]
    assert len(set(groups)) == 4


def test_a_post_is_taken_although_the_tables_were_changed_under_what_was_prepared():
    post(Told())
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    later = post(Told(key="b"))

    assert kinds(later) == ["joined"]
    assert Delivery.objects.count() == 2


def test_an_equal_post_is_a_duplicate_and_names_the_first():
    first = post(Told("a"), body={"same": 1})
    again = post(Told("a"), body={"same": 1})

    assert kinds(again) == ["duplicate"]
    assert str(first.delivery.pk) in again.message
    assert again.delivery.session_id == first.session.pk
    assert AlertEpisode.objects.get().count == 1


def test_an_equal_post_that_its_sender_does_not_number_counts_again_after_a_minute():
    post(Told("a", begins=None), body={"same": 1})
    post(over("a", begins=None), body={"over": 1})
    Delivery.objects.update(received_at=timezone.now() - timedelta(minutes=2))

    assert kinds(post(Told("a", begins=None), body={"same": 1})) == ["started"]


# ---- Ends ---------------------------------------------------------------------------------------


def test_what_recovers_before_it_began_is_cancelled_visibly():
    post(Told("a"), Told("b"))
    post(over("a"))
    assert len(waiting()) == 1

    outcome = post(over("b"))

    assert kinds(outcome) == ["resolved"]
    session = AlertSession.objects.get()
    assert (session.status, session.error_message) == ("cancelled", RECOVERED_BEFORE)
    assert Incident.objects.get().state == "recovered"


def test_what_ends_without_having_begun_starts_nothing_and_closes_what_comes_late():
    assert kinds(post(over("a"))) == ["resolved"]

    late = post(Told("a", begins=0))

    assert kinds(late) == ["duplicate"]
    assert "over before this post came" in late.alerts[0].outcome
    assert not Incident.objects.exists()
    assert not AlertSession.objects.exists()


def test_an_end_of_an_earlier_time_does_not_end_the_alert_that_fires_now():
    post(Told("a", begins=10))

    assert kinds(post(over("a", begins=0, ends=5))) == ["duplicate"]
    assert Incident.objects.get().state == "firing"
    assert kinds(post(over("a", begins=10, ends=20))) == ["resolved"]
    assert Incident.objects.get().state == "recovered"


def test_a_running_investigation_goes_on_when_all_is_over_unless_told_to_stop():
    for stops, status in ((False, "in_progress"), (True, "cancelled")):
        with configured(group_wait="0s", when_recovered="stop" if stops else "finish"):
            session = post(Told("a"), group=f"{stops}", source="grafana").session
            assert claim_next_session() == session.pk
            post(over("a"), group=f"{stops}", source="grafana")
            session.refresh_from_db()
            assert session.status in (status, "cancelling" if stops else status)
            # An open page hears of it at once, whether or not the status is another one.
            told = session.events.order_by("-seq").values_list("payload", flat=True)
            assert told[0]["type"] == ("session.status" if stops else "session.updated")
            assert told[0].get("status") == (session.status if stops else None)
            AlertEpisode.objects.all().delete()


# ---- Back again ---------------------------------------------------------------------------------


def test_what_comes_back_in_time_goes_on_with_the_incident_and_its_investigation():
    session = post(Told("a")).session
    assert claim_next_session() == session.pk
    post(over("a"))

    outcome = post(Told("a", begins=9))

    assert kinds(outcome) == ["joined"]
    incident = Incident.objects.get()
    assert (incident.state, incident.member_count, incident.firing_count) == ("reopened", 1, 1)
    assert AlertSession.objects.get() == session
    told = MemberChange.objects.filter(incident=incident).values_list("kind", flat=True)
    assert list(told) == ["joined", "resolved", "reopened"]


def repair(session: AlertSession) -> None:
    """As if its investigation had found a cause, changed something and verified that."""
    moment = timezone.now()
    AlertSession.objects.filter(pk=session.pk).update(
        status="completed", started_at=moment, completed_at=moment,
        final_analysis="The pool was leaked [T1].",
    )  # fmt: skip
    execution = ExecutionFactory(stage=StageFactory(session=session))
    write = WriteStatus("ops.control", "web", "verified", "its state is running", True)
    told = WriteReport(1, (write,)).to_json()
    add_tool_call(execution, 1, '{"ok": true}', tool_name="control", may_write=True, writes=told)


def test_what_comes_back_after_something_was_changed_is_looked_into_once_more():
    first = post(Told("a")).session
    repair(first)
    post(over("a"))

    outcome = post(Told("a", begins=9))

    assert kinds(outcome) == ["started"]
    assert Incident.objects.get().state == "reopened"
    assert (outcome.session.incident, outcome.session.status) == (first.incident, "pending")
    assert "The pool was leaked" in outcome.session.alert_data
    assert "ops.control on web, verified" in outcome.session.alert_data
    assert list(AlertSession.objects.filter(is_listed=True)) == [outcome.session]


def test_what_comes_back_after_that_is_not_looked_into_a_third_time_while_the_second_waits():
    repair(post(Told("a")).session)
    post(over("a"))
    second = post(Told("a", begins=9)).session
    assert claim_next_session() == second.pk
    post(over("a", begins=9, ends=12))

    assert kinds(post(Told("a", begins=15))) == ["joined"]
    assert not waiting()


def test_what_was_never_looked_into_is_when_it_comes_back():
    post(Told("a"))
    post(over("a"))

    outcome = post(Told("a", begins=9))

    assert kinds(outcome) == ["started"]
    assert Incident.objects.count() == 1
    assert len(waiting()) == 1


def test_what_a_person_cancelled_stays_cancelled():
    cancel_session(post(Told("a")).session.pk, "engineer")
    post(over("a"))

    assert kinds(post(Told("a", begins=9))) == ["joined"]
    assert not waiting()


def test_what_comes_back_later_is_a_new_incident_that_names_the_old_one_and_what_it_found():
    earlier = post(Told("a")).session
    post(over("a"))
    AlertSession.objects.filter(pk=earlier.pk).update(
        status="completed", started_at=timezone.now(), completed_at=timezone.now(),
        final_analysis="The disk was full [T1].",
    )  # fmt: skip
    age(Incident.objects.get(), days=30)

    outcome = post(Told("a", begins=60))

    new, old = Incident.objects.order_by("-opened_at")
    assert kinds(outcome) == ["started"]
    assert (new.previous, new.takes_members, old.takes_members) == (old, True, False)
    assert "The disk was full" in outcome.session.alert_data
    assert str(earlier.pk) in outcome.session.alert_data


def test_a_key_that_is_used_again_after_a_month_of_silence_is_a_new_incident():
    post(Told("a", begins=None))
    first = Incident.objects.get()
    age(first, days=30)

    assert kinds(post(Told("a", begins=None))) == ["started"]

    first.refresh_from_db()
    assert first.state == "recovered"
    assert Incident.objects.count() == 2
    assert len(waiting()) == 1


def test_an_alert_that_joins_a_group_hours_later_is_a_new_incident():
    post(Told("a"))
    age(Incident.objects.get(), hours=2)

    assert kinds(post(Told("a"), Told("b"))) == ["duplicate", "started"]


# ---- Any order ----------------------------------------------------------------------------------

KEYS = {"a": "g1", "b": "g1", "c": "g2"}


@st.composite
def streams(draw: Callable[..., object]) -> list[Told]:
    """What happened to three alerts, as it is told: twice, late, in any order, or not at all."""
    told: list[Told] = []
    for key in KEYS:
        for number in range(draw(st.integers(0, 2))):
            begins = 10 * number
            told.append(Told(key, begins=begins))
            if draw(st.booleans()):
                told.append(over(key, begins=begins, ends=begins + draw(st.integers(1, 9))))
    copies = draw(st.lists(st.sampled_from(told), max_size=4)) if told else []
    kept = [each for each in (*told, *copies) if draw(st.integers(0, 9)) > 0]
    return draw(st.permutations(kept))


@settings(
    max_examples=60,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(streams())
def test_no_order_of_posts_makes_a_second_investigation_or_misses_one(stream: list[Told]):
    with transaction.atomic():
        for told in stream:
            post(told, group=KEYS[told.key])
        _check(stream)
        transaction.set_rollback(True)


def _check(stream: Sequence[Told]) -> None:
    latest = {row.key: row for row in AlertEpisode.objects.filter(is_latest=True)}
    for key in KEYS:
        _check_alert([each for each in stream if each.key == key], latest.get(key))
    for incident in Incident.objects.all():
        members = AlertEpisode.objects.filter(incident=incident)
        assert {KEYS[row.key] for row in members} == {incident.group_key}
        assert incident.member_count == len({row.key for row in members})
        assert incident.firing_count == members.filter(state="firing").count()
        assert incident.is_open == (incident.firing_count > 0)
        sessions = AlertSession.objects.filter(incident=incident)
        assert sessions.filter(status="pending").count() == int(incident.is_open)
        others = sessions.exclude(status="pending")
        assert {each.error_message for each in others} <= {RECOVERED_BEFORE}
    assert Incident.objects.count() == len({i.group_key for i in Incident.objects.all()})


def _check_alert(told: Sequence[Told], row: AlertEpisode | None) -> None:
    if not told:
        assert row is None
        return
    newest = max(each.begins or 0 for each in told)
    of_newest = [each for each in told if each.begins == newest]
    assert row is not None
    assert (row.state == "firing") == all(each.fires for each in of_newest)


# ---- At once ------------------------------------------------------------------------------------


def _at_once(*posts: Callable[[], object]) -> list[object]:
    """Each in a thread of its own, all let go together."""
    gate = threading.Barrier(len(posts))
    done: list[object] = []
    config = get_config()

    def run(work: Callable[[], object]) -> None:
        try:
            with use_config(config):
                gate.wait(20)
                done.append(work())
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(each,)) for each in posts]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    return done


@pytest.mark.django_db(transaction=True)
def test_four_copies_at_once_are_one_investigation():
    done = _at_once(*[lambda: post(Told("a"), body={"same": 1})] * 4)

    assert sorted(kinds(each) for each in done) == [["duplicate"]] * 3 + [["started"]]
    assert AlertSession.objects.count() == Incident.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_alerts_of_one_group_that_come_at_once_are_one_incident_with_all_of_them():
    posts = [lambda key=f"k{n}": post(Told(key), Told("shared")) for n in range(8)]
    done = _at_once(*posts)

    incident = Incident.objects.get()
    assert len(done) == 8
    assert (incident.member_count, incident.firing_count) == (9, 9)
    assert AlertSession.objects.count() == 1
    assert AlertEpisode.objects.get(key="shared").count == 8

    _at_once(*[lambda key=f"k{n}": post(over(key)) for n in range(8)], lambda: post(over("shared")))

    incident.refresh_from_db()
    assert (incident.state, incident.firing_count) == ("recovered", 0)
    assert AlertSession.objects.get().error_message == RECOVERED_BEFORE


@pytest.mark.django_db(transaction=True)
def test_a_storm_leaves_one_incident_and_one_waiting_investigation():
    def burst(name: int) -> int:
        for n in range(20):
            post(Told(f"{name}-{n}"), group=f"{name}-{n}")
        return 20

    with configured(group_wait="0s", storm_after=10):
        assert _at_once(*[lambda name=n: burst(name) for n in range(4)]) == [20] * 4
        late = post(Told("late"), group="late")

    storm = Incident.objects.get(absorbed_by=None)
    assert kinds(late) == ["joined"]
    assert (storm.kind, storm.member_count, storm.firing_count) == ("storm", 81, 81)
    assert AlertEpisode.objects.filter(incident=storm).count() == 81
    assert len(waiting()) == 1
    cancelled = AlertSession.objects.filter(status="cancelled")
    assert {each.error_message for each in cancelled} == {ABSORBED}


def test_a_retry_that_waits_goes_on_when_a_storm_takes_over_its_incident():
    with configured(group_wait="0s", storm_after=10):
        first = post(Told("first"), group="first").session
        AlertSession.objects.filter(pk=first.pk).update(
            status="failed", started_at=timezone.now(), completed_at=timezone.now()
        )
        retry = retry_session(first.pk, "engineer")
        for n in range(20):
            post(Told(f"k{n}"), group=f"k{n}")

    storm = Incident.objects.get(kind="storm")
    assert Incident.objects.get(sessions=retry).absorbed_by == storm
    assert {each.pk for each in waiting()} == {retry.pk, storm.sessions.get().pk}
    assert AlertSession.objects.get(pk=retry.pk).is_listed
    assert retry.pk in (claim_next_session(), claim_next_session())


def test_a_storm_within_one_post_is_one_incident():
    with configured(group_wait="0s", storm_after=10):
        outcome = post(*[Told(f"k{n}") for n in range(200)], source="prometheus", group="")

    incident = Incident.objects.get()
    assert (incident.kind, incident.member_count, incident.firing_count) == ("storm", 200, 200)
    assert len(waiting()) == 1
    assert {each.incident.pk for each in outcome.alerts} == {incident.pk}
    assert MemberChange.objects.filter(incident=incident).count() == 200


# ---- Waiting ------------------------------------------------------------------------------------


def test_an_investigation_waits_for_its_group_and_begins_with_all_of_it():
    with configured(group_wait="30s"):
        first = post(Told("a"))
        assert kinds(first) == ["held"]
        assert claim_next_session() is None
        post(Told("b"))
        AlertSession.objects.update(not_before=timezone.now() - timedelta(seconds=1))

        assert claim_next_session() == first.session.pk

    session = AlertSession.objects.get()
    assert '"b"' in session.alert_data
    assert session.title == "Alert a and 1 more"


def test_what_is_critical_does_not_wait_and_makes_its_group_begin():
    with configured(group_wait="30s"):
        assert kinds(post(Told("x", severity="critical"), group="other")) == ["started"]
        post(Told("a"))
        post(Told("b", severity="critical"))

        session = AlertSession.objects.get(title__startswith="Alert a")
        assert (session.not_before, session.severity) == (None, "critical")


def test_a_route_chooses_chain_team_and_wait():
    routes = (
        RouteConfig(match=('team="payments"',), alert_type="parallel", team_label="team"),
        RouteConfig(match=("severity=info",), group_wait="5m", team="ops"),
    )
    with configured(group_wait="0s", routes=routes):
        first = post(Told("a", labels=(("team", "payments"),)), group="1")
        second = post(Told("b", severity="info"), group="2")

    assert (first.session.alert_type, first.session.chain_id) == ("parallel", "parallel")
    assert Incident.objects.get(group_key="1").team == "payments"
    assert Incident.objects.get(group_key="1").rule.startswith("route 1: team=")
    assert kinds(second) == ["held"]
    assert Incident.objects.get(group_key="2").team == "ops"


def test_what_is_in_maintenance_is_held_and_begins_when_the_window_ends():
    window = WindowFactory(matchers=['cluster="blue"'])
    blue = (("cluster", "blue"),)
    held = post(Told("a", labels=blue), group="1")
    free = post(Told("b"), group="2")

    assert (kinds(held), kinds(free)) == (["maintenance"], ["started"])
    assert held.session.not_before == window.ends_at
    assert claim_next_session() == free.session.pk
    assert claim_next_session() is None

    MaintenanceWindow.objects.update(ends_at=timezone.now())
    AlertSession.objects.filter(pk=held.session.pk).update(not_before=timezone.now())

    assert claim_next_session() == held.session.pk


def test_a_window_that_was_made_longer_holds_on():
    WindowFactory(matchers=[])
    held = post(Told("a")).session
    AlertSession.objects.filter(pk=held.pk).update(not_before=timezone.now())

    assert claim_next_session() is None

    held.refresh_from_db()
    assert held.not_before > timezone.now()


def test_a_window_of_the_configuration_holds_too():
    now = timezone.now()
    window = MaintenanceConfig(
        name="upgrade", start=now - timedelta(hours=1), end=now + timedelta(hours=1)
    )
    with configured(group_wait="0s", maintenance=(window,)):
        outcome = post(Told("a"))

    assert kinds(outcome) == ["maintenance"]
    assert "upgrade" in outcome.message


def test_an_alert_is_held_while_another_one_explains_it():
    rule = InhibitionConfig(
        source_match=("alertname=NodeDown",), target_match=("severity=warning",), equal=("node",)
    )
    node = ("node", "n1")
    with configured(group_wait="0s", inhibit=(rule,)):
        post(Told("a", severity="critical", labels=(("alertname", "NodeDown"), node)), group="1")
        held = post(Told("b", labels=(node,)), group="2")
        free = post(Told("c", labels=(("node", "n2"),)), group="3")
        assert (kinds(held), kinds(free)) == (["inhibited"], ["started"])

        post(over("a"), group="1")
        AlertSession.objects.filter(pk=held.session.pk).update(not_before=timezone.now())
        begun = {claim_next_session() for _ in range(2)}

    assert begun == {held.session.pk, free.session.pk}


def test_a_source_over_its_budget_waits_for_the_next_hour_and_loses_nothing():
    session = SessionFactory(running=True, source="alertmanager")
    LLMInteractionFactory(execution__session=session, total_tokens=900, created_at=timezone.now())
    with configured(group_wait="0s", budgets={"alertmanager": BudgetConfig(tokens_per_hour=500)}):
        outcome = post(Told("a"))
        other = post(Told("a"), source="grafana")
        begun = {claim_next_session(), claim_next_session()}

    assert (kinds(outcome), kinds(other)) == (["over_budget"], ["started"])
    assert outcome.session.not_before.minute == 0
    assert begun == {other.session.pk, None}


def test_a_flapping_alert_is_held():
    for minute in range(0, 40, 10):
        post(Told("a", begins=minute))
        last = post(over("a", begins=minute, ends=minute + 5))
    assert kinds(last) == ["resolved"]

    outcome = post(Told("a", begins=50))

    assert kinds(outcome) == ["held"]
    assert "flapping" in outcome.alerts[0].outcome
    assert Incident.objects.count() == 1


# ---- While agents work --------------------------------------------------------------------------


def test_agents_are_told_once_what_their_alert_does_not_hold_and_people_see_that_they_were():
    session = post(Told("a")).session
    assert claim_next_session() == session.pk
    execution = AgentExecution.objects.get()
    claimed = claim_execution(execution.pk, "worker").execution
    assert follows_incident(claimed)
    assert read_news(claimed) is None

    post(*[Told(f"k{n}") for n in range(30)])
    post(over("a"))
    news = read_news(claimed)
    record_news(claimed, news, Message("user", "News."), str)

    assert (len(news.joined), news.more_joined, news.resolved) == (20, 10, ("Alert a",))
    assert (news.firing, news.over_since) == (30, "")
    assert read_news(claimed) is None
    note = claimed.timeline_events.get(event_type="notice")
    assert note.content.startswith("Joined: Alert k0; ")
    assert note.content.endswith("and 25 more. Over: Alert a.")
    assert claimed.messages.get().content == "News."

    post(*[over(f"k{n}") for n in range(30)])
    with configured(when_recovered="shorten"):
        last = read_news(claimed)
    assert (last.firing, last.must_conclude) == (0, True)
    assert last.over_since
