"""How a configuration is gone over for people: one rule of what may be a secret.

Not said are the fields that the schema keeps out of its own `repr`, and every value and key that
came from the environment.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.types import JSON
from config.schema.fields import Block
from config.tree import Path

_ADDRESS = re.compile(r"(?<![a-z0-9+.-])([a-z0-9+.-]+://)(?:(\S*)@)?([^\s?#]*)\S*", re.IGNORECASE)
_ENDS_HOST = frozenset("/?#\\")


@dataclass(frozen=True)
class ConfigurationWalk(ABC):
    """`hidden` are the places that came from the environment, `unsaid` the word in their stead."""

    hidden: frozenset[Path]
    unsaid: str

    def say(self, value: object, path: Path) -> JSON:
        """A value and all that is in it, which stands at this path of the files."""
        if path in self.hidden:
            return self.unsaid
        if isinstance(value, Block):
            return self.say_block(value, path)
        if isinstance(value, Mapping):
            return {
                self.say_key(name, path): self.say(each, (*path, name))
                for name, each in value.items()
            }
        if isinstance(value, tuple | list):
            return [self.say(each, (*path, place)) for place, each in enumerate(value)]
        return self._say_scalar(value)

    def say_key(self, name: str | int, path: Path) -> str:
        return self.unsaid if (*path, name) in self.hidden else str(name)

    def say_block(self, block: Block, path: Path) -> JSON:
        return {name: self.say_field(block, name, path) for name in type(block).model_fields}

    def say_field(self, block: Block, name: str, path: Path) -> JSON:
        value, here = getattr(block, name), (*path, name)
        is_open = type(block).model_fields[name].repr
        return self.say(value, here) if is_open else self.say_withheld(value, here)

    @abstractmethod
    def say_withheld(self, value: object, path: Path) -> JSON:
        """That something is there which may be a secret."""

    @abstractmethod
    def say_text(self, text: str) -> str:
        """A text, without what may be secret in addresses."""

    def _say_scalar(self, value: object) -> JSON:
        if isinstance(value, timedelta):
            return format_duration(value)
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, str):
            return self.say_text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        raise TypeError(f"nobody said how to show a {type(value).__name__}")


def format_duration(duration: timedelta) -> str:
    """As the files have it: `1h30m`, `500ms`."""
    milliseconds = round(duration.total_seconds() * 1000)
    parts = []
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def cut_addresses(text: str) -> str:
    """A text whose addresses are cut to scheme, host and path.

    A password may hold any sign, so all before the last `@` may be one. Where it may as well be a
    path or a query, the text says that something was left out.
    """
    return _ADDRESS.sub(_cut_address, text)


def _cut_address(address: re.Match[str]) -> str:
    scheme, before, place = address.groups()
    is_plain = before is None or _ENDS_HOST.isdisjoint(before)
    return f"{scheme}{place}" if is_plain else f"{scheme}…@{place}"
