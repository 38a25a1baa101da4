"""What becomes of a post of an alert source: the one place where that is decided."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from config import get_config
from config.words import list_names
from investigations.models import AlertSession
from investigations.services.intake import (
    DATA_LIMIT,
    FIELDS,
    alert_of_source,
    choose_chain,
    submit_alert,
)
from investigations.sources.facts import facts_of_alerts
from investigations.sources.reading import JSON, AlertReading, Post, Reading
from investigations.sources.registry import SOURCES, read_post, read_post_of, recognise
from investigations.sources.severity import heaviest
from masking.visible_text import clean_line
from tarsy.errors import InvalidInput

BODY = "body"
MOST_BODIES = 50
"""Of the alerts of one post that an investigation is given whole; the others are counted."""
_MOST_NAMED = 20
_TITLE_ROOM = 280
_BODY_BYTES = DATA_LIMIT - 64 * 1024
"""For the bodies; the rest is for what stands around them."""


@dataclass(frozen=True)
class AlertOutcome:
    """What was done about one alert: `started`, `resolved`, or `ignored: REASON`."""

    alert: AlertReading
    outcome: str


@dataclass(frozen=True)
class Outcome:
    """What was done about a post, and the session that it started, if any."""

    reading: Reading
    alerts: tuple[AlertOutcome, ...]
    session: AlertSession | None = None

    @property
    def message(self) -> str:
        """One sentence for whoever reads the sender's log."""
        if self.session:
            firing = sum(each.outcome == "started" for each in self.alerts)
            of_all = f"{firing:,} of " if firing < len(self.alerts) else ""
            return f"An investigation of {of_all}{_count(len(self.alerts))} is queued"
        if self.reading.notice:
            return f"Nothing is investigated: {self.reading.notice}"
        told = dict.fromkeys(each.outcome for each in self.alerts)
        return f"Nothing is investigated: {list_names(list(told)[:5])}"


def read_delivery(post: Post, source: str = "") -> Reading:
    """A post to the address of a source, or without one to the address that recognises them.

    Raises NotFound for a source that nobody knows, and InvalidInput for what holds no alert.
    """
    if not source:
        return read_post(post)
    return read_post_of(source, post, get_config().alert_sources)


def take_delivery(reading: Reading, *, author: str, alert_type: str = "") -> Outcome:
    """Start one investigation of all alerts of a post that fire; the others start none.

    Raises InvalidInput where no member of the post can be read, and QueueFull.
    """
    if not reading.alerts and reading.unreadable:
        first = reading.unreadable[0]
        raise InvalidInput(first.place, first.reason)
    # Also where nothing fires, or the first alert that does would be the one to be refused.
    chosen = choose_chain(alert_type or _alert_type_of(reading.source))
    outcomes = tuple(AlertOutcome(alert, _judge(alert)) for alert in reading.alerts)
    firing = [each.alert for each in outcomes if each.outcome == "started"]
    if not firing:
        return Outcome(reading, outcomes)
    alert = alert_of_source(
        _describe(reading, firing),
        chosen=chosen,
        title=_title_of(firing),
        facts=facts_of_alerts(reading.source, firing),
    )
    return Outcome(reading, outcomes, submit_alert(alert, author=author))


def refuse_native(body: JSON, headers: Mapping[str, str]) -> None:
    """Raises InvalidInput for a post of a known source that was sent to the intake of alerts, with
    the address that reads it. Half of its fields would look like ours and mean something else."""
    if isinstance(body, dict) and body.get("data") is not None and set(body) <= set(FIELDS):
        return
    if source := recognise(Post(body, headers)).source:
        address = f"/api/v1/webhooks/{source.name}"
        raise InvalidInput(BODY, f"is a post of {source.label}: send it to {address}")


def _judge(alert: AlertReading) -> str:
    if alert.state == "firing":
        return "started"
    return "resolved" if alert.state == "resolved" else f"ignored: {alert.reason}"


def _alert_type_of(source: str) -> str:
    own = get_config().alert_sources.get(source)
    return own.alert_type if own else ""


def _title_of(firing: Sequence[AlertReading]) -> str:
    first = next((each.title for each in firing if each.title), firing[0].key)
    if len(firing) == 1:
        return first
    return f"{clean_line(first, _TITLE_ROOM)} and {len(firing) - 1:,} more"


def _describe(reading: Reading, firing: Sequence[AlertReading]) -> dict[str, object]:
    """What the agents are given: the alerts as they were sent, and what is not among them."""
    bodies, left_out = _choose_bodies(firing)
    source = SOURCES.get(reading.source)
    over = [each for each in reading.alerts if each.state == "resolved"]
    described: dict[str, object] = {
        "title": _title_of(firing),
        "source": source.label if source else reading.source,
        "severity": heaviest([each.severity for each in firing]),
        "group": reading.group_key,
        "alerts": bodies,
        "over_already": [f"{each.title} ({each.key})" for each in over[:_MOST_NAMED]],
        "left_out": [*reading.left_out, *left_out],
    }
    return {name: value for name, value in described.items() if value}


def _choose_bodies(firing: Sequence[AlertReading]) -> tuple[list[JSON], list[str]]:
    bodies: list[JSON] = []
    size = 0
    for each in firing[:MOST_BODIES]:
        text = json.dumps(each.body, ensure_ascii=False, separators=(",", ":"))
        size += len(text.encode())
        if size > _BODY_BYTES:
            break
        bodies.append(each.body)
    if not bodies:
        text = json.dumps(firing[0].body, ensure_ascii=False)
        return [text.encode()[: _BODY_BYTES // 2].decode(errors="ignore")], ["the end of the post"]
    more = len(firing) - len(bodies)
    return bodies, [f"{more:,} of {len(firing):,} alerts that fire"] if more else []


def _count(number: int) -> str:
    return "1 alert" if number == 1 else f"{number:,} alerts"
