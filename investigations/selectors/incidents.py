"""Incidents with their members, deliveries, and maintenance windows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from investigations.models import (
    AlertEpisode,
    AlertSession,
    Delivery,
    Incident,
    MaintenanceWindow,
    MemberChange,
)
from investigations.selectors.cursors import read_page
from tarsy.errors import NotFound

MOST_MEMBERS = 100
"""Of one incident, with the newest first; the rest is counted."""
MOST_WINDOWS = 200


@dataclass(frozen=True)
class IncidentFilter:
    """What a list of incidents is narrowed to; empty means all."""

    states: Sequence[str] = ()
    severities: Sequence[str] = ()
    source: str = ""


@dataclass(frozen=True)
class DeliveryFilter:
    """What a list of deliveries is narrowed to; empty means all."""

    outcomes: Sequence[str] = ()
    source: str = ""
    incident_id: uuid.UUID | None = None


@dataclass(frozen=True)
class Member:
    """An alert of an incident, and when it came and went."""

    episode: AlertEpisode
    changes: Sequence[MemberChange] = ()

    @property
    def state(self) -> str | None:
        """None of a plain alert, which has the key of its incident: nobody tells its end."""
        is_plain = self.episode.key == str(self.episode.incident_id)
        return None if is_plain else self.episode.state

    @property
    def times(self) -> int:
        """How often it came back."""
        return sum(each.kind == MemberChange.Kind.REOPENED for each in self.changes)


@dataclass(frozen=True)
class IncidentDetail:
    incident: Incident
    members: Sequence[Member] = ()
    sessions: Sequence[AlertSession] = ()
    absorbed: int = 0
    """Incidents that a storm took the members of."""
    earlier: Sequence[AlertSession] = ()
    """Of the incident of the same group before this one."""

    @property
    def more_members(self) -> int:
        return max(0, self.incident.member_count - len(self.members))


@dataclass(frozen=True)
class IncidentPage:
    incidents: list[Incident] = field(default_factory=list)
    next_cursor: str = ""


@dataclass(frozen=True)
class DeliveryPage:
    deliveries: list[Delivery] = field(default_factory=list)
    next_cursor: str = ""


def list_incidents(wanted: IncidentFilter, *, before: str, page_size: int) -> IncidentPage:
    """Newest first, without those that a storm absorbed and plain alerts of which all was deleted.
    Raises InvalidInput for a wrong cursor.

    Each has its sessions, newest first, as `shown_sessions`.
    """
    exact = _asked_for(
        state__in=wanted.states, severity__in=wanted.severities, source=wanted.source
    )
    if wanted.states:
        exact["kind__in"] = Incident.FOLLOWED
    rows = _shown_incidents().filter(absorbed_by__isnull=True, **exact)
    shown, cursor = read_page(rows, "opened_at", before, page_size)
    sessions = _sessions().filter(incident_id__in=[each.pk for each in shown])
    by_incident: dict[object, list[AlertSession]] = {}
    for session in sessions:
        by_incident.setdefault(session.incident_id, []).append(session)
    for each in shown:
        each.shown_sessions = by_incident.get(each.pk, [])  # type: ignore[attr-defined]
    return IncidentPage(shown, cursor)


def read_incident(incident_id: uuid.UUID) -> IncidentDetail:
    """Raises NotFound, also for a plain alert of which all was deleted."""
    incident = _shown_incidents().select_related("previous").filter(pk=incident_id).first()
    if incident is None:
        raise NotFound("incident not found")
    return IncidentDetail(
        incident,
        members_of(incident_id),
        list(_sessions().filter(incident_id=incident_id)),
        incident.absorbed.count(),
        list(_sessions().filter(incident_id=incident.previous_id)) if incident.previous_id else [],
    )


def _shown_incidents() -> QuerySet[Incident]:
    """A plain alert says no more than its sessions do, and goes with the last of them."""
    there = AlertSession.objects.filter(incident=OuterRef("pk"), deleted_at=None)
    return Incident.objects.filter(Q(kind__in=Incident.FOLLOWED) | Exists(there))


def read_shown_incident(session: AlertSession) -> IncidentDetail | None:
    """What there is to show of the incident of a session: nothing of a plain alert that was
    investigated once."""
    incident_id = session.incident_id
    if incident_id is None:
        return None
    others = AlertSession.objects.filter(incident=OuterRef("pk"), deleted_at=None)
    shown = Q(kind__in=Incident.FOLLOWED) | Exists(others.exclude(pk=session.pk))
    is_shown = Incident.objects.filter(shown, pk=incident_id).exists()
    return read_incident(incident_id) if is_shown else None


def follows_incidents() -> bool:
    """Whether there is one whose alerts come and go."""
    return Incident.objects.filter(kind__in=Incident.FOLLOWED).exists()


def members_of(incident_id: uuid.UUID, most: int = MOST_MEMBERS) -> list[Member]:
    """Those that fire first, and of each kind those that came last."""
    changes = Prefetch("changes", MemberChange.objects.order_by("id"), to_attr="all_changes")
    episodes = (
        AlertEpisode.objects.filter(incident_id=incident_id)
        .defer("body")
        .order_by("state", "-first_seen_at", "-id")
        .prefetch_related(changes)
    )
    return [Member(each, tuple(each.all_changes)) for each in episodes[:most]]


def list_deliveries(wanted: DeliveryFilter, *, before: str, page_size: int) -> DeliveryPage:
    """Newest first. Raises InvalidInput for a cursor that is none."""
    exact = _asked_for(
        outcome__in=wanted.outcomes, source=wanted.source, incident_id=wanted.incident_id
    )
    rows = Delivery.objects.defer("body").filter(**exact)
    shown, cursor = read_page(rows, "received_at", before, page_size)
    return DeliveryPage(shown, cursor)


def read_delivery_row(delivery_id: uuid.UUID) -> Delivery:
    """Raises NotFound."""
    delivery = Delivery.objects.filter(pk=delivery_id).first()
    if delivery is None:
        raise NotFound("delivery not found")
    return delivery


def list_windows(now: datetime) -> list[MaintenanceWindow]:
    """Those of the database that are open or to come, the last to end first."""
    return list(MaintenanceWindow.objects.filter(ends_at__gt=now)[:MOST_WINDOWS])


def _asked_for(**lookups: object) -> dict[str, object]:
    """The lookups that a filter names a value for."""
    return {name: value for name, value in lookups.items() if value}


def _sessions() -> QuerySet[AlertSession]:
    fields = ("id", "incident_id", "status", "title", "created_at", "not_before", "held_for")
    return AlertSession.objects.filter(deleted_at=None).only(*fields).order_by("-created_at", "-id")
