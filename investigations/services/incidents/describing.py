"""What an investigation is given of its incident: its alerts, and what was found before."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from agents.types import JSON
from investigations.models import AlertEpisode, AlertSession, Incident
from investigations.selectors.changes import changes_of_session
from investigations.selectors.session_page.conclusions import conclusion_of
from investigations.sources.registry import SOURCES
from masking.visible_text import clean_line

MOST_BODIES = 50
"""Of the alerts of one incident that an investigation is given whole; the others are counted."""
_MOST_NAMED = 20
_TITLE_ROOM = 280
_BODY_BYTES = 1024 * 1024 - 64 * 1024
"""For the bodies; the rest is for what stands around them."""


@dataclass(frozen=True)
class Described:
    """The alert of a session: what agents read, and its title."""

    data: Mapping[str, object]
    title: str


def describe(
    incident: Incident,
    *,
    bodies: Sequence[JSON],
    firing: int,
    title: str,
    over: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> Described:
    """`firing` is how many alerts fire; of these, `bodies` are as they were sent."""
    source = SOURCES.get(incident.source)
    chosen, more = choose_bodies(bodies, firing)
    whole = title
    if firing > 1 and incident.kind == Incident.Kind.GROUP:
        whole = f"{clean_line(title, _TITLE_ROOM)} and {firing - 1:,} more"
    described: dict[str, object] = {
        "title": whole,
        "source": source.label if source else incident.source,
        "severity": incident.severity,
        "group": incident.group_key if incident.kind == Incident.Kind.GROUP else "",
        "team": incident.team,
        "alerts": chosen,
        "over_already": list(over[:_MOST_NAMED]),
        "found_before": _found_before(incident),
        "left_out": [*left_out, *more],
    }
    return Described({name: value for name, value in described.items() if value}, whole)


def describe_as_it_stands(incident: Incident) -> Described:
    """As it is now, from the rows: for an investigation that is about to begin."""
    members = AlertEpisode.objects.filter(incident=incident, is_latest=True)
    firing = members.filter(state=AlertEpisode.State.FIRING)
    rows = list(firing.order_by("first_seen_at", "id")[: MOST_BODIES + 1])
    over = members.filter(state=AlertEpisode.State.RESOLVED).order_by("-last_seen_at")
    named = over.values_list("title", "key")[:_MOST_NAMED]
    return describe(
        incident,
        bodies=[_read(row.body) for row in rows],
        firing=firing.count(),
        title=incident.title,
        over=[f"{title} ({key})" for title, key in named],
    )


def choose_bodies(bodies: Sequence[JSON], firing: int) -> tuple[list[JSON], list[str]]:
    """Those that have room, and what is said of the others."""
    chosen: list[JSON] = []
    size = 0
    for body in bodies[:MOST_BODIES]:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        size += len(text.encode())
        if size > _BODY_BYTES:
            break
        chosen.append(body)
    if not chosen and bodies:
        text = json.dumps(bodies[0], ensure_ascii=False)
        return [text.encode()[: _BODY_BYTES // 2].decode(errors="ignore")], ["the end of the post"]
    more = firing - len(chosen)
    return chosen, [f"{more:,} of {firing:,} alerts that fire"] if more > 0 else []


def _read(body: str) -> JSON:
    """As JSON, unless it was cut."""
    try:
        read: JSON = json.loads(body)
    except ValueError:
        return body
    return read


def _found_before(incident: Incident) -> dict[str, object]:
    """What the investigation of the incident before this one, or of this one before it came back,
    has concluded and what was changed then. A statement of ours with its place, to be checked and
    not believed."""
    ids = [each for each in (incident.pk, incident.previous_id) if each]
    session = _last_concluded(ids)
    if session is None or session.completed_at is None:
        return {}
    return {
        "session": str(session.pk),
        "ended": f"{session.completed_at:%Y-%m-%d %H:%M} UTC",
        "conclusion": conclusion_of(session.final_analysis),
        "changed": [
            f"{each.tool} on {each.target or 'no target'}, {each.status}"
            for each in changes_of_session(session.pk)[-_MOST_NAMED:]
        ],
        "state": "from an earlier investigation; it may no longer hold",
    }


def _last_concluded(incident_ids: Sequence[uuid.UUID]) -> AlertSession | None:
    concluded = AlertSession.objects.filter(
        ~Q(final_analysis=""),
        incident_id__in=incident_ids,
        status=AlertSession.Status.COMPLETED,
        deleted_at=None,
    )
    return concluded.only("final_analysis", "completed_at").order_by("-completed_at").first()
