"""What is known of the alert of a session: its weight, what it is about, where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass

from investigations.models import AlertSession
from investigations.sources.facts import AlertFacts
from investigations.sources.fields import read_url
from investigations.sources.reading import Links
from investigations.sources.registry import SOURCES

_LINKS = {"alert": "Alert", "dashboard": "Dashboard", "runbook": "Runbook"}


@dataclass(frozen=True)
class Link:
    """A place outside that the alert names; nobody has asked it."""

    words: str
    address: str


@dataclass(frozen=True)
class ShownFacts:
    """As people read them; each is empty where nobody told it."""

    severity: str = ""
    service: str = ""
    cluster: str = ""
    source: str = ""
    links: tuple[Link, ...] = ()

    @property
    def is_grave(self) -> bool:
        return self.severity in ("critical", "high")

    @property
    def tags(self) -> tuple[str, ...]:
        """Without the severity, which has a look of its own."""
        return tuple(tag for tag in (self.service, self.cluster) if tag)


def label_of_source(name: str) -> str:
    """How people call a source; its name where it is one of an operator's own."""
    known = SOURCES.get(name)
    return known.label if known else name


def read_facts(session: AlertSession) -> ShownFacts:
    """Of one session; it reads its metadata."""
    metadata: Mapping[str, object] = session.session_metadata or {}
    label = label_of_source(session.source)
    return ShownFacts(
        severity="" if session.severity == "unknown" else session.severity,
        service=session.service,
        cluster=session.cluster,
        source=label,
        links=_links_of(metadata.get("links"), _name_alert(session.source)),
    )


def facts_of_session(session: AlertSession) -> AlertFacts:
    """As they were told when its alert came."""
    kept = (session.session_metadata or {}).get("links")
    links = kept if isinstance(kept, Mapping) else {}
    return AlertFacts(
        source=session.source,
        severity=session.severity,
        service=session.service,
        cluster=session.cluster,
        links=Links(**{name: read_url(links.get(name)) for name in _LINKS}),
    )


def _name_alert(source: str) -> str:
    """What the link of an alert opens."""
    known = SOURCES.get(source)
    if known and known.alert_opens:
        return known.alert_opens
    return f"Alert in {label_of_source(source)}" if source else _LINKS["alert"]


def _links_of(kept: object, alert: str) -> tuple[Link, ...]:
    if not isinstance(kept, Mapping):
        return ()
    words = {**_LINKS, "alert": alert}
    found = ((words[name], read_url(kept.get(name))) for name in _LINKS)
    return tuple(Link(name, address) for name, address in found if address)
