"""Joins the pieces in which a model's calls arrive, however a server numbers and names them."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.wire_values import (
    as_dict,
    as_list,
    as_text,
    clean_characters,
    clean_fields,
    is_json_object,
    look,
)
from agents.types import JSON, ToolCall

_ARGUMENTS = ("arguments", "parameters", "input", "args")
"""The first is the usual one; that of Ollama's models, of Anthropic and of some gateways."""
_OWN_MEMBERS = frozenset({"id", "type", "index", "function", "name", *_ARGUMENTS})
_MARKS = re.compile(r'["\\{}\[\]]')
_MARK_BEHIND = re.compile(r"\s*<[|｜].*", re.DOTALL)
"""A special token that a server has left behind a name: of the channel that the call came by."""
_CLOSING_MARKS = re.compile(r"(?:\s*(?:<[|｜][^<>|｜]{1,40}[|｜]>|</[a-z_]{1,30}>))+\s*\Z")
"""Special tokens and closing tags that a server has left behind the arguments."""
_FENCE = re.compile(r"\A```\w{0,10}\n(.*)\n```\Z", re.DOTALL)
_NOTHING = frozenset({"", '""', "None", "undefined"})
_MOST_TEXTS = 20
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ProposedCall:
    """A whole call, and what its provider wants to get back beside it."""

    call: ToolCall
    extra: Mapping[str, JSON]


class CallPieces:
    """The calls of one answer while their pieces arrive.

    Some servers give every call the index 0, or none; some give no ids, or another one with each
    piece; some repeat the name. `offered` are the names that can be called. `count` is told of
    every text, and may refuse it.
    """

    def __init__(self, offered: Collection[str], count: Callable[[str], str]) -> None:
        self._offered = offered
        self._count = count
        self._calls: list[_Growing] = []
        self._by_index: dict[object, _Growing] = {}
        self._by_id: dict[str, _Growing] = {}

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def are_complete(self) -> bool:
        """Whether nothing of any call is yet to come, as far as its arguments tell."""
        return all(call.is_complete for call in self._calls)

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` of one chunk; some servers put one call in place of the list, and
        some languages number what stands in one."""
        if isinstance(pieces, dict) and pieces and all(name.isdecimal() for name in pieces):
            pieces = list(pieces.values())
        found = [pieces] if isinstance(pieces, dict) else as_list(pieces)
        for position, piece in enumerate(found):
            index: object = _read_index(look(piece, "index"))
            if index is None and len(found) > 1:
                index = ("position", position)
            self._add(piece, index)

    def join(self) -> tuple[ProposedCall, ...]:
        """The calls as they are now; one without a name is none."""
        return tuple(call.join() for call in self._calls if call.name)

    def _add(self, piece: Any, index: object) -> None:
        function = look(piece, "function")
        name = function if isinstance(function, str) else None
        function = piece if function is None or name else function
        said = _Said(
            id=self._count(str(look(piece, "id") or "")),
            name=self._count(as_text(name or look(function, "name") or "")),
            arguments=self._count(_write(_find_arguments(function))),
        )
        call = self._find(index, said)
        call.take(said)
        self._by_id.setdefault(call.id, call)
        self._keep_extra(call, piece, function)

    def _find(self, index: object, said: "_Said") -> "_Growing":
        last = self._calls[-1] if self._calls else None
        known = last if index is None else self._by_index.get(index)
        if said.id and not said.name and (known is None or known.id != said.id):
            # The id is right and the index is not.
            known = self._by_id.get(said.id, known)
        if known is None and last is not None and last.waits_for(said):
            known = last
        if known is None or not self._continues(known, said):
            known = _Growing()
            self._calls.append(known)
        if index is not None:
            self._by_index[index] = known
        return known

    def _continues(self, known: "_Growing", said: "_Said") -> bool:
        """Whether what is said belongs to the call that is known at its place."""
        if not said.name or not known.name:
            return True
        if said.id and known.id:
            if said.id == known.id:
                return not (known.is_complete and _opens(said.arguments)) or known.said(said)
            return known.is_open and bool(said.arguments) and not _opens(said.arguments)
        if known.is_open:
            return said.name == known.name
        if known.is_complete:
            return False
        # No arguments yet: another piece of the name, or another call that has none.
        return not {known.name, said.name} <= set(self._offered) or known.name == said.name

    def _keep_extra(self, call: "_Growing", piece: Any, function: Any) -> None:
        """What only the provider knows the meaning of, such as a signature of its thoughts."""
        extra: dict[str, JSON] = _find_extra(piece)
        if function is not piece and (inner := _find_extra(function)):
            extra["function"] = inner
        if extra:
            self._count(json.dumps(extra))
            call.extra |= extra


@dataclass(frozen=True)
class _Said:
    id: str
    name: str
    arguments: str


@dataclass
class _Growing:
    """A call while it grows. Whether its arguments are whole is known without reading them anew."""

    id: str = ""
    name: str = ""
    extra: dict[str, JSON] = field(default_factory=dict)
    _arguments: list[str] = field(default_factory=list)
    _depth: int = 0
    _is_begun: bool = False
    _is_in_text: bool = False
    _is_escaped: bool = False

    @property
    def is_complete(self) -> bool:
        return self._is_begun and not self.is_open

    @property
    def is_open(self) -> bool:
        return self._is_begun and (self._depth > 0 or self._is_in_text)

    def waits_for(self, said: _Said) -> bool:
        """Whether nobody else can be meant: arguments of no call, behind one that has none yet."""
        return not (said.id or said.name or self._is_begun) and bool(self.name)

    def said(self, said: _Said) -> bool:
        """Whether just this was said before: some servers end with the whole call once more."""
        return said.name == self.name and said.arguments == "".join(self._arguments)

    def take(self, said: _Said) -> None:
        self.id = self.id or said.id
        if said.name and not (self._is_begun and self.name) and said.name != self.name:
            # The rest of it, or all of it once more.
            grows = bool(self.name) and said.name.startswith(self.name)
            self.name = said.name if grows else self.name + said.name
        if said.arguments:
            self._arguments.append(said.arguments)
            self._follow(said.arguments)

    def join(self) -> ProposedCall:
        arguments = read_arguments(clean_characters("".join(self._arguments)))
        name = _MARK_BEHIND.sub("", clean_characters(self.name))
        call = ToolCall(clean_characters(self.id), name, arguments)
        return ProposedCall(call, clean_fields(self.extra))

    def _follow(self, piece: str) -> None:
        self._is_begun = self._is_begun or bool(piece.strip())
        position = 0
        if self._is_escaped:
            self._is_escaped, position = False, 1
        while found := _MARKS.search(piece, position):
            position = found.end()
            match found[0]:
                case "\\":
                    if self._is_in_text:
                        self._is_escaped = position >= len(piece)
                        position += 1
                case '"':
                    self._is_in_text = not self._is_in_text
                case "{" | "[":
                    self._depth += not self._is_in_text
                case _:
                    self._depth -= not self._is_in_text


def read_arguments(text: str) -> str:
    """The text of one JSON object where that is what was meant, else the text as it came.

    Nothing and null mean no arguments. An object may be written as a text within JSON, twice over,
    or behind an empty one.
    """
    bare = _FENCE.sub(r"\1", text.strip())
    texts = [] if bare in _NOTHING else _split(bare)
    if texts is None and (found := _CLOSING_MARKS.search(bare, max(0, len(bare) - 200))):
        texts = _split(bare[: found.start()])
    if texts is None:
        return text
    filled = [each for each in texts if each.value not in ({}, None)]
    if not filled:
        return "{}"
    first = filled[0]
    if any(each.value != first.value for each in filled[1:]):
        return text
    if isinstance(first.value, str):
        inner = read_arguments(first.value)
        is_meant = first.value.strip().startswith(("{", '"')) and is_json_object(inner)
        return inner if is_meant else text
    return first.text


@dataclass(frozen=True)
class _Text:
    text: str
    value: JSON


def _split(text: str) -> list[_Text] | None:
    """The JSON texts that stand one behind another; None where anything else does."""
    found: list[_Text] = []
    position = 0
    while position < len(text) and len(found) < _MOST_TEXTS:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        found.append(_Text(text[position:end], value))
        position = end + len(text[end:]) - len(text[end:].lstrip())
    return found if position >= len(text) else None


def _find_arguments(function: Any) -> object:
    found = (look(function, name) for name in _ARGUMENTS)
    return next((value for value in found if value is not None), None)


def _opens(arguments: str) -> bool:
    return arguments.lstrip().startswith("{")


def _write(arguments: object) -> str:
    """Arguments are a text of JSON; some servers send the object itself."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _find_extra(piece: Any) -> dict[str, JSON]:
    members = as_dict(piece)
    return {n: v for n, v in members.items() if n not in _OWN_MEMBERS and v is not None}


def _read_index(index: object) -> int | None:
    if isinstance(index, bool) or not isinstance(index, int | float | str):
        return None
    try:
        return int(index)
    except (ValueError, OverflowError):
        return None
