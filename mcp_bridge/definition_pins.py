"""Remembers what a server's tools were when an execution first saw them, and refuses changed ones.

A tool's description is what made it look harmless to whoever allowed it. One that says something
else in the middle of an investigation is not the tool that was offered.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Literal

from mcp_types import Tool

from masking.visible_text import clean_line

logger = logging.getLogger(__name__)

Fault = Literal["changed", "removed", "too_many"]

MOST_PINNED = 20_000
"""Tools of one server that are remembered: twenty lists with nothing in common."""
_NAMED = 5


class DefinitionPins:
    """The definitions of one server's tools, by hash, for one execution.

    None is ever forgotten, or a tool could change while others are shown in its place. So there is
    an end to it: tools that are first seen once `most` are remembered stay disabled.
    """

    def __init__(self, server_id: str, *, most: int = MOST_PINNED) -> None:
        self._server_id = server_id
        self._most = most
        self._pinned: dict[str, str] = {}
        self._changed: set[str] = set()
        self._missing: set[str] = set()

    def compare(self, tools: Sequence[Tool]) -> None:
        """Pin each tool as it is first seen; judge every later listing by that.

        A tool that changed stays disabled, even if it changes back; one that vanished may return.
        """
        # Of two tools with one name the first counts, here as in the catalogue.
        current: dict[str, str] = {}
        for tool in tools:
            current.setdefault(tool.name, fingerprint(tool))
        changed = {
            name
            for name, pinned in self._pinned.items()
            if name in current and current[name] != pinned
        }
        missing = self._pinned.keys() - current.keys()
        self._warn(sorted((changed - self._changed) | (missing - self._missing)))
        self._changed |= changed
        self._missing = set(missing)
        fresh = [each for each in current.items() if each[0] not in self._pinned]
        room = max(0, self._most - len(self._pinned))
        self._pinned.update(fresh[:room])
        if len(fresh) > room:
            logger.warning(
                "tool server %s has shown more than %s tools; %s that are new are disabled",
                self._server_id, self._most, len(fresh) - room,
            )  # fmt: skip

    def _warn(self, names: Sequence[str]) -> None:
        if not names:
            return
        shown = ", ".join(clean_line(name, 80) for name in names[:_NAMED])
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        which = f"tool {shown}; it is" if len(names) == 1 else f"tools {shown}{more}; they are"
        logger.warning("tool server %s changed or removed its %s disabled", self._server_id, which)

    @property
    def gone(self) -> int:
        """How many tools the server listed before and does not list now."""
        return len(self._missing)

    def find_fault(self, name: str) -> Fault | None:
        """Why a tool is disabled, or None while it is what it was."""
        if name in self._changed:
            return "changed"
        if name in self._missing:
            return "removed"
        # Nobody can tell whether it is what it was when it was first seen.
        is_full = len(self._pinned) >= self._most
        return "too_many" if is_full and name not in self._pinned else None

    def explain(self, name: str) -> str | None:
        """The same as a clause."""
        fault = self.find_fault(name)
        return _WORDS[fault] if fault else None


_WORDS: dict[Fault, str] = {
    "changed": "its server changed its definition during this investigation, so it is disabled",
    "removed": "its server no longer offers it",
    "too_many": "its server has shown more tools in this investigation than can be remembered, so "
    "the newest are disabled",
}


def fingerprint(tool: Tool) -> str:
    """The same for the same definition, however its keys are ordered."""
    shown = tool.model_dump(
        mode="json",
        by_alias=True,
        include={"name", "title", "description", "input_schema", "annotations"},
    )
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
