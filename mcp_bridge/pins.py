"""Remembers what a server's tools were when an execution began, and refuses those that changed.

A tool's description is what made it look harmless to whoever allowed it. One that says something
else in the middle of an investigation is not the tool that was offered.
"""

import hashlib
import json
import logging
from collections.abc import Sequence

from mcp_types import Tool

from mcp_bridge.visible_text import clean_line

logger = logging.getLogger(__name__)


class Pins:
    """The definitions of one server's tools, by hash, for one execution."""

    def __init__(self, server_id: str) -> None:
        self._server_id = server_id
        self._pinned: dict[str, str] = {}
        self._changed: set[str] = set()
        self._missing: set[str] = set()

    def compare(self, tools: Sequence[Tool]) -> None:
        """Pin the tools of the first listing; judge every later one by it.

        A tool that changed stays disabled, even if it changes back; one that vanished may return.
        """
        # Of two tools with one name the first counts, here as in the catalogue.
        current: dict[str, str] = {}
        for tool in tools:
            current.setdefault(tool.name, fingerprint(tool))
        if not self._pinned:
            self._pinned = current
            return
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

    def explain(self, name: str) -> str | None:
        """Why a tool is disabled, or None while it is what it was."""
        if name in self._changed:
            return "its server changed its definition during this investigation, so it is disabled"
        if name in self._missing:
            return "its server no longer offers it"
        return None


def fingerprint(tool: Tool) -> str:
    """The same for the same definition, however its keys are ordered."""
    shown = tool.model_dump(
        mode="json",
        by_alias=True,
        include={"name", "title", "description", "input_schema", "annotations"},
    )
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
