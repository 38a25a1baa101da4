"""What is to become of the rows that one post is about, written together."""

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.types import JSON
from investigations.incidents.episodes import KnownEpisode, later
from investigations.incidents.grouping import Placing
from investigations.maskers import mask_alert_data
from investigations.models import AlertEpisode, AlertSession, Incident, MemberChange
from investigations.services.incidents.known import Known
from investigations.services.statements import Statements
from investigations.sources.reading import AlertReading
from investigations.sources.severity import heaviest

COUNTED = ("firing", "resolved")
"""The states of alerts that are reckoned with."""
MOST_SINGLE_ROWS = 64
"""Up to so many, incidents are changed by a statement each, all in one round trip."""
SEEN_JUST_NOW = timedelta(seconds=30)
BODY_CHARACTERS = 20_000
"""Of one alert, as it is kept beside its episode."""
_RESTATE = """
    UPDATE investigations_alertepisode AS episode
       SET state = told.state, starts_at = told.starts_at, ended_at = told.ended_at,
           last_seen_at = told.last_seen_at, count = told.count
      FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[], %s::timestamptz[],
                  %s::timestamptz[], %s::int[])
           AS told (id, state, starts_at, ended_at, last_seen_at, count)
     WHERE episode.id = told.id
"""
_SEE_AGAIN = """
    UPDATE investigations_alertepisode AS episode
       SET count = episode.count + told.times, last_seen_at = %s
      FROM unnest(%s::uuid[], %s::int[]) AS told (id, times)
     WHERE episode.id = told.id
"""
_RETIRE = "UPDATE investigations_alertepisode SET is_latest = false WHERE id = ANY(%s::uuid[])"
_INCIDENT_FIELDS = (
    "title", "severity", "state", "takes_members", "member_count", "firing_count",
    "last_joined_at", "last_seen_at", "recovered_at", "reopened_at", "absorbed_by",
)  # fmt: skip


@dataclass(frozen=True)
class Placed:
    """The alerts of a post as they are reckoned with, and where each that fires belongs."""

    alerts: tuple[AlertReading, ...]
    placings: Mapping[str, Placing]
    clean: str = ""
    """The whole post as text, where it holds no secret; what stands in it need not be masked."""

    @property
    def keys(self) -> list[str]:
        return [each.key for each in self.alerts if each.state in COUNTED]


@dataclass
class Batch:
    """What is known of the alerts of some posts, and what is to be written of them."""

    source: str
    now: datetime
    post: Placed
    """The one whose alerts are decided about."""
    known: Known
    rows: Statements
    """What is written at the end, in one round trip; whoever reads what follows runs it before."""
    new_episodes: list[AlertEpisode] = field(default_factory=list)
    seen: Counter[uuid.UUID] = field(default_factory=Counter)
    restated: list[AlertEpisode] = field(default_factory=list)
    retired: list[uuid.UUID] = field(default_factory=list)
    new_incidents: list[Incident] = field(default_factory=list)
    touched_incidents: dict[uuid.UUID, Incident] = field(default_factory=dict)
    changes: list[MemberChange] = field(default_factory=list)
    gained: dict[uuid.UUID, list[AlertReading]] = field(default_factory=dict)
    """The alerts that each incident got of these posts."""
    forgotten: list[AlertEpisode] = field(default_factory=list)
    recovered: set[uuid.UUID] = field(default_factory=set)
    reopened: set[uuid.UUID] = field(default_factory=set)
    absorbed_sessions: list[uuid.UUID] = field(default_factory=list)
    """Waiting ones of incidents that a storm has taken over."""

    @property
    def episodes(self) -> dict[str, AlertEpisode]:
        """The newest one of each key."""
        return self.known.episodes

    @property
    def incidents(self) -> dict[uuid.UUID, Incident]:
        return self.known.incidents

    @property
    def sessions(self) -> dict[uuid.UUID, AlertSession]:
        """The newest investigation of each incident that has one."""
        return self.known.sessions

    def incident_of_group(self, group_key: str) -> Incident | None:
        return next(
            (
                each
                for each in self.incidents.values()
                if each.takes_members and each.group_key == group_key
            ),
            None,
        )

    def known_episode(self, key: str) -> KnownEpisode | None:
        row = self.episodes.get(key)
        if row is None:
            return None
        is_firing = row.state == AlertEpisode.State.FIRING
        return KnownEpisode(is_firing, row.starts_at, row.ended_at, row.last_seen_at)

    def begin(self, alert: AlertReading, incident: Incident | None) -> AlertEpisode:
        """A new episode; the one before it is the newest no more."""
        before = self.episodes.get(alert.key)
        if before is not None:
            before.is_latest = False
            self.retired.append(before.pk)
        row = _describe(alert, self.source, self.post.clean)
        row.incident = incident
        row.first_seen_at = row.last_seen_at = self.now
        self.new_episodes.append(row)
        self.episodes[alert.key] = row
        return row

    def see_again(self, alert: AlertReading) -> AlertEpisode:
        row = self.episodes[alert.key]
        starts_at = later(row.starts_at, alert.starts_at)
        if starts_at == row.starts_at:
            self._note_seen(row)
        else:
            self._restate(row, starts_at)
        incident = self.incidents.get(row.incident_id) if row.incident_id else None
        # An incident that is told of all the time need not be written each time.
        if incident is not None and self.now - incident.last_seen_at > SEEN_JUST_NOW:
            incident.last_seen_at = self.now
            self.touch(incident)
        return row

    def end(self, alert: AlertReading) -> AlertEpisode:
        row = self.episodes[alert.key]
        row.state = AlertEpisode.State.RESOLVED
        return self.end_later(alert)

    def end_later(self, alert: AlertReading) -> AlertEpisode:
        """Its end, as far as its source tells it, is the last one that was told."""
        row = self.episodes[alert.key]
        row.ended_at = later(row.ended_at, alert.ends_at)
        self._restate(row, later(row.starts_at, alert.starts_at))
        return row

    def note(self, incident: Incident, episode: AlertEpisode, kind: str) -> None:
        change = MemberChange(incident=incident, episode=episode, kind=kind, at=self.now)
        self.changes.append(change)

    def add(self, incident: Incident) -> None:
        self.new_incidents.append(incident)
        self.incidents[incident.pk] = incident

    def absorb(self, storm: Incident) -> None:
        """What this very post has opened so far belongs to the storm, too."""
        opened = {each.pk: each for each in self.new_incidents}
        for row in self.new_episodes:
            if row.incident_id in opened:
                row.incident = storm
        for change in self.changes:
            if change.incident_id in opened:
                change.incident = storm
        for pk, incident in opened.items():
            storm.member_count += incident.member_count
            storm.firing_count += incident.firing_count
            storm.severity = heaviest([storm.severity, incident.severity])  # type: ignore[list-item]
            self.gained.setdefault(storm.pk, []).extend(self.gained.pop(pk, []))
            del self.incidents[pk]
            incident.absorbed_by = storm
        self.new_incidents.clear()

    def touch(self, incident: Incident) -> None:
        if not incident._state.adding:
            self.touched_incidents[incident.pk] = incident

    def write(self) -> None:
        """Everything but the sessions; of an ordinary post, when `rows` is run."""
        rows, touched, is_small = self.rows, list(self.touched_incidents.values()), self._is_small
        if is_small:
            for incident in touched:
                rows.update(incident, _INCIDENT_FIELDS)
            rows.insert_all(self.new_incidents)
        else:
            Incident.objects.bulk_update(touched, _INCIDENT_FIELDS, batch_size=500)
            Incident.objects.bulk_create(self.new_incidents)
        if self.seen:
            rows.add(_SEE_AGAIN, [self.now, list(self.seen), list(self.seen.values())])
        if self.retired:
            rows.add(_RETIRE, [self.retired])
        if restated := [*self.restated, *self.forgotten]:
            rows.add(_RESTATE, _in_columns(restated))
        if is_small:
            rows.insert_all(self.new_episodes)
            rows.insert_all(self.changes)
        else:
            rows.run()
            AlertEpisode.objects.bulk_create(self.new_episodes, batch_size=500)
            MemberChange.objects.bulk_create(self.changes, batch_size=500)

    @property
    def _is_small(self) -> bool:
        written = (
            self.touched_incidents, self.new_incidents, self.new_episodes, self.changes
        )  # fmt: skip
        return sum(map(len, written)) <= MOST_SINGLE_ROWS

    def _note_seen(self, row: AlertEpisode) -> None:
        row.count, row.last_seen_at = row.count + 1, self.now
        if not row._state.adding:
            self.seen[row.pk] += 1

    def _restate(self, row: AlertEpisode, starts_at: datetime | None) -> None:
        row.starts_at = starts_at
        row.last_seen_at = self.now
        row.count += 1
        self.restated.append(row)


def _in_columns(rows: Sequence[AlertEpisode]) -> list[list[object]]:
    """In one statement: of thousands, `bulk_update` takes a minute to write the SQL."""
    told = ((r.pk, r.state, r.starts_at, r.ended_at, r.last_seen_at, r.count) for r in rows)
    return [list(column) for column in zip(*told, strict=True)]


def _describe(alert: AlertReading, source: str, clean: str) -> AlertEpisode:
    told = _mask_told(alert, clean)
    is_over = alert.state == "resolved"
    return AlertEpisode(
        id=uuid.uuid4(),
        source=source,
        key=alert.key,
        about=alert.about,
        state=AlertEpisode.State.RESOLVED if is_over else AlertEpisode.State.FIRING,
        title=str(told.get("title", ""))[:300],
        severity=alert.severity,
        labels=told.get("labels") or {},
        link=str(told.get("link", ""))[:2_000],
        body=_describe_body(alert, clean),
        starts_at=alert.starts_at,
        ended_at=alert.ends_at if is_over else None,
    )


def _mask_told(alert: AlertReading, clean: str) -> Mapping[str, JSON]:
    """Title, labels and link; the last two as they are where they stand so in a clean text."""
    labels: dict[str, JSON] = {**alert.labels}
    told: dict[str, JSON] = {"title": alert.title, "labels": labels, "link": alert.links.alert}
    if all(not told[name] or _dump(told[name]) in clean for name in ("labels", "link")):
        return {**told, "title": mask_alert_data(alert.title)}
    return _mask(told)


def _describe_body(alert: AlertReading, clean: str) -> str:
    """Masked, unless it stands as it is in a text that was looked at as a whole."""
    text = _dump(alert.body)
    return (text if text in clean else mask_alert_data(text))[:BODY_CHARACTERS]


def _dump(value: object) -> str:
    """As a post is kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mask(told: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Masked text of JSON is JSON; where it is none after all, nothing of it is kept."""
    try:
        read = json.loads(mask_alert_data(json.dumps(told, ensure_ascii=False)))
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
