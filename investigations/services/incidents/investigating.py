"""What follows for the investigations of the incidents that a post was about."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from config.schema.incidents import IncidentsConfig
from investigations.incidents.holding import NOTHING, Hold, wait_for_group
from investigations.models import AlertSession, Incident
from investigations.selectors.changes import changes_of_session
from investigations.services.endings import end_session, stop_session, tell_session_status
from investigations.services.incidents.batch import Batch
from investigations.services.incidents.describing import describe, describe_as_it_stands
from investigations.services.incidents.holds import judge_hold
from investigations.services.incidents.known import read_latest_sessions
from investigations.services.incidents.listing import stand_for_incident, unlist
from investigations.services.intake import (
    alert_of_source,
    choose_chain,
    restate_alert,
    submit_alert,
)
from investigations.services.ledger import SessionWrite, session_write
from investigations.sources.facts import AlertFacts, facts_of_alerts
from investigations.sources.reading import AlertReading
from investigations.stream_messages import session_updated

RETRY_OF = "retry_of"
"""In the metadata of a session: the one that a person has asked for once more."""
RECOVERED_BEFORE = "Recovered before it began."
ABSORBED = "Taken over by a storm of its source before it began."


@dataclass(frozen=True)
class Investigation:
    """What there is of an incident after a post: its session, why that waits, and what becomes of
    it if the incident has recovered."""

    session: AlertSession | None
    hold: Hold = NOTHING
    is_new: bool = False
    aftermath: str = ""


def follow_up(
    batch: Batch,
    rules: IncidentsConfig,
    *,
    author: str,
    alert_type: str,
    over: list[str],
    left_out: tuple[str, ...],
) -> dict[uuid.UUID, Investigation]:
    """Queue, release, cancel or stop what the incidents of a batch want, one session at a time.

    Raises InvalidInput where no chain takes such alerts, and QueueFull.
    """
    found: dict[uuid.UUID, Investigation] = {}
    if not (batch.gained or batch.recovered or batch.absorbed_sessions):
        return found
    latest = _latest_sessions(batch)
    for incident_id in batch.gained.keys() - batch.recovered:
        incident, session = batch.incidents[incident_id], latest.get(incident_id)
        if session is None or _may_begin_anew(session, came_back=incident_id in batch.reopened):
            batch.rows.run()
            found[incident_id] = begun = _queue(
                batch, incident, rules, author=author, alert_type=alert_type, over=over,
                left_out=left_out,
            )  # fmt: skip
            if session is not None and begun.session is not None:
                stand_for_incident(begun.session)
    waiting = sorted(
        (session for pk, session in latest.items() if pk not in found), key=lambda row: row.pk
    )
    for session in waiting:
        incident = batch.incidents[session.incident_id]  # type: ignore[index]  # they have one
        aftermath = _tell_of_change(batch, incident, session, rules)
        found[incident.pk] = Investigation(session, aftermath=aftermath)
    if batch.absorbed_sessions:
        batch.rows.run()
    for session_id in sorted(batch.absorbed_sessions):
        _cancel_absorbed(session_id)
    return found


def _tell_of_change(
    batch: Batch, incident: Incident, session: AlertSession, rules: IncidentsConfig
) -> str:
    """What a post means to the investigation that is there. Of a recovery, it is said in words."""
    if incident.pk in batch.recovered:
        batch.rows.run()
        return _end_for_recovery(session.pk, rules)
    if incident.pk in batch.reopened and session.status != AlertSession.Status.PENDING:
        batch.rows.run()
        with session_write(session.pk) as write:
            write.tell(session_updated(session.pk))
    elif incident.pk in batch.gained and session.status == AlertSession.Status.PENDING:
        _refresh(batch, session, incident, rules)
    return ""


def _latest_sessions(batch: Batch) -> dict[uuid.UUID, AlertSession]:
    """Of the incidents of a batch. A storm was found while it was decided about the alerts."""
    later = batch.incidents.keys() - batch.known.incidents_read
    later -= {each.pk for each in batch.new_incidents}
    if later:
        batch.sessions.update(read_latest_sessions(later))
    return batch.sessions


def _may_begin_anew(session: AlertSession, *, came_back: bool) -> bool:
    """Nothing was looked into, and not because a person wanted it so; or what was changed did not
    last, so that what was found no longer tells why it fires."""
    if session.status == AlertSession.Status.CANCELLED:
        return session.error_message == RECOVERED_BEFORE
    return came_back and session.is_terminal and bool(changes_of_session(session.pk))


def _queue(
    batch: Batch,
    incident: Incident,
    rules: IncidentsConfig,
    *,
    author: str,
    alert_type: str,
    over: list[str],
    left_out: tuple[str, ...],
) -> Investigation:
    gained = batch.gained[incident.pk]
    hold = judge_hold(incident, rules, batch.now) or _wait(batch, incident, gained)
    if incident in batch.new_incidents or incident.kind == Incident.Kind.STORM:
        described = describe(
            incident, bodies=[each.body for each in gained], firing=incident.firing_count,
            title=incident.title, over=over, left_out=left_out,
        )  # fmt: skip
    else:
        described = describe_as_it_stands(incident)
    alert = alert_of_source(
        described.data,
        chosen=choose_chain(alert_type or incident.alert_type),
        title=described.title,
        facts=replace(facts_of_alerts(incident.source, gained), severity=incident.severity),
        incident=incident,
        hold=(hold.until, hold.words),
        changes_in_alert=_newest_change(incident),
    )
    return Investigation(submit_alert(alert, author=author), hold, is_new=True)


def _wait(batch: Batch, incident: Incident, gained: list[AlertReading]) -> Hold:
    """As long as the alert of the group that waits least."""
    waits = [batch.post.placings[each.key].wait for each in gained]
    return wait_for_group(min(waits), batch.now)


def _refresh(
    batch: Batch, session: AlertSession, incident: Incident, rules: IncidentsConfig
) -> None:
    """A waiting investigation is shown as what it has become; one whose alerts got so heavy that
    they do not wait begins. Nobody is told, so it is one statement."""
    changed: dict[str, object] = {"severity": incident.severity}
    if incident.firing_count > 1 and incident.kind == Incident.Kind.GROUP:
        changed["title"] = f"{incident.title[:280]} and {incident.firing_count - 1:,} more"
    elif incident.kind == Incident.Kind.STORM:
        changed["title"] = incident.title
    if incident.severity in rules.no_wait and session.not_before is not None:
        batch.rows.run()
        hold = judge_hold(incident, rules, batch.now)
        changed |= {"not_before": hold.until, "held_for": hold.words}
    places = ", ".join(f"{name} = %s" for name in changed)
    batch.rows.add(
        f"UPDATE investigations_alertsession SET {places} WHERE id = %s AND status = 'pending'",
        [*changed.values(), session.pk],
    )


def _end_for_recovery(session_id: uuid.UUID, rules: IncidentsConfig) -> str:
    """What waits has nothing more to look into, unless a person has asked for it once more. Says
    what becomes of the investigation."""
    with session_write(session_id) as write:
        session = write.session
        is_waiting = session.status == AlertSession.Status.PENDING
        if is_waiting and RETRY_OF not in session.session_metadata:
            end_session(write, AlertSession.Status.CANCELLED, error=RECOVERED_BEFORE)
            return "was cancelled: recovered before it began"
        if rules.when_recovered == "stop" and not (is_waiting or session.is_terminal):
            stop_session(write)
            return "is stopped"
        write.tell(session_updated(session_id))
        return "had ended before" if session.is_terminal else "goes on"


def _cancel_absorbed(session_id: uuid.UUID) -> None:
    """The storm is looked into instead. What a person has asked for once more begins all the same:
    they want to know about this alert, and would wait for an answer that never comes."""
    with session_write(session_id) as write:
        session = write.session
        is_asked_for = RETRY_OF in session.session_metadata
        if session.status == AlertSession.Status.PENDING and not is_asked_for:
            end_session(write, AlertSession.Status.CANCELLED, error=ABSORBED)
            unlist(session_id)


def is_held_still(write: SessionWrite, rules: IncidentsConfig, now: datetime) -> bool:
    """Whether a session that is due must wait on; it then says why and until when.

    One whose incident has recovered meanwhile ends, and counts as held. What a person has asked for
    once more waits for nothing.
    """
    session = write.session
    incident = session.incident
    if incident is None or not incident.is_followed or RETRY_OF in session.session_metadata:
        return False
    if not incident.is_open:
        end_session(write, AlertSession.Status.CANCELLED, error=RECOVERED_BEFORE)
        return True
    hold = judge_hold(incident, rules, now)
    if not hold:
        return False
    AlertSession.objects.filter(pk=session.pk).update(not_before=hold.until, held_for=hold.words)
    tell_session_status(write, AlertSession.Status.PENDING)
    return True


def _newest_change(incident: Incident) -> int:
    """The last one that is written of its members, under the lock of the incident; else 0."""
    return incident.changes.order_by("-id").values_list("id", flat=True).first() or 0


def take_latest_alerts(session: AlertSession) -> None:
    """Give a session that is about to begin its incident as it stands now.

    Once all is over, there is more to look into in what was sent while it fired.
    """
    incident = session.incident
    if incident is None or not incident.is_followed or not incident.is_open:
        return
    newest = _newest_change(incident)
    if newest <= session.changes_in_alert:
        return
    described = describe_as_it_stands(incident)
    alert = alert_of_source(
        described.data,
        chosen=choose_chain(session.alert_type),
        title=described.title,
        facts=AlertFacts(source=incident.source, severity=incident.severity),
        changes_in_alert=newest,
    )
    restate_alert(session.pk, alert)
