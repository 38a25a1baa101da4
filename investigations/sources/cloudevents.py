"""CloudEvents 1.0 in their three modes: binary (headers), structured, and a batch."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping

from investigations.sources.facts import facts_of_leaves
from investigations.sources.fields import Moment, Part, Text, as_object, read_text, split_members
from investigations.sources.inner_json import read_inner
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Post,
    Reading,
    all_of,
    make_alert,
    name_and_told,
)
from investigations.sources.signs import Source
from investigations.sources.states import names_state, state_of
from investigations.sources.telling import titles_of_document, walk

_STATES = ("state", "status", "alert_state")
_IDENTITIES = (
    "alertid", "alertkey", "dedupkey", "dedupekey", "fingerprint", "incidentid",
)  # fmt: skip
"""Extensions, or members of the data, that name the alert and not the event."""
_NAMES = ("alertname", "rule", "rulename", "check", "reason", "name")
_VERSION = re.compile(r"v?\d{1,4}", re.ASCII | re.IGNORECASE)


class Event(Part):
    id: Text = ""
    source: Text = ""
    type: Text = ""
    subject: Text = ""
    time: Moment = None
    severity: Text = ""
    state: Text = ""


def read(post: Post) -> Reading:
    if isinstance(post.body, list):
        members, bad, left_out = split_members(post.body, "")
        return Reading(
            "cloudevents", tuple(map(_read_event, members)), unreadable=bad, left_out=left_out
        )
    body = _event_of(post)
    event = Event.model_validate(body)
    return Reading("cloudevents", (_read_event(body),), delivery_id=f"{event.source} {event.id}")


def unwrap(post: Post) -> Post | None:
    """The data of an event, for the sources that post by this protocol."""
    if isinstance(post.body, list):
        return None
    data = _data_of(_event_of(post))
    return Post(data, {}) if isinstance(data, dict | list) else None


def _event_of(post: Post) -> dict[str, JSON]:
    """A structured event; one in binary mode is put into the same form."""
    if "ce-id" not in post.headers or "ce-specversion" not in post.headers:
        return as_object(post.body)
    attributes: dict[str, JSON] = {
        name.removeprefix("ce-"): value
        for name, value in post.headers.items()
        if name.startswith("ce-")
    }
    return {**attributes, "data": post.body}


def _data_of(body: Mapping[str, JSON]) -> JSON:
    data = body.get("data")
    encoded = body.get("data_base64")
    if data is None and isinstance(encoded, str):
        try:
            data = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return None
    return (read_inner(data) or data) if isinstance(data, str) else data


def _read_event(body: dict[str, JSON]) -> AlertReading:
    event, data = Event.model_validate(body), _data_of(body)
    told = as_object(data)
    words = [event.state, *(read_text(told.get(name)) for name in _STATES)]
    # A type such as `com.example.alert.resolved.v1` says it in one of its parts.
    words += reversed(_parts_of(event.type))
    state = state_of(*words)
    named = {"source": event.source, "type": event.type, "subject": event.subject}
    return make_alert(
        state,
        key=all_of(event.source, event.id),
        titles=(
            name_and_told(read_text(told.get("reason")), _told(data)),
            event.subject,
            event.type,
        ),
        severity=event.severity
        or read_text(told.get("severity"))
        or facts_of_leaves(walk(data)).severity,
        service=event.subject,
        labels=named,
        starts_at=event.time if state == "firing" else None,
        ends_at=event.time if state == "resolved" else None,
        body=body,
        tells_end=any(map(names_state, words)),
        about=_about(event, body, told),
    )


def _about(event: Event, body: Mapping[str, JSON], told: Mapping[str, JSON]) -> str:
    """What stays while ids change: what names the alert, else the subject, the type without its
    state, and what the data call it. An event without a subject may be about anything."""
    if identity := _find(_IDENTITIES, body, told):
        return f"{event.source} {identity}"
    if not event.subject:
        return ""
    parts = _parts_of(event.type)
    family = [each for each in parts if not names_state(each) and not _VERSION.fullmatch(each)]
    return f"{event.source} {event.subject} {'.'.join(family)} {_find(_NAMES, told)}"


def _find(names: Iterable[str], *places: Mapping[str, JSON]) -> str:
    """The first of these members that says anything, however its name is written."""
    for place in places:
        plain = {re.sub(r"[_-]", "", name).lower(): value for name, value in place.items()}
        for name in names:
            if text := read_text(plain.get(name)):
                return text
    return ""


def _parts_of(kind: str) -> list[str]:
    return re.split(r"[._/-]", kind)


def _told(data: JSON) -> str:
    if isinstance(data, str):
        return data
    return next(titles_of_document(data), "") if isinstance(data, dict) else ""


SOURCE = Source(
    name="cloudevents",
    label="CloudEvents",
    signs=(
        ("header:ce-id", "header:ce-specversion"),
        ("specversion", "id", "source", "type"),
        ("[].specversion", "[].id", "[].source"),
    ),
    expects="a CloudEvent with `specversion`, `id`, `source` and `type`, or the headers ce-*",
    read=read,
)
