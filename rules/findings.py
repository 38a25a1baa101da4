"""What rules find: frozen, with all that a report or a later agent needs of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agents.types import JSON

Role = Literal["cause", "symptom", "note"]
Sureness = Literal["certain", "likely", "possible"]
Severity = Literal["critical", "warning", "info"]

SURENESS: tuple[Sureness, ...] = ("possible", "likely", "certain")


@dataclass(frozen=True)
class Cited:
    """A call and the words of its result that a finding rests on; without words, all of it."""

    number: int
    quote: str = ""


@dataclass(frozen=True)
class Repair:
    """A call that would mend what a rule found. `arguments` are JSON, `does` is Markdown."""

    server: str
    tool: str
    arguments: str
    does: str


@dataclass(frozen=True)
class Finding:
    """Something that a rule found. Texts are Markdown."""

    rule: str
    """`pack.rule`."""
    says: str
    entity: str
    """`kind:name`."""
    role: Role
    severity: Severity
    sure: Sureness
    since: datetime | None = None
    cites: tuple[Cited, ...] = ()
    doubts: tuple[str, ...] = ()
    rules_out: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    tells_more: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    """What depends on the thing at which it is found."""
    explains: frozenset[str] = frozenset()
    """Rules, as `pack.rule`."""
    group: str = ""
    others: tuple[str, ...] = ()
    """More things of which the same was found."""
    repair: Repair | None = None
    """What would mend it."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The higher, the more it counts."""
        severities = ("info", "warning", "critical")
        roles = ("note", "symptom", "cause")
        return (
            SURENESS.index(self.sure), roles.index(self.role), severities.index(self.severity)
        )  # fmt: skip

    def to_json(self) -> dict[str, JSON]:
        """What later agents and the page read."""
        return {
            "rule": self.rule,
            "says": self.says,
            "entity": self.entity,
            "role": self.role,
            "severity": self.severity,
            "sure": self.sure,
            "since": self.since.isoformat() if self.since else None,
            "calls": [each.number for each in self.cites],
            "others": list(self.others),
        }


@dataclass(frozen=True)
class Noise:
    """A finding that somebody knows and has taken out."""

    finding: Finding
    author: str
    reason: str
    until: datetime
