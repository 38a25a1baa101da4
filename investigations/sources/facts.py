"""What an alert tells of where it hurts and how much: what people look for in a list."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from investigations.sources.fields import read_url
from investigations.sources.reading import AlertReading, Links
from investigations.sources.severity import heaviest, normalise
from investigations.sources.telling import Leaf
from masking.visible_text import clean_line

LONGEST = 200
Name = Literal["severity", "service", "cluster", "alert", "dashboard", "runbook"]

_NAMES: Mapping[Name, tuple[str, ...]] = {
    "severity": ("severity", "priority", "urgency", "level"),
    "service": ("service", "servicename", "app", "application", "job"),
    "cluster": ("cluster", "clustername", "kubeclustername", "k8sclustername"),
    "alert": (
        "generatorurl",
        "alerturl",
        "alertlink",
        "incidenturl",
        "eventurl",
        "sourceurl",
        "htmlurl",
        "weburl",
        "permalink",
        "url",
        "link",
    ),
    "dashboard": ("dashboardurl", "dashboard", "panelurl"),
    "runbook": ("runbookurl", "runbook"),
}
"""How fields are called, without case and punctuation, the most telling first."""
_OTHER_LINK = re.compile(
    r"(?!\w*(?:image|icon|logo|avatar|unsubscribe|silence|ack|api|hook|runbook|dashboard))"
    r"\w+(?:link|url)"
)
"""Of what is called a link in a way of its own, those that are no picture and no button."""


@dataclass(frozen=True)
class AlertFacts:
    """Each is empty where nobody told it, or where the alerts of a post do not agree."""

    source: str = ""
    severity: str = ""
    service: str = ""
    cluster: str = ""
    links: Links = field(default_factory=Links)


def facts_of_alerts(source: str, alerts: Sequence[AlertReading]) -> AlertFacts:
    """Of alerts that are investigated as one. The severity is that of the heaviest."""
    first = alerts[0].links if alerts else Links()
    return AlertFacts(
        source=source,
        severity=heaviest([each.severity for each in alerts]),
        service=_shared(each.service for each in alerts),
        cluster=_shared(each.cluster for each in alerts),
        links=Links(
            alert=first.alert,
            dashboard=_shared(each.links.dashboard for each in alerts),
            runbook=_shared(each.links.runbook for each in alerts),
        ),
    )


def facts_of_leaves(leaves: Iterable[Leaf]) -> AlertFacts:
    """Of a document of no known source, by the names of its fields, those near its top first."""
    named: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        named.setdefault(leaf.folded, []).append(leaf)
    return AlertFacts(
        severity=_find(named, "severity", _as_severity),
        service=_find(named, "service", _as_line),
        cluster=_find(named, "cluster", _as_line),
        links=Links(
            alert=_find(named, "alert", read_url) or _find_other_link(named),
            dashboard=_find(named, "dashboard", read_url),
            runbook=_find(named, "runbook", read_url),
        ),
    )


def _find(named: Mapping[str, Sequence[Leaf]], wanted: Name, read: Callable[[str], str]) -> str:
    ranked = [
        (leaf.depth, not leaf.is_of_alert, rank, leaf.text)
        for rank, name in enumerate(_NAMES[wanted])
        for leaf in named.get(name, ())
    ]
    told = (read(each[-1]) for each in sorted(ranked, key=lambda each: each[:3]))
    return next((each for each in told if each), "")


def _find_other_link(named: Mapping[str, Sequence[Leaf]]) -> str:
    links = [leaf for name in named if _OTHER_LINK.fullmatch(name) for leaf in named[name]]
    told = (read_url(leaf.text) for leaf in sorted(links, key=lambda leaf: leaf.depth))
    return next((each for each in told if each), "")


def _as_severity(text: str) -> str:
    word = normalise(text[:LONGEST], {})
    return "" if word == "unknown" else word


def _as_line(text: str) -> str:
    return clean_line(text[: 4 * LONGEST], LONGEST)


def _shared(values: Iterable[str]) -> str:
    """The one value that all have which have any."""
    told = {value for value in values if value}
    return told.pop() if len(told) == 1 else ""
