"""Datadog: the body is a template of the user's; where it has no state, the title tells it."""

import re

from pydantic import AliasChoices, Field

from investigations.sources.fields import Labels, Moment, Part, Text, Url, fold_names
from investigations.sources.reading import Links, Post, Reading, State, make_alert
from investigations.sources.signs import Source

_PREFIX = re.compile(r"\[(?P<word>[^\]{}]{1,40}?)(?: on \{(?P<scope>[^}]{0,300})\})?\]\s*")
_PRIORITY = re.compile(r"p[1-5]", re.IGNORECASE)
_STATES: dict[str, State] = {
    "triggered": "firing",
    "re-triggered": "firing",
    "warn": "firing",
    "re-warn": "firing",
    "no data": "firing",
    "re-no data": "firing",
    "renotify": "firing",
    "alert": "firing",
    "test": "test",
}


class Organisation(Part):
    id: Text = ""
    name: Text = ""


class Monitor(Part):
    id: Text = ""


class Meta(Part):
    monitor: Monitor = Monitor()


class Notification(Part):
    id: Text = ""
    alert_id: Text = ""
    alert_cycle_key: Text = ""
    alert_scope: Text = ""
    alert_transition: Text = Field(
        "", validation_alias=AliasChoices("alert_transition", "transition")
    )
    alert_type: Text = ""
    alert_title: Text = ""
    title: Text = ""
    event_title: Text = ""
    body: Text = ""
    priority: Text = ""
    alert_priority: Text = ""
    hostname: Text = ""
    tags: Labels = {}
    date: Moment = None
    link: Url = ""
    snapshot: Url = ""
    org: Organisation = Organisation()
    meta: Meta = Meta()
    """Only in events on a bus."""


def read(post: Post) -> Reading:
    told = Notification.model_validate(fold_names(post.body))
    words, scope, title = _split_title(told.title or told.event_title or told.alert_title)
    words = [told.alert_transition.lower(), *words]
    state = _state_of(words)
    starts = told.date if state == "firing" else None
    alert = make_alert(
        state,
        key=_key_of(told, title, scope),
        titles=(title, told.body.strip("% \n"), told.alert_scope),
        severity=_severity_of(told, words),
        labels={**told.tags, "scope": scope},
        service=told.tags.get("service", "") or told.hostname,
        links=Links(alert=told.link, dashboard=told.snapshot),
        starts_at=starts,
        ends_at=told.date if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="datadog", alerts=(alert,), delivery_id=told.id)


def _state_of(words: list[str]) -> State:
    """A test tells the state of a real one behind its own mark."""
    if "test" in words:
        return "test"
    return next((state for word in words if (state := _state_named(word))), "firing")


def _state_named(word: str) -> State | None:
    """What ends may be a warning or a gap as well: `warn recovered`, `recovered from no data`."""
    return "resolved" if "recovered" in word.split() else _STATES.get(word)


def _key_of(told: Notification, title: str, scope: str) -> str:
    if told.alert_cycle_key:
        return told.alert_cycle_key
    if number := told.alert_id or told.meta.monitor.id:
        return f"{number} {told.alert_scope or scope}"
    return f"{title} {scope} {told.org.id or told.org.name}" if title else ""


def _severity_of(told: Notification, words: list[str]) -> str:
    """The priority of a monitor; that of an event (`normal`) weighs nothing."""
    told_first = (told.alert_priority, told.priority, *words)
    if priority := next((each for each in told_first if _PRIORITY.fullmatch(each)), ""):
        return priority
    is_warning = "warn" in words or "re-warn" in words
    return "warning" if is_warning else told.alert_type or told.priority


def _split_title(title: str) -> tuple[list[str], str, str]:
    """The states in brackets at its head, the scope among them, and what remains."""
    words: list[str] = []
    scope = ""
    while (found := _PREFIX.match(title)) and (
        _state_named(found["word"].lower()) or found["scope"] or _PRIORITY.fullmatch(found["word"])
    ):
        words.append(found["word"].lower())
        scope = found["scope"] or scope
        title = title[found.end() :]
    return words, scope, title


SOURCE = Source(
    name="datadog",
    label="Datadog",
    signs=(
        ("last_updated", "event_type", "title"),
        ("alert_transition", "alert_id"),
        ("alert_transition", "title"),
        ("alert_cycle_key", "title"),
        ("ALERT_TRANSITION", "ALERT_ID"),
        ("ALERT_TRANSITION", "ALERT_TITLE"),
        ("event_type", "alert_type", "meta.monitor"),
    ),
    expects="an object with `title`, as the template of the webhook says",
    read=read,
    is_template=True,
)
