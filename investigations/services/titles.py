"""A short title for people, made of what the alert says about itself."""

import json
from collections.abc import Iterator, Mapping

LONGEST = 300
_NAMES = ("title", "alertname", "alert_name", "summary", "subject", "name", "message",
          "description", "reason")  # fmt: skip
_PLACES = ("", "annotations", "labels", "commonAnnotations", "commonLabels", "alert", "event",
           "incident", "payload", "essentials", "data")  # fmt: skip


def title_of(alert_data: str) -> str:
    """The alert's own title, name or summary, else its first line; one line of at most 300."""
    return _shorten(_own_title(alert_data) or _first_line(alert_data))


def _own_title(alert_data: str) -> str:
    if alert_data.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        value = json.loads(alert_data)
    except (ValueError, RecursionError):
        return ""
    return next(_titles(value), "")


def _titles(value: object) -> Iterator[str]:
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, Mapping):
        if isinstance(value, str) and value.strip():
            yield value
        return
    for place in _PLACES:
        inside = value.get(place) if place else value
        if not isinstance(inside, Mapping):
            continue
        for name in _NAMES:
            text = inside.get(name)
            if isinstance(text, str) and text.strip():
                yield text
    # Alertmanager and its like send a list of alerts.
    if isinstance(value.get("alerts"), list):
        yield from _titles(value["alerts"])


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
