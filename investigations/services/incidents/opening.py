"""Incidents are opened, joined, reopened and recovered, as the alerts of a post come and go."""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import connection

from config.schema.incidents import IncidentsConfig
from investigations.incidents.grouping import STORM_KEY, Placing, fit_incident
from investigations.models import AlertEpisode, AlertSession, Incident, MemberChange
from investigations.services.incidents.batch import Batch
from investigations.services.incidents.known import KnownStorm, number_of, read_storm
from investigations.sources.reading import AlertReading
from investigations.sources.severity import heaviest

_MINUTE = timedelta(minutes=1)


def take_in(batch: Batch, alert: AlertReading, rules: IncidentsConfig) -> tuple[Incident, bool]:
    """The incident that a new episode belongs to, and whether it was opened for it."""
    before = batch.episodes.get(alert.key)
    if before is not None and before.state == AlertEpisode.State.FIRING:
        _forget(batch, before)
    current = batch.incident_of_group(batch.post.placings[alert.key].group_key)
    incident, is_new = current, False
    kind = MemberChange.Kind.JOINED
    if current is None or not takes(current, before, batch, rules):
        incident, is_new = _open(batch, alert, current, rules)
    elif not current.is_open:
        _reopen(batch, current)
    assert incident is not None
    episode = batch.begin(alert, incident)
    if before is not None and _was_member(before, incident):
        kind = MemberChange.Kind.REOPENED
    else:
        incident.member_count += 1
        incident.last_joined_at = batch.now
    incident.firing_count += 1
    incident.last_seen_at = batch.now
    incident.severity = heaviest([alert.severity, incident.severity])  # type: ignore[list-item]
    incident.title = _title_of(incident, episode)
    batch.touch(incident)
    batch.note(incident, episode, kind)
    batch.gained.setdefault(incident.pk, []).append(alert)
    return incident, is_new


def _was_member(before: AlertEpisode, incident: Incident) -> bool:
    """An end whose beginning nobody told belongs to no incident; what came before it may."""
    if before.incident_id is not None or incident._state.adding:
        return before.incident_id == incident.pk
    return AlertEpisode.objects.filter(
        source=before.source, key=before.key, incident=incident
    ).exists()


def let_go(batch: Batch, alert: AlertReading) -> Incident | None:
    """A member is over; its incident recovers with the last one."""
    episode = batch.end(alert)
    incident = batch.incidents.get(episode.incident_id) if episode.incident_id else None
    if incident is None:
        return None
    incident.last_seen_at = batch.now
    # When it was told; a source whose clock is wrong must not close the window for us.
    _lose_member(batch, incident, episode, batch.now)
    return incident


def _forget(batch: Batch, episode: AlertEpisode) -> None:
    """Nobody has told of it for so long that it counts as over since it was last heard of."""
    episode.state, episode.ended_at = AlertEpisode.State.RESOLVED, episode.last_seen_at
    batch.forgotten.append(episode)
    incident = batch.incidents.get(episode.incident_id) if episode.incident_id else None
    if incident is not None:
        _lose_member(batch, incident, episode, episode.last_seen_at)


def _lose_member(batch: Batch, incident: Incident, episode: AlertEpisode, at: datetime) -> None:
    """One fires less; with the last one, the incident has recovered at that moment."""
    incident.firing_count = max(0, incident.firing_count - 1)
    batch.note(incident, episode, MemberChange.Kind.RESOLVED)
    if incident.firing_count == 0 and incident.is_open:
        incident.state = Incident.State.RECOVERED
        incident.recovered_at = at
        batch.recovered.add(incident.pk)
        batch.reopened.discard(incident.pk)
    batch.touch(incident)


def takes(
    incident: Incident, before: AlertEpisode | None, batch: Batch, rules: IncidentsConfig
) -> bool:
    """Whether an incident takes an alert that begins to fire; `before` is its last episode."""
    # A member comes back while others still fire.
    if incident.is_open and before is not None and before.incident_id == incident.pk:
        return True
    fit = fit_incident(
        is_open=incident.is_open,
        last_joined_at=incident.last_joined_at,
        recovered_at=incident.recovered_at,
        now=batch.now,
        rules=rules,
    )
    return fit != "opens"


def _reopen(batch: Batch, incident: Incident) -> None:
    incident.state = Incident.State.REOPENED
    incident.reopened_at = batch.now
    batch.reopened.add(incident.pk)
    batch.recovered.discard(incident.pk)


def _open(
    batch: Batch, alert: AlertReading, current: Incident | None, rules: IncidentsConfig
) -> tuple[Incident, bool]:
    if current is not None:
        current.takes_members = False
        batch.touch(current)
    if rules.storm_after is not None:
        storm = _find_storm(batch, rules.storm_after)
        if storm is not None:
            return storm, False
        if _is_storm(batch, rules.storm_after):
            return _open_storm(batch, alert), True
    incident = _make(batch, batch.post.placings[alert.key], Incident.Kind.GROUP)
    incident.previous = current
    batch.add(incident)
    return incident, True


def _make(batch: Batch, placing: Placing, kind: str) -> Incident:
    return Incident(
        id=uuid.uuid4(),
        source=batch.source,
        group_key=placing.group_key if kind == Incident.Kind.GROUP else STORM_KEY,
        kind=kind,
        team=placing.team[:100],
        alert_type=placing.alert_type,
        rule=placing.rule,
        opened_at=batch.now,
        last_joined_at=batch.now,
        last_seen_at=batch.now,
    )


def _title_of(incident: Incident, episode: AlertEpisode) -> str:
    if incident.kind == Incident.Kind.STORM:
        return f"Storm of {incident.source}: {incident.member_count:,} alerts"
    return incident.title or episode.title or episode.key[:300]


# ---- Storms -------------------------------------------------------------------------------------


def find_settled_storm(batch: Batch, most: int) -> Incident | None:
    """The storm of the source, while it rages and has taken over what there is to be taken over:
    what joins it now is a member more, and that is all."""
    found = _read_storm(batch, most)
    if found is None or found.has_young:
        return None
    # What this batch has counted already must not be read over.
    storm = batch.incidents.get(found.incident.pk, found.incident)
    return storm if storm.is_open and _rages(batch, storm, lambda: found.joined_at) else None


def _find_storm(batch: Batch, most: int) -> Incident | None:
    """The storm of the source, while it rages."""
    held = batch.incident_of_group(STORM_KEY)
    if held is not None:
        if not _rages(batch, held, lambda: _joined_at(held, most)):
            return None
        known = held
    else:
        found = _read_storm(batch, most)
        if found is None or not _rages(batch, found.incident, lambda: found.joined_at):
            return None
        known = found.incident
        batch.incidents[known.pk] = known
        # Those that were being written when the storm began.
        _absorb(batch, known, has_young=found.has_young)
    if not known.is_open:
        _reopen(batch, known)
    return known


def _read_storm(batch: Batch, most: int) -> KnownStorm | None:
    since = batch.now - _MINUTE
    return read_storm(batch.source, batch.known, since=since, enough=_enough(most))


def _rages(batch: Batch, storm: Incident, find_moment: Callable[[], datetime | None]) -> bool:
    """Whether at least half as many alerts as make a storm have joined it within a minute. What
    comes later is no part of it, and would never be looked into."""
    since = batch.now - _MINUTE
    if storm.pk in batch.gained or storm.opened_at > since:
        return True
    joined_at = find_moment()
    return joined_at is not None and joined_at > since


def _joined_at(storm: Incident, most: int) -> datetime | None:
    """When the one joined with which enough have joined since."""
    joined = storm.changes.filter(kind=MemberChange.Kind.JOINED).order_by("-id")
    moments = joined.values_list("at", flat=True)
    return next(iter(moments[_enough(most) - 1 : _enough(most)]), None)


def _enough(most: int) -> int:
    return max(1, most // 2)


def _is_storm(batch: Batch, most: int) -> bool:
    """Whether one more incident of the source would be too many within a minute."""
    recent = Incident.objects.filter(
        source=batch.source, kind__in=Incident.FOLLOWED, opened_at__gt=batch.now - _MINUTE
    )
    return recent.count() + len(batch.new_incidents) >= most


def _open_storm(batch: Batch, alert: AlertReading) -> Incident:
    """One incident in place of those that the source has opened within the last minute."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number_of("storm", batch.source)])
    stale = Incident.objects.filter(source=batch.source, group_key=STORM_KEY, takes_members=True)
    young = stale.filter(opened_at__gt=batch.now - _MINUTE)
    made_meanwhile = young.select_for_update(of=("self",)).first()
    if made_meanwhile is not None:
        batch.incidents[made_meanwhile.pk] = made_meanwhile
        return made_meanwhile
    stale.update(takes_members=False)
    if (spent := batch.incident_of_group(STORM_KEY)) is not None:
        spent.takes_members = False
    storm = _make(batch, batch.post.placings[alert.key], Incident.Kind.STORM)
    storm.save(force_insert=True)
    batch.incidents[storm.pk] = storm
    _absorb(batch, storm, has_young=True)
    return storm


def _absorb(batch: Batch, storm: Incident, *, has_young: bool) -> None:
    """Take over the members of the young incidents, also of those that the post has opened."""
    if has_young:
        _take_over_young(batch, storm)
    batch.absorb(storm)
    batch.touch(storm)


def _take_over_young(batch: Batch, storm: Incident) -> None:
    """Those that somebody writes stay as they are."""
    rows = Incident.objects.filter(
        source=batch.source,
        kind=Incident.Kind.GROUP,
        opened_at__gt=batch.now - _MINUTE,
        absorbed_by__isnull=True,
    ).exclude(pk__in=list(batch.incidents))
    young = list(rows.select_for_update(skip_locked=True, of=("self",)))
    ids = [each.pk for each in young]
    Incident.objects.filter(pk__in=ids).update(
        absorbed_by=storm, takes_members=False, firing_count=0
    )
    AlertEpisode.objects.filter(incident_id__in=ids).update(incident=storm)
    MemberChange.objects.filter(incident_id__in=ids).update(incident=storm)
    storm.member_count += sum(each.member_count for each in young)
    storm.firing_count += sum(each.firing_count for each in young)
    batch.absorbed_sessions += _waiting_sessions(ids)


def _waiting_sessions(incident_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    waiting = AlertSession.objects.filter(
        incident_id__in=incident_ids, status=AlertSession.Status.PENDING
    )
    return list(waiting.values_list("pk", flat=True))
