"""JSON read through attributes, for code that reads the objects of SDKs as well."""

from collections.abc import Mapping
from typing import Any


class LooseObject:
    """A JSON object whose members are attributes; one that is not there is None."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def __getattr__(self, name: str) -> Any:
        return loosen(self._members.get(name))


def loosen(value: object) -> Any:
    """The same value with every object in it readable through attributes."""
    if isinstance(value, dict):
        return LooseObject(value)
    if isinstance(value, list):
        return [loosen(item) for item in value]
    return value
