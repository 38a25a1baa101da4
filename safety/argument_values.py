"""The values that a call's arguments come down to, whatever they are packed in."""

from collections.abc import Iterator, Mapping

from agents.types import JSON


def find_leaves(value: JSON | Mapping[str, JSON], key: str = "") -> Iterator[tuple[str, JSON]]:
    """Every value that holds no others, with the name it stands under."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from find_leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from find_leaves(inner, key)
    else:
        yield key, value
