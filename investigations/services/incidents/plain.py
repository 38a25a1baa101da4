"""Posts of which nothing follows but rows: what is told again, and what joins an incident that is
looked into already. They come in thousands, and many of them are taken in one transaction."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

from config import get_config
from investigations.incidents.grouping import Placing
from investigations.models import AlertEpisode, AlertSession, Delivery, Incident
from investigations.services.incidents.batch import COUNTED, Batch, Placed
from investigations.services.incidents.investigating import Investigation, follow_up
from investigations.services.incidents.known import Known
from investigations.services.incidents.opening import find_settled_storm, takes
from investigations.services.incidents.taking import (
    Taken,
    decide,
    judge_alert,
    tell_outcome,
)
from investigations.services.statements import Statements
from investigations.sources.reading import AlertReading


class PlainTaking:
    """Takes posts of one source, one after the other, as far as they are plain.

    All that is `known` of them is locked. What is to be written stands in `rows` after `finish`.
    """

    def __init__(self, source: str, known: Known, rows: Statements, now: datetime) -> None:
        self._batch = Batch(source, now, Placed((), {}), known, rows)
        self._rules = get_config().incidents
        self._decided: list[list[Taken]] = []

    def take(self, placed: Placed) -> bool:
        """Take a post, or leave it as it is where more would follow of it."""
        self._batch.post = placed
        if not all(self._is_plain(alert, placed) for alert in placed.alerts):
            return False
        self._decided.append([decide(self._batch, each) for each in placed.alerts])
        return True

    def finish(self) -> list[tuple[Taken, ...]]:
        """What became of the alerts of each post that was taken, in order."""
        self._batch.write()
        found = follow_up(self._batch, self._rules, author="", alert_type="", over=[], left_out=())
        return [tuple(_tell(post, found)) for post in self._decided]

    def _is_plain(self, alert: AlertReading, placed: Placed) -> bool:
        if alert.state not in COUNTED:
            return True
        match judge_alert(self._batch, alert, self._rules):
            case "begins":
                return self._joins(alert, placed.placings[alert.key])
            case "ends":
                return self._leaves_others(alert, len(placed.alerts))
            case _:
                return True

    def _joins(self, alert: AlertReading, placing: Placing) -> bool:
        """Whether it is one more member of what is there, and known to have come back or never to
        have been there."""
        batch, before = self._batch, self._batch.episodes.get(alert.key)
        if before is not None and (
            before.incident_id is None or before.state == AlertEpisode.State.FIRING
        ):
            return False
        current = batch.incident_of_group(placing.group_key)
        if current is None:
            current = self._storm
        elif not current.is_open or not takes(current, before, batch, self._rules):
            return False
        return current is not None and self._is_looked_into(current, alert)

    def _is_looked_into(self, incident: Incident, alert: AlertReading) -> bool:
        """Whether it has an investigation that neither begins anew nor sooner for this alert."""
        session = self._batch.sessions.get(incident.pk)
        if session is None or session.status == AlertSession.Status.CANCELLED:
            return False
        is_urgent = (
            alert.severity in self._rules.no_wait or incident.severity in self._rules.no_wait
        )
        return session.not_before is None or not is_urgent

    def _leaves_others(self, alert: AlertReading, most: int) -> bool:
        """Whether its incident has members that fire on, however many of these alerts are over.

        Not after others have joined: an investigation that waits is named as it is when one joins.
        """
        episode = self._batch.episodes[alert.key]
        incident = self._batch.incidents.get(episode.incident_id) if episode.incident_id else None
        if incident is None:
            return True
        return incident.firing_count > most and incident.pk not in self._batch.gained

    @cached_property
    def _storm(self) -> Incident | None:
        """The storm that alerts without an incident join; looked for once, when one needs it."""
        most = self._rules.storm_after
        storm = None if most is None else find_settled_storm(self._batch, most)
        if storm is not None:
            self._batch.incidents[storm.pk] = storm
        return storm


def _tell(post: Sequence[Taken], found: dict[uuid.UUID, Investigation]) -> Iterator[Taken]:
    """Investigations are told of to those that join them, and not to what is told again."""
    has_joined = any(each.kind == Delivery.Outcome.JOINED for each in post)
    return (tell_outcome(each, found if has_joined else {}) for each in post)
