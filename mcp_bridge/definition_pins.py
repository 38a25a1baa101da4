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

Fault = Literal["changed", "removed"]


class DefinitionPins:
    """The definitions of one server's tools, by hash, for one execution."""

    def __init__(self, server_id: str) -> None:
        self._server_id = server_id
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
        for name in sorted((changed - self._changed) | (missing - self._missing)):
            logger.warning(
                "tool server %s changed or removed its tool %s; it is disabled",
                self._server_id, clean_line(name, 80),
            )  # fmt: skip
        self._changed |= changed
        self._missing = set(missing)
        self._pinned = {**current, **self._pinned}

    def find_fault(self, name: str) -> Fault | None:
        """Why a tool is disabled, or None while it is what it was."""
        if name in self._changed:
            return "changed"
        return "removed" if name in self._missing else None

    def explain(self, name: str) -> str | None:
        """The same as a clause."""
        fault = self.find_fault(name)
        return _WORDS[fault] if fault else None


_WORDS: dict[Fault, str] = {
    "changed": "its server changed its definition during this investigation, so it is disabled",
    "removed": "its server no longer offers it",
}


def fingerprint(tool: Tool) -> str:
    """The same for the same definition, however its keys are ordered."""
    shown = tool.model_dump(
        mode="json",
        by_alias=True,
        include={"name", "title", "description", "input_schema", "annotations"},
    )
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
