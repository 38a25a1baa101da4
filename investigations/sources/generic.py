"""A document of no known source, and one that an operator has mapped in YAML."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import jmespath
from jmespath.exceptions import JMESPathError

from investigations.sources.fields import (
    as_object,
    read_labels,
    read_moment,
    read_text,
    read_texts,
    read_url,
    split_members,
)
from investigations.sources.reading import (
    JSON,
    REASONS,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    Unreadable,
    all_of,
    key_of_document,
    make_alert,
)
from investigations.sources.severity import normalise
from investigations.sources.states import names_state, state_of
from investigations.sources.telling import titles_of_document
from masking.visible_text import clean_line

_STATES = ("status", "state", "alert_status", "alert_state", "current_state", "currentState")
_UNFIT = (JMESPathError, OverflowError)
"""What a mapping raises of a value that it was not written for; the second of huge numbers."""
_SEVERITIES = ("severity", "priority", "level", "urgency")


class Mapped(Protocol):
    """How an operator says where the fields of a source of their own stand: JMESPath each."""

    @property
    def alerts(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def severity(self) -> str | None: ...
    @property
    def state(self) -> str | None: ...
    @property
    def resolved_when(self) -> tuple[str, ...]: ...
    @property
    def key(self) -> str | None: ...
    @property
    def labels(self) -> str | None: ...
    @property
    def link(self) -> str | None: ...
    @property
    def runbook(self) -> str | None: ...
    @property
    def start(self) -> str | None: ...


def read(post: Post) -> Reading:
    """Any object as one alert, a list as one for each object in it."""
    if not isinstance(post.body, list):
        return Reading("generic", (_read_document(as_object(post.body)),))
    members, bad, left_out = split_members(post.body, "")
    alerts = tuple(map(_read_document, members))
    return Reading("generic", alerts, unreadable=bad, left_out=left_out)


def with_what_is_told(alert: AlertReading) -> AlertReading:
    """An alert of a template that tells state and severity in usual fields, not in those of its
    source."""
    body = as_object(alert.body)
    word = _severity_word(body)
    if not alert.severity_word and word:
        alert = replace(alert, severity=normalise(word, {}), severity_word=clean_line(word, 100))
    state = state_of(*_state_words(body))
    if alert.state != "firing" or state == "firing":
        return alert
    return replace(alert, state=state, reason=REASONS.get(state, ""))


def _state_words(body: Mapping[str, JSON]) -> list[str]:
    return [read_text(body.get(name)) for name in _STATES]


def _severity_word(body: Mapping[str, JSON]) -> str:
    words = (read_text(body.get(name)) for name in _SEVERITIES)
    return next((word for word in words if word), "")


def _read_document(body: dict[str, JSON]) -> AlertReading:
    key, told = _open(body)
    state = state_of(*_state_words(told))
    return make_alert(
        state,
        key=key or key_of_document(_without_state(body)),
        titles=titles_of_document(body),
        severity=_severity_word(told),
        labels=read_labels(told.get("labels")),
        tells_end=any(_state_words(told)),
        body=body,
    )


def _open(body: dict[str, JSON]) -> tuple[str, dict[str, JSON]]:
    """The key and the fields of a document; one by the rules of JSON:API has them in its data."""
    data = as_object(body.get("data"))
    fields = data.get("attributes")
    if not isinstance(fields, dict):
        return "", body
    return all_of(read_text(data.get("type")), read_text(data.get("id"))), fields


def _without_state(body: Mapping[str, JSON]) -> dict[str, JSON]:
    """A document that says `firing` and the same one that says `resolved` are about one alert."""
    return {
        name: value
        for name, value in body.items()
        if name not in _STATES or not names_state(read_text(value))
    }


def read_mapped(name: str, mapped: Mapped, post: Post) -> Reading:
    """A post of a source that `alert_sources` describes."""
    try:
        found = _find(mapped.alerts, post.body) if mapped.alerts else post.body
    except _UNFIT as error:
        return Reading(name, unreadable=(_tell_unfit("alerts", error),))
    members, bad, left_out = split_members(found if isinstance(found, list) else [found], "alerts")
    alerts: list[AlertReading] = []
    wrong = list(bad)
    for number, member in enumerate(members):
        try:
            alerts.append(_read_mapped_member(mapped, member))
        except _UNFIT as error:
            wrong.append(_tell_unfit(f"alerts[{number}]", error))
    return Reading(name, tuple(alerts), unreadable=tuple(wrong), left_out=left_out)


def _tell_unfit(place: str, error: Exception) -> Unreadable:
    told = str(error).splitlines()[0][:200]
    return Unreadable(place, f"a mapping does not fit: {told}")


def _read_mapped_member(mapped: Mapped, body: dict[str, JSON]) -> AlertReading:
    state = _state_of_mapped(mapped, read_text(_find(mapped.state, body)).lower())
    titles = (*read_texts(_text_or_texts(_find(mapped.title, body))), *titles_of_document(body))
    key = read_texts(_text_or_texts(_find(mapped.key, body)))
    return make_alert(
        state,
        key=" ".join(key),
        titles=titles,
        severity=read_text(_find(mapped.severity, body)),
        labels=read_labels(_find(mapped.labels, body)),
        links=Links(
            alert=read_url(_find(mapped.link, body)), runbook=read_url(_find(mapped.runbook, body))
        ),
        starts_at=read_moment(_find(mapped.start, body)),
        tells_end=mapped.state is not None,
        body=body,
    )


def _state_of_mapped(mapped: Mapped, word: str) -> State:
    if not mapped.resolved_when:
        return state_of(word)
    if word in {each.strip().lower() for each in mapped.resolved_when}:
        return "resolved"
    state = state_of(word)
    return "firing" if state == "resolved" else state


def _find(expression: str | None, body: JSON) -> object:
    return jmespath.search(expression, body) if expression else None


def _text_or_texts(value: object) -> object:
    """A number is a fine key, too."""
    return value if isinstance(value, list) else read_text(value)


def holds_anything(body: JSON) -> bool:
    """Whether there is an object with a field in it, alone or in a list."""
    if isinstance(body, list):
        return any(isinstance(each, Mapping) and each for each in body)
    return isinstance(body, Mapping) and bool(body)
