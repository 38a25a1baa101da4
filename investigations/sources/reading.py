"""The one form that every post of every source is read into."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Literal

from investigations.sources.severity import Severity, normalise
from masking.visible_text import clean_line

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
State = Literal["firing", "resolved", "acknowledged", "test", "other"]

MOST_ALERTS = 5_000
"""Of one post; what stands behind them is left out, and that is said."""
MOST_LABELS = 100
"""Of one alert."""
TITLE_LIMIT = 300
_WORD_LIMIT = 500
REASONS: Mapping[State, str] = {
    "acknowledged": "acknowledgement",
    "test": "test notification",
    "other": "no new alert",
}
_KEY_LIMIT = 400
_SERVICES = ("service", "service_name", "service.name", "app", "job")
_CLUSTERS = ("cluster", "cluster_name", "kube_cluster_name", "k8s.cluster.name")
_NAMESPACES = ("namespace", "kube_namespace", "namespace_name", "k8s.namespace.name")
"""Labels that say where an alert is, the most telling first; those with dots are OpenTelemetry's.
"""


@dataclass(frozen=True)
class Post:
    """What was posted: headers by their names in lower case, and the body as JSON."""

    body: JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Links:
    """Addresses as they were sent; nobody has asked them."""

    alert: str = ""
    dashboard: str = ""
    runbook: str = ""


@dataclass(frozen=True)
class AlertReading:
    """One alert of a post.

    `key` is the same for every post about this alert: the source's own where it has one, else made
    of labels that do not change. Where the source numbers each of its posts, `about` is what stays
    from one to the next, and the number of the first one is the key. With `starts_at` it names the
    episode: when it began to fire this time, not when it first did. `reason` says why a state is
    neither firing nor resolved. `severity_word` is what the source called it. `body` is the
    part of the post that belongs to this alert, as it was sent.
    """

    state: State
    key: str
    title: str
    reason: str = ""
    severity: Severity = "unknown"
    severity_word: str = ""
    service: str = ""
    cluster: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    links: Links = Links()
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    body: JSON = None
    left_out: str = ""
    tells_end: bool = True
    """Whether its source ever says that such an alert is over."""
    about: str = ""
    key_from: tuple[str, ...] = ()
    """The fields of the post that the key is made of, where no form says which they are."""


@dataclass(frozen=True)
class Unreadable:
    """A member of a post that is no alert: where it stands, and what is wrong with it."""

    place: str
    reason: str


@dataclass(frozen=True)
class Reading:
    """What a post says. `notice` says why one without alerts has none, and what is to be done."""

    source: str
    alerts: tuple[AlertReading, ...] = ()
    group_key: str = ""
    delivery_id: str = ""
    notice: str = ""
    unreadable: tuple[Unreadable, ...] = ()
    left_out: tuple[str, ...] = ()


def make_alert(
    state: State,
    *,
    key: str,
    titles: Iterable[str],
    body: JSON,
    reason: str = "",
    severity: str = "",
    severities: Mapping[str, Severity] | None = None,
    labels: Mapping[str, str] | None = None,
    links: Links | None = None,
    service: str = "",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    tells_end: bool = True,
    about: str = "",
) -> AlertReading:
    """An alert within bounds, called by the first of `titles` that says anything; without a key the
    whole body is one. `severities` are words to which this source gives a meaning of its own."""
    all_labels = {name: value for name, value in (labels or {}).items() if value}
    return AlertReading(
        state=state,
        key=bound_key(key) or key_of_document(body),
        title=next((line for each in titles if (line := telling_line(each))), ""),
        reason=reason or REASONS.get(state, ""),
        severity=normalise(severity, severities or {}),
        severity_word=clean_line(severity[:_WORD_LIMIT], 100),
        service=clean_line(service or _first(all_labels, *_SERVICES), 200),
        cluster=clean_line(_first(all_labels, *_CLUSTERS), 200),
        namespace=clean_line(_first(all_labels, *_NAMESPACES), 200),
        labels=_bound_labels(all_labels),
        links=links or Links(),
        starts_at=starts_at,
        ends_at=ends_at,
        body=body,
        left_out=_tell_dropped(len(all_labels)),
        tells_end=tells_end,
        about=bound_key(about),
    )


def _bound_labels(labels: Mapping[str, str]) -> dict[str, str]:
    return {_word(name): _word(value) for name, value in islice(labels.items(), MOST_LABELS)}


def _tell_dropped(labels: int) -> str:
    return f"{labels - MOST_LABELS:,} of {labels:,} labels" if labels > MOST_LABELS else ""


def telling_line(text: str) -> str:
    """A text as one line of a title; empty where it holds neither a letter nor a figure."""
    line = clean_line(text[: 4 * TITLE_LIMIT], TITLE_LIMIT)
    return line if any(character.isalnum() for character in line) else ""


def name_and_told(name: str, told: str) -> str:
    """`name: what it tells`; what it tells alone where the name stands in it. Of what is told, the
    first line."""
    line = next((each for each in told.strip().splitlines() if each.strip()), "").strip()
    if not name or not line:
        return name or line
    return line if _holds_words(line, name) else f"{name}: {line}"


def _holds_words(line: str, words: str) -> bool:
    """Whether they stand in a line as they are, and not within other words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", line, re.IGNORECASE) is not None


def bound_key(key: str) -> str:
    """A key as one line; a longer one is told by its hash."""
    line = " ".join(key.encode("utf-8", "replace").decode().replace("\x00", " ").split())
    if len(line) <= _KEY_LIMIT:
        return line
    return f"sha256:{hashlib.sha256(line.encode()).hexdigest()}"


def all_of(*parts: str) -> str:
    """A key made of all its parts; none where one of them is missing."""
    return " ".join(parts) if all(parts) else ""


def key_of_labels(labels: Mapping[str, str]) -> str:
    """`name=value` of every label in order of name; an empty label is none."""
    filled = sorted((name, value) for name, value in labels.items() if value)
    return " ".join(f"{quote(name)}={quote(value)}" for name, value in filled)


def key_of_document(value: object) -> str:
    """A hash of everything, for what has no key of its own: the same post has the same key."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def is_over(ends_at: datetime | None, now: datetime | None = None) -> bool:
    """Whether an end lies behind us; an alert without an end is not over."""
    return ends_at is not None and ends_at <= (now or datetime.now(UTC))


def settle(reading: Reading) -> Reading:
    """A reading within bounds, with one entry for each key: of what a post says about the same
    alert, that holds which happened last, as far as moments tell, and else what stands later."""
    last: dict[str, AlertReading] = {}
    for alert in reading.alerts:
        identity = alert.about or alert.key
        before = last.get(identity)
        last[identity] = alert if before is None else _later_of(before, alert)
    left_out = reading.left_out
    if len(last) < len(reading.alerts):
        repeats, entries = len(reading.alerts) - len(last), len(reading.alerts)
        told = f"{repeats:,} of {entries:,} entries: a later one is about the same alert"
        left_out = (*left_out, told)
    return replace(
        reading,
        alerts=tuple(last.values()),
        group_key=bound_key(reading.group_key),
        delivery_id=bound_key(reading.delivery_id),
        left_out=left_out,
    )


def _later_of(first: AlertReading, second: AlertReading) -> AlertReading:
    """Of two entries about the same alert, the one that happened last; else the second one."""
    before, after = _happened(first), _happened(second)
    return first if before is not None and after is not None and before > after else second


def _happened(alert: AlertReading) -> tuple[datetime, bool] | None:
    """When it began or ended; of what began and ended at the same moment, the end is last."""
    is_end = alert.state == "resolved"
    moment = (alert.ends_at or alert.starts_at) if is_end else alert.starts_at
    return (moment, is_end) if moment else None


def _first(labels: Mapping[str, str], *names: str) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _word(text: str) -> str:
    return clean_line(text[: 2 * _WORD_LIMIT], _WORD_LIMIT)


def quote(word: str) -> str:
    """Different words stay different, also where blanks are folded or cannot be seen."""
    if word.isprintable() and not any(sign in word for sign in ' "='):
        return word
    shown = json.dumps(word, ensure_ascii=False)
    seen = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in shown)
    return seen.replace("  ", " \\u0020")
