"""The list is of incidents: every alert belongs to one, and one of its investigations shows it."""

import uuid

from django.utils import timezone

from investigations.models import AlertEpisode, AlertSession, Incident
from investigations.services.statements import Statements


def open_alone(session: AlertSession) -> Incident:
    """The incident of an alert that was sent to be investigated by itself.

    It has the id of its first session, whose alert it is.
    """
    now = timezone.now()
    known = {
        "id": session.pk,
        "source": session.source,
        "title": session.title,
        "severity": session.severity or "unknown",
    }
    incident = Incident(
        **known,
        kind=Incident.Kind.ALERT,
        group_key=str(session.pk),
        takes_members=False,
        alert_type=session.alert_type,
        member_count=1,
        firing_count=1,
        opened_at=now,
        last_joined_at=now,
        last_seen_at=now,
    )
    rows = Statements()
    rows.insert(incident)
    rows.insert(AlertEpisode(**known, key=str(session.pk), incident=incident))
    rows.run()
    return incident


def stand_for_incident(session: AlertSession) -> None:
    """From now on a session shows its incident in the list, in place of those before it."""
    if session.incident_id is None:
        return
    others = AlertSession.objects.filter(incident_id=session.incident_id, is_listed=True)
    others.exclude(pk=session.pk).update(is_listed=False)


def unlist(session_id: uuid.UUID) -> None:
    """Of an incident that a storm has absorbed nothing is shown."""
    AlertSession.objects.filter(pk=session_id).update(is_listed=False)


def list_newest(session: AlertSession) -> None:
    """After a session was deleted or came back: the newest that is there shows its incident."""
    if session.incident_id is None:
        return
    rows = AlertSession.objects.filter(incident_id=session.incident_id, deleted_at=None)
    newest = rows.only("incident_id").order_by("-created_at", "-id").first()
    if newest is not None:
        AlertSession.objects.filter(pk=newest.pk, is_listed=False).update(is_listed=True)
        stand_for_incident(newest)
