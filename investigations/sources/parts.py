"""A document of nobody's form, or an object in it, with its fields by their folded names."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from investigations.sources.fields import read_text
from investigations.sources.reading import JSON
from investigations.sources.telling import fold

MOST_FIELDS = 500
"""Of one object that are looked at."""


@dataclass(frozen=True)
class Part:
    """A document, or an object in it that may be what it is about, with its name."""

    fields: Mapping[str, JSON]
    """By folded names; of two that fold alike, the first."""
    name: str = ""
    written: Mapping[str, str] = field(default_factory=dict)
    """The folded names as they are written."""
    is_beside: bool = False
    """Whether the document tells itself what it is about, so that this may be of another thing: it
    says at most that the alert fires."""

    def path_of(self, folded: str) -> str:
        name = self.written.get(folded, folded)
        return f"{self.name}.{name}" if self.name else name


def make_part(body: Mapping[str, JSON], name: str = "") -> Part:
    folded: dict[str, JSON] = {}
    written: dict[str, str] = {}
    for own, value in islice(body.items(), MOST_FIELDS):
        if (short := fold(own)) not in folded:
            folded[short], written[short] = value, own
    return Part(folded, name, written)


def find_field(names: Iterable[str], *parts: Part) -> str:
    """The first of these fields that says anything, however its name is written."""
    for part in parts:
        for name in names:
            if text := read_text(part.fields.get(name)):
                return text
    return ""


def objects_in(part: Part) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The objects in a part that hold anything, by their folded names."""
    for name, value in part.fields.items():
        if isinstance(value, dict) and value:
            yield name, value
