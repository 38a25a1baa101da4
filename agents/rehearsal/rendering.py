"""Replies with their templates filled from the conversation at hand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cache

from jinja2 import ChainableUndefined, Template
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from pydantic import JsonValue

from agents.rehearsal.conversation import Conversation, Evidence
from agents.rehearsal.findings import read_findings
from agents.rehearsal.own_tools import OwnTools
from agents.rehearsal.script import Reply, Script, ScriptedCall

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_NO_BRACKETS = str.maketrans("[]<>", "()‹›")


class TemplateFailed(Exception):
    """A template could not be filled; the text says why."""


@dataclass(frozen=True)
class RenderedCall:
    name: str
    arguments: Mapping[str, JsonValue] | str
    id: str


@dataclass(frozen=True)
class Answer:
    """The message to send."""

    thinking: str
    text: str
    calls: tuple[RenderedCall, ...]


def render_reply(script: Script, reply: Reply, conversation: Conversation) -> Answer:
    """Fill a reply's templates. Raises `TemplateFailed`."""
    filler = _Filler(script, conversation)
    return Answer(
        thinking=filler.fill(reply.thinking),
        text=filler.fill(reply.text),
        calls=(
            *(
                call
                for scripted in reply.tool_calls
                if (call := filler.fill_call(scripted)).name
                and (conversation.offers(call.name) or not scripted.if_offered)
            ),
            *(
                RenderedCall(call.name, call.arguments, id="")
                for call in (OwnTools(conversation).calls if reply.own_tools else ())
            ),
        ),
    )


class _Filler:
    """Fills templates of one reply; looks at the conversation only when one asks for it."""

    def __init__(self, script: Script, conversation: Conversation) -> None:
        self._script = script
        self._conversation = conversation
        self._context: dict[str, object] | None = None

    def fill(self, source: str) -> str:
        if "{{" not in source and "{%" not in source and "{#" not in source:
            return source
        try:
            return _compile(source).render(self._names()).strip()
        except Exception as error:
            # A template may fail in any way that Python can; all of them mean the same here.
            raise TemplateFailed(f"{type(error).__name__}: {error}") from error

    def fill_call(self, scripted: ScriptedCall) -> RenderedCall:
        arguments = scripted.arguments
        return RenderedCall(
            name=self.fill(scripted.name).strip(),
            arguments=(
                self.fill(arguments)
                if isinstance(arguments, str)
                else {key: self._fill_value(value) for key, value in arguments.items()}
            ),
            id=scripted.id,
        )

    def _fill_value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.fill(value)
        if isinstance(value, list):
            return [self._fill_value(item) for item in value]
        if isinstance(value, dict):
            return {key: self._fill_value(item) for key, item in value.items()}
        return value

    def _names(self) -> dict[str, object]:
        if self._context is None:
            context = _build_context(self._conversation)
            if self._script.macros:
                module = _compile(self._script.macros).make_module(context)
                exported = vars(module).items()
                context |= {name: value for name, value in exported if name[0] != "_"}
            self._context = context
        return self._context


def _build_context(conversation: Conversation) -> dict[str, object]:
    results = conversation.results

    def result(name: str, **arguments: JsonValue) -> Evidence | None:
        """The last result of that tool (`*` stands for anything), with these arguments."""
        matching = (
            item
            for item in reversed(results)
            if fnmatchcase(item.name, name) and arguments.items() <= dict(item.arguments).items()
        )
        return next(matching, None)

    return {
        "results": results,
        "result": result,
        "alert": conversation.alert,
        "agents": conversation.question,
        "findings": read_findings(conversation.question),
        "agent": conversation.agent,
        "turn": conversation.turn,
        "model": conversation.model,
        "offered": conversation.offered,
        "own": OwnTools(conversation),
        "offers": conversation.offers,
        "last": conversation.last_input,
        "now": datetime.now(UTC),
    }


def human_bytes(value: object) -> str:
    """A size as people write it: 1536 is `1.5 KiB`."""
    if not isinstance(value, int | float):
        return "an unknown size"
    size = float(value)
    for unit in _UNITS:
        if abs(size) < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def one_line(value: object, length: int = 160) -> str:
    """Text fit to be quoted within a sentence: one line, no Markdown, no citation, not long."""
    text = re.sub(r"[`#*\s]+", " ", str(value)).translate(_NO_BRACKETS).strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


@cache
def _environment() -> SandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=ChainableUndefined,
    )
    environment.filters["human_bytes"] = human_bytes
    environment.filters["one_line"] = one_line
    return environment


@cache
def _compile(source: str) -> Template:
    return _environment().from_string(source)
