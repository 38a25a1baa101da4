"""The list is of incidents: every alert belongs to one, and one of its investigations shows it."""

import uuid

from django.db import transaction
from django.db.models import Exists, OuterRef
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
    if session.incident_id is not None:
        _list_newest_of(session.incident_id)


def list_again(most: int) -> int:
    """Show incidents again of which all that was listed is hidden while something else stays.

    `most` at once; returns how many. What somebody writes at this moment is left for the next time.
    """
    there = AlertSession.objects.filter(deleted_at=None)
    listed = there.filter(incident=OuterRef("pk"), is_listed=True)
    waiting = there.filter(incident=OuterRef("pk"), is_listed=False)
    rows = Incident.objects.filter(Exists(waiting), ~Exists(listed), absorbed_by=None)
    with transaction.atomic():
        locked = rows.select_for_update(of=("self",), skip_locked=True).only("pk")[:most]
        found = [each.pk for each in locked]
        for incident_id in found:
            _list_newest_of(incident_id)
    return len(found)


def _list_newest_of(incident_id: uuid.UUID) -> None:
    rows = AlertSession.objects.filter(incident_id=incident_id, deleted_at=None)
    newest = rows.only("incident_id").order_by("-created_at", "-id").first()
    if newest is not None:
        AlertSession.objects.filter(pk=newest.pk, is_listed=False).update(is_listed=True)
        stand_for_incident(newest)
