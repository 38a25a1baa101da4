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
        self._wire: Mapping[str, str] = {
            name: spec.wire_name for spec in specs for name in (spec.name, spec.wire_name)
        }

    def find(self, written: str) -> str | None:
        """The name to call it by; None for a tool that was not offered."""
        return self._wire.get(bare_name(written))


def bare_name(written: str) -> str:
    """The name without what model families put around it: `functions.NAME:0`."""
    return _COUNTER.sub("", _PREFIX.sub("", written.strip()))
