"""Finds the offered tool that a model means."""

import re
from collections.abc import Iterable, Mapping

from agents.types import ToolSpec

_PREFIX = re.compile(r"^(?:functions?|default_api|tools?)[.:]")
_COUNTER = re.compile(r":\d{1,4}$")
TOOL_NAME = re.compile(r"[A-Za-z_][\w.:/-]{0,127}")


class OfferedNames:
    """The names under which tools can be called, ours and those that models get."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs: Mapping[str, ToolSpec] = {
            name: spec for spec in specs for name in (spec.name, spec.wire_name)
        }

    def find(self, written: str) -> str | None:
        """The name to call it by; None for a tool that was not offered."""
        spec = self._specs.get(bare_name(written))
        return spec.wire_name if spec else None

    def takes_text(self, written: str, member: str) -> bool:
        """Whether a tool's schema says that a member is a text: `1.10` is no number there."""
        spec = self._specs.get(bare_name(written))
        members = spec.input_schema.get("properties") if spec else None
        said = members.get(member) if isinstance(members, dict) else None
        return isinstance(said, dict) and said.get("type") == "string"


def bare_name(written: str) -> str:
    """The name without what model families put around it: `functions.NAME:0`."""
    return _COUNTER.sub("", _PREFIX.sub("", written.strip()))
