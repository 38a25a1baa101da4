"""Reads JSON objects and the objects of SDKs alike."""

from typing import Any


def look(value: Any, name: str) -> Any:
    """A member of an object; None when it is not there. Raises TypeError for what has none."""
    if type(value) is dict:
        return value.get(name)
    if value is None or isinstance(value, str | bytes | int | float | list):
        raise TypeError(f"an object expected, {type(value).__name__} found")
    return getattr(value, name, None)
