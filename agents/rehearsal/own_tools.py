"""Tools that a chain brings itself: which of them a rehearsal may call, and what they said.

A script cannot know them. Each that reads and needs no more than the alert gives is called once.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from agents.fencing import find_fenced
from agents.rehearsal.conversation import Conversation, Evidence, OfferedTool, find_json_object
from agents.rehearsal.told_tools import read_told_tools
from agents.types import CHANGES_SOMETHING, JSON

MOST_CALLS = 8
MOST_FACTS = 4
"""What a report says of one result."""
MOST_SEARCHED = 500
"""Values of a result or an alert that are looked at."""
_SHIPPED = "ops"
"""The server that ships, which the other scripts know."""
_NO_MORE = "No more tools can be called"
"""What an agent is told that has used all its steps."""
_FAILED = re.compile(r"(?:Observation: )?\[T\d{1,9}\] [^\n]* failed$", re.MULTILINE)
_OURS = '{"ok": false'
"""How a refusal of ours begins."""
_ANSWERED = "\nIt answered:\n"
"""Stands above what a server answered."""
_MASKED = "[MASKED:"
_PLACEHOLDER = re.compile(r"\[MASKED:[^\]\n]{0,80}\]")
_QUOTABLE = re.compile(r"[^\"\[\]\\<>`*#\s](?:[^\"\[\]\\<>`*#\n]{1,158})")

Scalar = str | int | float | bool


@dataclass(frozen=True)
class OwnCall:
    """A call to make."""

    name: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True)
class LeftOut:
    """A tool that is not called, and why, as the end of a sentence about it."""

    name: str
    reason: str


@dataclass(frozen=True)
class Fact:
    """A piece of what a tool said, and how a report refers to it."""

    words: str
    cite: str


@dataclass(frozen=True)
class Said:
    """What one call brought: facts, or why there are none."""

    name: str
    facts: tuple[Fact, ...]
    cite: str
    error: str = ""


class OwnTools:
    """The tools of a conversation that neither ship with the product nor are the loop's own."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def are_used(self) -> bool:
        """Whether the conversation is about them: some was called, or can be."""
        return bool(self.results or self.calls)

    @cached_property
    def results(self) -> tuple[Evidence, ...]:
        return tuple(each for each in self._conversation.results if _is_own(each.name))

    @cached_property
    def calls(self) -> tuple[OwnCall, ...]:
        """What is to be called now: all at once, and nothing once that was done; one after the
        other where a model calls by writing."""
        if self._is_over or (self.results and not self._are_written):
            return ()
        done = {each.name for each in self.results}
        rest = tuple(each for each in self._callable[:MOST_CALLS] if each.name not in done)
        return rest[:1] if self._are_written else rest

    @cached_property
    def said(self) -> tuple[Said, ...]:
        return tuple(map(_read, self.results))

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The tools that were offered and not called."""
        done = {each.name for each in self.results} | {each.name for each in self.calls}
        rest = (tool for tool in self._own if tool.name not in done)
        return tuple(LeftOut(show_name(tool.name), self._explain(tool)) for tool in rest)

    @property
    def _are_written(self) -> bool:
        """Whether tools are called by writing, so that the request offers none."""
        return not self._conversation.tools

    @property
    def _is_over(self) -> bool:
        return _NO_MORE in self._conversation.last_input

    @cached_property
    def _own(self) -> tuple[OfferedTool, ...]:
        offered = self._conversation.tools or read_told_tools(self._conversation.question)
        return tuple(tool for tool in offered if _is_own(tool.name))

    @cached_property
    def _callable(self) -> tuple[OwnCall, ...]:
        return tuple(
            OwnCall(tool.name, arguments)
            for tool in self._own
            if CHANGES_SOMETHING not in tool.description
            and (arguments := self._fill(tool.schema)) is not None
        )

    @cached_property
    def _given(self) -> Mapping[str, Scalar]:
        """Every value of the alert under its name; the outermost counts."""
        alert = find_json_object(self._conversation.alert) or {}
        values: dict[str, Scalar] = {}
        found = islice(_walk(dict(alert)), MOST_SEARCHED)
        for name, value in sorted(found, key=lambda pair: len(pair[0])):
            if not (isinstance(value, str) and (_MASKED in value or not value)):
                values.setdefault(name[-1], value)
        return values

    def _fill(self, schema: Mapping[str, JSON]) -> dict[str, JSON] | None:
        """The arguments that a tool requires, None where the alert does not give one of them."""
        if _missing(schema, self._given):
            return None
        return {name: self._given[name] for name in _required(schema)}

    def _explain(self, tool: OfferedTool) -> str:
        if CHANGES_SOMETHING in tool.description:
            return "changes something, which a rehearsal leaves alone"
        if missing := _missing(tool.schema, self._given):
            return f"needs {', '.join(missing)}, which the alert does not give"
        return f"was left out: a rehearsal calls {MOST_CALLS} tools at most"


def show_name(wire_name: str) -> str:
    """`server.tool`, as people know it."""
    return wire_name.replace("__", ".", 1)


def _is_own(name: str) -> bool:
    server, has_server, _ = name.partition("__")
    return bool(has_server) and server != _SHIPPED


def _required(schema: Mapping[str, JSON]) -> list[str]:
    required = schema.get("required")
    return [str(name) for name in required] if isinstance(required, list) else []


def _missing(schema: Mapping[str, JSON], given: Mapping[str, Scalar]) -> list[str]:
    properties = schema.get("properties")
    described = properties if isinstance(properties, dict) else {}
    return [
        name
        for name in _required(schema)
        if name not in given or not _fits(given[name], described.get(name))
    ]


def _fits(value: Scalar, described: JSON) -> bool:
    """Whether a value of the alert is one of the kind that an argument takes."""
    details = described if isinstance(described, dict) else {}
    choices, told = details.get("enum"), details.get("type")
    if isinstance(choices, list) and value not in choices:
        return False
    kinds = told if isinstance(told, list) else [told]
    return any(kind in kinds for kind in (None, *_kinds_of(value)))


def _kinds_of(value: Scalar) -> tuple[str, ...]:
    match value:
        case bool():
            return ("boolean",)
        case int():
            return ("integer", "number")
        case float():
            return ("number",)
        case _:
            return ("string",)


def _read(result: Evidence) -> Said:
    name = show_name(result.name)
    inside = next((text for _, text in find_fenced(result.text)), result.text)
    if _FAILED.match(result.text):
        return Said(name, (), result.cite, _find_reason(result, inside))
    return Said(name, tuple(islice(_find_facts(result, inside), MOST_FACTS)), result.cite)


def _find_reason(result: Evidence, inside: str) -> str:
    """What was said; of a refusal of ours also what would let the call pass. A server's own words
    stand behind a line of ours, so that they cannot pass for one."""
    if not inside.startswith(_OURS):
        said = inside.partition(_ANSWERED)[2] or inside
        has_words = result.json is None or result.ok
        return next(_lines(said), "it failed") if has_words else result.error
    error = result.json.get("error") if result.json else None
    details = error.get("details") if isinstance(error, dict) else None
    to_allow = details.get("to_allow") if isinstance(details, dict) else None
    return f"{result.error} To allow it: {to_allow}" if to_allow else result.error


def _find_facts(result: Evidence, inside: str) -> Iterator[Fact]:
    """Named values where the result is JSON, else its first lines."""
    try:
        value = json.loads(inside)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict | list):
        yield from (_read_line(result, line) for line in _lines(inside))
        return
    for path, each in islice(_walk(value), MOST_SEARCHED):
        shown = _hide_placeholders(each) if isinstance(each, str) else json.dumps(each)
        yield Fact(f"{'.'.join(path)} is {shown}", result.quote(path[-1], each))


def _walk(value: JSON, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Scalar]]:
    """Every named value, with the names that lead to it; of a list its first element."""
    if isinstance(value, dict):
        for name, each in islice(value.items(), MOST_SEARCHED):
            yield from _walk(each, (*path, name))
    elif isinstance(value, list):
        yield from _walk(value[0] if value else None, path)
    elif value is not None and path:
        yield path, value


def _read_line(result: Evidence, line: str) -> Fact:
    """A line, and a citation with it as the quote where it can stand there as it is."""
    if result.number is None or not _QUOTABLE.fullmatch(line):
        return Fact(_hide_placeholders(line), result.cite)
    return Fact(f"“{line}”", f'[T{result.number} "{line}"]')


def _hide_placeholders(text: str) -> str:
    """Whoever masks the report would take what is left of a placeholder for another secret."""
    return _PLACEHOLDER.sub("…", text)


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if re.search(r"\w", line))
