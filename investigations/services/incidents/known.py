"""What is known of the alerts and groups of posts: locked and read in one round trip.

Locks are taken in one order: the source (shared, or alone for a large post), then keys and groups
by their numbers, then incidents by their ids, and sessions last. So posts wait for each other and
never in a circle; a storm is the exception, and tried again where the database sees a circle.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

from investigations.incidents.grouping import STORM_KEY, Placing
from investigations.models import AlertEpisode, AlertSession, Delivery, Incident
from investigations.services.prepared import execute, write_executions_of
from investigations.sources.reading import AlertReading

_Row = TypeVar("_Row", bound=Model)

MOST_SINGLE_LOCKS = 64
"""Posts with more keys wait until they have their source for themselves."""
_OF_DELIVERY = ("id", "alert_count", "session_id", "incident_id")
_OF_SESSION = (
    "id", "incident_id", "status", "error_message", "not_before", "held_for", "chain_id",
    "alert_type",
)  # fmt: skip
_TEXTS_OF_EPISODE = ("labels", "link", "body")
LOCK_PATIENCE = "10s"
"""For each lock, until the transaction ends: whoever holds one for longer hangs, and a sender that
gets no answer gives up. One that is told to come again does."""
# Each statement has a snapshot of its own: it sees what was committed while the one before it
# waited for its locks.
# A plan is kept for as long as the connection is. Some rows are looked for by an index, also where
# the plan is made while there are none.
_SETTLE = """
SELECT set_config('lock_timeout', %(patience)s, true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true)
"""
_LOCK_WHOLE = "SELECT pg_advisory_xact_lock(%(whole)s)"
_SHARE_WHOLE = "SELECT pg_advisory_xact_lock_shared(%(whole)s)"
_LOCK_NUMBERS = """
SELECT count(pg_advisory_xact_lock(number))
  FROM (SELECT unnest(%(numbers)s::bigint[]) AS number ORDER BY 1 OFFSET 0) AS numbers
"""
_READ_EQUAL = """
SELECT told.place, {columns}
  FROM unnest(%(hashes)s::text[], %(delivery_ids)s::text[], %(told_once)s::bool[])
       WITH ORDINALITY AS told (sha256, delivery_id, is_told_once, place)
 CROSS JOIN LATERAL (
       SELECT {columns}
         FROM investigations_delivery AS kept
        WHERE kept.source = %(source)s AND kept.sha256 = told.sha256
          AND kept.outcome <> 'duplicate'
          AND (told.is_told_once
               OR (kept.delivery_id = told.delivery_id
                   AND (told.delivery_id <> '' OR kept.received_at > %(since)s)))
        ORDER BY kept.received_at DESC
        LIMIT 1) AS first
"""
_READ_EPISODES = """
SELECT {columns} FROM investigations_alertepisode
 WHERE source = %(source)s AND key = ANY(%(keys)s::text[]) AND is_latest
"""
_INCIDENT_IDS = """
SELECT incident_id FROM investigations_alertepisode
 WHERE source = %(source)s AND key = ANY(%(keys)s::text[]) AND is_latest
 UNION
SELECT id FROM investigations_incident
 WHERE source = %(source)s AND group_key = ANY(%(groups)s::text[]) AND takes_members
"""
_READ_INCIDENTS = f"""
SELECT {{columns}} FROM investigations_incident WHERE id IN ({_INCIDENT_IDS})
 ORDER BY id FOR UPDATE
"""
_READ_SESSIONS = """
SELECT {columns} FROM investigations_alertsession
 WHERE incident_id IN ({incidents}) AND deleted_at IS NULL
 ORDER BY created_at, id
"""
_READ_STORM = """
SELECT {columns} FROM investigations_incident
 WHERE source = %(source)s AND group_key = %(storm)s AND kind = 'storm' AND takes_members
   AND last_joined_at > %(since)s
   FOR UPDATE
"""
_READ_JOINED = """
SELECT at FROM investigations_memberchange
 WHERE incident_id = ({storm}) AND kind = 'joined'
 ORDER BY id DESC OFFSET %(before)s LIMIT 1
"""
_HAS_YOUNG = """
SELECT EXISTS (
       SELECT FROM investigations_incident
        WHERE source = %(source)s AND kind = 'group' AND opened_at > %(since)s
          AND absorbed_by_id IS NULL AND id <> ALL(%(beside)s::uuid[]))
"""
_STORM_ID = """
SELECT id FROM investigations_incident
 WHERE source = %(source)s AND group_key = %(storm)s AND takes_members
"""


@dataclass(frozen=True)
class Asked:
    """What one post is about: its equals, the keys of its alerts, and where those that fire belong.

    An equal is one that came later than `since`; where the sender numbers its posts, or nobody
    could tell a copy from one that was sent anew (`is_told_once`), whenever it came.
    """

    sha256: str
    delivery_id: str
    is_told_once: bool
    keys: Sequence[str]
    placings: Mapping[str, Placing]

    @property
    def groups(self) -> set[str]:
        return {each.group_key for each in self.placings.values()}


@dataclass
class Known:
    """What the database holds of some posts of one source. All is locked but the sessions."""

    equals: dict[int, Delivery] = field(default_factory=dict)
    """Of a post, by its place: the newest equal one about which something was decided."""
    episodes: dict[str, AlertEpisode] = field(default_factory=dict)
    """The newest one of each key, without its texts."""
    incidents: dict[uuid.UUID, Incident] = field(default_factory=dict)
    sessions: dict[uuid.UUID, AlertSession] = field(default_factory=dict)
    """The newest investigation of each of these incidents that has one."""
    incidents_read: frozenset[uuid.UUID] = frozenset()
    """Those whose investigations were read with them; others were found later."""


def read_known(source: str, asked: Sequence[Asked], *, since: datetime) -> Known:
    """Wait for all posts that are equal to these, or about the same alerts or groups, and read."""
    known = _read_once(source, asked, since)
    if _have_moved(known):
        known = _read_once(source, asked, since)
    return known


def _have_moved(known: Known) -> bool:
    """Whether a storm, which asks for no lock of a key, has taken over an incident after its alerts
    were read: they belong to the storm then. Nothing takes over a storm."""
    found = (
        known.incidents.get(row.incident_id) for row in known.episodes.values() if row.incident_id
    )
    return any(incident is None or incident.absorbed_by_id for incident in found)


def _read_once(source: str, asked: Sequence[Asked], since: datetime) -> Known:
    values = _values_of(source, asked, since)
    is_large = len(values["numbers"]) > MOST_SINGLE_LOCKS
    if is_large:
        values["numbers"] = []
    is_about_alerts = bool(values["keys"])
    with connection.cursor() as cursor:
        texts = _read_texts(is_large=is_large, is_about_alerts=is_about_alerts)
        execute(cursor, write_executions_of(texts, values))
        _pass_locks(cursor)
        known = Known(equals=_equals(_next_rows(cursor)))
        if is_about_alerts:
            episodes = _make(AlertEpisode, _episode_names(), _next_rows(cursor))
            incidents = _make(Incident, _names_of(Incident), _next_rows(cursor))
            sessions = _make(AlertSession, _session_names(), _next_rows(cursor))
            known.episodes = {row.key: row for row in episodes}
            wanted = {row.incident_id for row in episodes}
            # One that was absorbed by a storm while we waited for it takes nothing any more.
            known.incidents = {
                row.pk: row for row in incidents if row.takes_members or row.pk in wanted
            }
            known.incidents_read = frozenset(known.incidents)
            known.sessions = {row.incident_id: row for row in sessions if row.incident_id}
    return known


@dataclass(frozen=True)
class KnownStorm:
    """The storm of a source, locked, and what is to be known of it before an alert joins it."""

    incident: Incident
    joined_at: datetime | None
    """When that one joined after which as many have joined as were asked for."""
    has_young: bool
    """Whether there are incidents that it has yet to take over."""


def read_storm(source: str, known: Known, *, since: datetime, enough: int) -> KnownStorm | None:
    """The storm that somebody has joined `since` then, in one round trip. It and its investigation
    are `known` from then on."""
    values: dict[str, Any] = {
        "source": source, "storm": STORM_KEY, "since": since, "before": enough - 1,
        "beside": list(known.incidents),
    }  # fmt: skip
    with connection.cursor() as cursor:
        execute(cursor, write_executions_of(_storm_texts(), values))
        incidents = _make(Incident, _names_of(Incident), cursor.fetchall())
        joined = [at for [at] in _next_rows(cursor)]
        [[has_young]] = _next_rows(cursor)
        sessions = _make(AlertSession, _session_names(), _next_rows(cursor))
    if not incidents:
        return None
    [storm] = incidents
    known.sessions.update((each.incident_id, each) for each in sessions if each.incident_id)
    known.incidents_read |= {storm.pk}
    return KnownStorm(storm, joined[0] if joined else None, has_young)


@cache
def _storm_texts() -> tuple[str, ...]:
    return (
        _READ_STORM.format(columns=", ".join(_names_of(Incident))),
        _READ_JOINED.format(storm=_STORM_ID),
        _HAS_YOUNG,
        _READ_SESSIONS.format(columns=", ".join(_session_names()), incidents=_STORM_ID),
    )


def read_latest_sessions(incident_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, AlertSession]:
    """The newest investigation of each incident that has one, by incident."""
    names = _session_names()
    text = _READ_SESSIONS.format(columns=", ".join(names), incidents="SELECT unnest(%s::uuid[])")
    with connection.cursor() as cursor:
        cursor.execute(text, [list(incident_ids)])
        rows = _make(AlertSession, names, cursor.fetchall())
    return {row.incident_id: row for row in rows if row.incident_id}


def adopt_keys(source: str, alerts: Sequence[AlertReading]) -> tuple[AlertReading, ...]:
    """Where each post has a number of its own, that of the first one about a thing is the key of
    all: waits for all posts about these things."""
    things = {each.about for each in alerts if each.about}
    if not things:
        return tuple(alerts)
    numbers = sorted(number_of("thing", source, each) for each in things)
    # `read_known` never asks for more than this has: two posts would wait for each other.
    is_large = 2 * len(alerts) + 1 > MOST_SINGLE_LOCKS
    with connection.cursor() as cursor:
        values: dict[str, object] = {
            "patience": LOCK_PATIENCE,
            "whole": number_of("source", source),
            "numbers": [] if is_large else numbers,
        }
        texts = _lock_texts(is_large=is_large)
        execute(cursor, write_executions_of(texts, values))
    rows = AlertEpisode.objects.filter(source=source, about__in=things, is_latest=True)
    known = dict(rows.order_by("first_seen_at", "id").values_list("about", "key"))
    return tuple(replace(each, key=known.get(each.about, each.key)) for each in alerts)


def number_of(*words: str) -> int:
    """The number of an advisory lock; other locks have small ones."""
    digest = hashlib.sha256("\x00".join(words).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _values_of(source: str, asked: Sequence[Asked], since: datetime) -> dict[str, Any]:
    keys = sorted({key for each in asked for key in each.keys})
    groups = sorted({group for each in asked for group in each.groups})
    numbers = {number_of("alert", source, key) for key in keys}
    numbers |= {number_of("group", source, group) for group in groups}
    numbers |= {number_of("delivery", source, each.sha256) for each in asked}
    return {
        "source": source,
        "patience": LOCK_PATIENCE,
        "whole": number_of("source", source),
        "numbers": sorted(numbers),
        "hashes": [each.sha256 for each in asked],
        "delivery_ids": [each.delivery_id for each in asked],
        "told_once": [each.is_told_once for each in asked],
        "since": since,
        "keys": keys,
        "groups": groups,
    }


@cache
def _read_texts(*, is_large: bool, is_about_alerts: bool) -> tuple[str, ...]:
    columns = [", ".join(names) for names in (_episode_names(), _names_of(Incident))]
    equal = _READ_EQUAL.format(columns=", ".join(_equal_names()))
    if not is_about_alerts:
        return (*_lock_texts(is_large=is_large), equal)
    return (
        *_lock_texts(is_large=is_large),
        equal,
        _READ_EPISODES.format(columns=columns[0]),
        _READ_INCIDENTS.format(columns=columns[1]),
        _READ_SESSIONS.format(columns=", ".join(_session_names()), incidents=_INCIDENT_IDS),
    )


def _lock_texts(*, is_large: bool) -> tuple[str, ...]:
    """Three of them: what was asked to be read stands behind these."""
    return _SETTLE, _LOCK_WHOLE if is_large else _SHARE_WHOLE, _LOCK_NUMBERS


def _equal_names() -> tuple[str, ...]:
    return _names_of(Delivery, only=_OF_DELIVERY)


def _episode_names() -> tuple[str, ...]:
    return tuple(name for name in _names_of(AlertEpisode) if name not in _TEXTS_OF_EPISODE)


def _session_names() -> tuple[str, ...]:
    return _names_of(AlertSession, only=_OF_SESSION)


@cache
def _names_of(model: type[Model], only: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Columns in the order of the model: `from_db` takes values in no other."""
    names = (each.attname for each in model._meta.local_concrete_fields)
    return tuple(name for name in names if not only or name in only)


def _pass_locks(cursor: Any) -> None:
    """To the last result of `_lock_texts`; what was asked to be read stands behind it."""
    cursor.nextset()
    cursor.nextset()


def _next_rows(cursor: Any) -> list[tuple[Any, ...]]:
    cursor.nextset()
    return list(cursor.fetchall())


def _equals(rows: Iterable[tuple[Any, ...]]) -> dict[int, Delivery]:
    """Without posts of no alert: nothing was decided of them."""
    read = {place: Delivery.from_db(connection.alias, _equal_names(), row) for place, *row in rows}
    return {place - 1: row for place, row in read.items() if row.alert_count}


def _make(model: type[_Row], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[_Row]:
    return [model.from_db(connection.alias, names, row) for row in rows]
