"""Tool names: `server.tool` for us, `server__tool` for models, and the way back."""

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from masking.visible_text import clean_line

MAX_WIRE_LENGTH = 64
HASH_LENGTH = 8

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*", re.ASCII)
# Tools, unlike servers, are named by other people: in their script, and with what they separate by.
_SEPARATORS = frozenset("_.-/: ")
_LONGEST = 128
_NOT_WIRE = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_WIRE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)


@dataclass(frozen=True)
class ToolName:
    server: str
    tool: str

    @override
    def __str__(self) -> str:
        return f"{self.server}.{self.tool}"


class HasName(Protocol):
    @property
    def name(self) -> str: ...


def is_usable(name: ToolName) -> bool:
    """Whether a tool may be offered under this name at all."""
    return bool(_PART.fullmatch(name.server)) and _is_tool_name(name.tool)


def explain_unusable(server: str, tools: Iterable[HasName]) -> list[str]:
    """A clause for each tool whose name cannot be used."""
    return [
        f"{clean_line(tool.name, 80)} is left out: its name cannot be used"
        for tool in tools
        if not is_usable(ToolName(server, tool.name))
    ]


def _is_tool_name(name: str) -> bool:
    """Letters, digits and marks of any script, and what separates them; nothing that is markup or
    that nobody sees."""
    begins = name[:1].isalnum() or name[:1] == "_"
    return (
        begins
        and len(name) <= _LONGEST
        and name == name.strip()
        and unicodedata.normalize("NFC", name) == name
        and all(map(_is_plain_character, name))
    )


def _is_plain_character(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _SEPARATORS
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")


class ToolNames:
    """A two-way map between our names and the ones models get; no two tools share a name."""

    def __init__(self, names: Iterable[ToolName]) -> None:
        usable = sorted({name for name in names if is_usable(name)}, key=str)
        self._by_name = {str(name): name for name in usable}
        self._by_wire: dict[str, ToolName] = {}
        self._wires: dict[ToolName, str] = {}
        # Names that need no shortening come first, so no shortened one can take their place.
        for name in [name for name in usable if _is_plain(name)]:
            self._enter(name, _plain_wire(name))
        for name in [name for name in usable if not _is_plain(name)]:
            self._enter(name, self._free_wire(name))

    def knows(self, name: ToolName) -> bool:
        return name in self._wires

    def wire(self, name: ToolName) -> str:
        """The name models get for a known tool."""
        return self._wires[name]

    def resolve(self, text: str) -> ToolName | None:
        """Find the tool a model meant. Nothing is guessed, trimmed or folded."""
        if name := self._by_wire.get(text):
            return name
        if "." in text:
            found = self._by_name.get(text)
        else:
            server, separator, tool = text.partition("__")
            found = self._by_name.get(f"{server}.{tool}") if separator else None
        return found

    def _enter(self, name: ToolName, wire: str) -> None:
        self._by_wire[wire] = name
        self._wires[name] = wire

    def _free_wire(self, name: ToolName) -> str:
        readable = _NOT_WIRE.sub("_", _plain_wire(name))
        if not _WIRE.match(readable):
            readable = f"_{readable}"
        digest = hashlib.sha256(str(name).encode()).hexdigest()
        for length in range(HASH_LENGTH, len(digest)):
            wire = f"{readable[: MAX_WIRE_LENGTH - length - 1]}_{digest[:length]}"
            if wire not in self._by_wire:
                return wire
        raise AssertionError("two tools with the same name passed the set above")


def explain_unknown(text: str, offered: Sequence[str]) -> str:
    """Tell a model which names would have been right; `offered` are the names it was given."""
    shown = repr(text if len(text) <= 80 else f"{text[:80]}…")
    if not offered:
        return f"There is no tool {shown}: no tool at all is available."
    server, _, tool = text[:200].replace(".", "__", 1).partition("__")
    of_server = {
        wire.removeprefix(f"{server}__"): wire for wire in offered if wire.startswith(f"{server}__")
    }
    if of_server:
        # What the name of the server adds makes any two of its tools alike.
        near = difflib.get_close_matches(tool, of_server, n=3, cutoff=0.6)
        close = [of_server[name] for name in near]
    else:
        close = difflib.get_close_matches(text[:200], offered, n=3, cutoff=0.5)
    named = close or list(of_server.values()) or list(offered)
    more = f" and {len(named) - 10} more" if len(named) > 10 else ""
    intro = "Did you mean" if close else "Available are"
    return (
        f"There is no tool {shown}. Use a full name, server__tool, exactly as listed. "
        f"{intro}: {', '.join(named[:10])}{more}."
    )


def _plain_wire(name: ToolName) -> str:
    return f"{name.server}__{name.tool}"


def _is_plain(name: ToolName) -> bool:
    """Whether `server__tool` is a legal name that reads back as the same server and tool."""
    return "__" not in f"{name.server}_" and bool(_WIRE.fullmatch(_plain_wire(name)))
