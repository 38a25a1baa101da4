"""What an alert tells of where it hurts and how much: what people look for in a list."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from investigations.sources.fields import read_url
from investigations.sources.reading import AlertReading, Links
from investigations.sources.severity import heaviest, normalise
from investigations.sources.telling import Leaf, fold
from masking.visible_text import clean_line

LONGEST = 200
_MOST_PAGES = 50
_MOST_IDS = 50
"""Of a document that are looked at for the page of the alert."""
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
        "href",
    ),
    "dashboard": ("dashboardurl", "dashboard", "panelurl"),
    "runbook": ("runbookurl", "runbook"),
}
"""How fields are called, without case and punctuation, the most telling first."""
_OBJECTS = ("service", "cluster", "severity", "priority")
_NO_PAGE = (
    r"(?!\w*(?:image|icon|logo|avatar|unsubscribe|silence|ack|api|hook|runbook|rca|screenshot"
    r"|download|edit|self))"
)
_PAGE = re.compile(_NO_PAGE + r"\w*(?:link|url|href|permalink)\w*")
_OF_ALERT = re.compile(r"(?:alert|alarm|incident|issue|problem|event)\w*(?:url|link)")
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


def facts_of_leaves(leaves: Iterable[Leaf], *, ids: Sequence[str] = ()) -> AlertFacts:
    """Of a document of no known source, by the names of its fields, those near its top first. An
    address that holds one of its `ids` is the page of the alert, whatever it is called."""
    named: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        named.setdefault(leaf.folded, []).append(leaf)
        # What is told as an object has a name.
        if leaf.folded == "name" and (owner := fold(leaf.parent)) in _OBJECTS:
            named.setdefault(owner, []).append(leaf)
    return AlertFacts(
        severity=_find(named, "severity", _as_severity),
        service=_find(named, "service", _as_line),
        cluster=_find(named, "cluster", _as_line),
        links=Links(
            alert=_find_page(named, ids)
            or _find(named, "alert", read_url)
            or _find_other_link(named),
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


def _find_page(named: Mapping[str, Sequence[Leaf]], ids: Sequence[str]) -> str:
    """The address that holds the first of the ids, else one that is called after the alert, else
    one that holds another id."""
    pages = [leaf for name, leaves in named.items() if _PAGE.fullmatch(name) for leaf in leaves]
    known = ids[:_MOST_IDS]
    found: list[tuple[bool, bool, int, int, str]] = []
    for leaf in pages[:_MOST_PAGES]:
        url = read_url(leaf.text)
        held = _parts_of(url).intersection(known) if url else frozenset()
        is_of_alert = _OF_ALERT.match(leaf.folded) is not None or leaf.is_of_alert
        if url and (held or is_of_alert):
            rank = len(_NAMES["alert"])
            if leaf.folded in _NAMES["alert"]:
                rank = _NAMES["alert"].index(leaf.folded)
            found.append((not held.issuperset(known[:1]), not is_of_alert, rank, leaf.depth, url))
    return min(found)[-1] if found else ""


def _parts_of(url: str) -> frozenset[str]:
    """What stands between the signs of an address, behind its host."""
    _, _, path = url.partition("://")
    return frozenset(re.split(r"[/?&=#;:~]", path[:2_000])[1:])


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
