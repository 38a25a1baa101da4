"""One change, whoever keeps a record of it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ops.envelope import Json

ChangeKind = Literal[
    "release", "file", "certificate", "package", "unit", "service", "container", "image", "boot"
]


@dataclass(frozen=True)
class Change:
    """Something that is another since a moment. `source` is who says so."""

    at: datetime
    kind: ChangeKind
    object: str
    what: str
    source: str
    service: str = ""

    def to_json(self, around: datetime | None) -> dict[str, Json]:
        row: dict[str, Json] = {
            "at": self.at.isoformat(timespec="seconds"),
            "kind": self.kind,
            "object": self.object,
            "what": self.what,
            "service": self.service or None,
            "source": self.source,
        }
        if around is not None:
            row["seconds_before"] = round((around - self.at).total_seconds())
        return row


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
