"""What a chat completion request says, as far as a script can ask about it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from agents.controllers.react_format import Action, parse_react
from agents.types import JSON

_AGENT_LINE = re.compile(r"^Agent: (.+)$", re.MULTILINE)
_CALL_NUMBER = re.compile(r"\s*\[T(\d{1,9})\]")
_OBSERVATION = re.compile(r"Observation: \[T(\d{1,9})\]")
_ALERT = re.compile(
    r"^<<<outside (\S+) alert data>>>\n(.*?)\n?^<<<end outside \1>>>",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_PLAIN = re.compile(r"[\w .:%/+-]{1,60}")
_MAX_JSON_ATTEMPTS = 20


class BadRequest(ValueError):
    """The request is no chat completion request; the text says what it lacks."""


@dataclass(frozen=True)
class Evidence:
    """The result of one tool call, as the request carries it."""

    number: int | None
    name: str
    arguments: Mapping[str, JSON]
    text: str

    @cached_property
    def json(self) -> Mapping[str, JSON] | None:
        """The JSON object within the text, None when there is no whole one.

        Of several, such as the arguments of a failed call and its answer, the one that says `ok`.
        """
        found = list(_find_json_objects(self.text))
        return next((each for each in found if "ok" in each), next(iter(found), None))

    @property
    def ok(self) -> bool:
        return self.json is not None and self.json.get("ok", True) is True

    @property
    def data(self) -> JSON:
        """What the tool found; an empty mapping when it failed."""
        if self.json is None or not self.ok:
            return {}
        return self.json.get("data", dict(self.json))

    @property
    def error(self) -> str:
        """Why there is no data, empty when there is."""
        if self.ok:
            return ""
        if self.json is None:
            return "its result could not be read"
        error = self.json.get("error")
        if isinstance(error, dict):
            return str(error.get("message") or error.get("code") or "it failed")
        return str(error or "it failed")

    def quote(self, name: str, value: object) -> str:
        """How a report refers to what this call says of a name; as `cite` where it does not say it
        in so many words."""
        if not isinstance(value, str | int | float):
            return self.cite
        written = json.dumps(value, ensure_ascii=False)
        is_plain = _PLAIN.fullmatch(written.strip('"')) is not None
        found = re.search(rf'"{re.escape(name)}": {re.escape(written)}(?![\d.])', self.text)
        if self.number is None or not is_plain or found is None:
            return self.cite
        return f'[T{self.number} "{name}: {value}"]'

    @property
    def cite(self) -> str:
        """How a report refers to this call; empty when it carries no number."""
        return "" if self.number is None else f"[T{self.number}]"


@dataclass(frozen=True)
class Turn:
    """One message of the request, with its content as text."""

    role: str
    text: str
    name: str
    tool_call_id: str
    calls: tuple[tuple[str, str, str], ...]
    """Id, name and raw arguments of each call an assistant proposed."""


@dataclass(frozen=True)
class OfferedTool:
    """A tool as the request offers it."""

    name: str
    description: str
    schema: Mapping[str, JSON]


@dataclass(frozen=True)
class Conversation:
    """A request to answer."""

    model: str
    streams: bool
    includes_usage: bool
    tools: tuple[OfferedTool, ...]
    turns: tuple[Turn, ...]
    thinks: bool = True

    @cached_property
    def offered(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools)

    @cached_property
    def agent(self) -> str:
        """Who is asking: the name that the system prompt states, or what has its place before the
        first question; empty when neither states one."""
        said = [turn for turn in self.turns if turn.role in ("system", "developer")]
        for turn in said or self.turns[:1]:
            if found := _AGENT_LINE.search(turn.text):
                return found[1].strip()
        return ""

    @cached_property
    def turn(self) -> int:
        return sum(turn.role == "assistant" for turn in self.turns)

    @cached_property
    def last_input(self) -> str:
        """The last thing somebody other than the model said."""
        inputs = (turn.text for turn in reversed(self.turns) if turn.role in ("user", "tool"))
        return next(inputs, "")

    @cached_property
    def question(self) -> str:
        """The first user message: the task of the conversation."""
        return next((turn.text for turn in self.turns if turn.role == "user"), "")

    @cached_property
    def whole(self) -> str:
        return "\n".join(turn.text for turn in self.turns)

    @cached_property
    def alert(self) -> str:
        """The alert between its markers, or all of the first user message without them."""
        found = _ALERT.search(self.question)
        return found[2].strip() if found else self.question

    @cached_property
    def results(self) -> tuple[Evidence, ...]:
        return tuple(_read_evidence(self.turns))

    def offers(self, pattern: str) -> bool:
        return any(fnmatchcase(name, pattern) for name in self.offered)


def read_conversation(body: object) -> Conversation:
    """Take a decoded request body apart. Raises `BadRequest`."""
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("`messages` must be a list with at least one message")
    options = body.get("stream_options")
    return Conversation(
        model=str(body.get("model") or "rehearsal"),
        streams=body.get("stream") is True,
        includes_usage=isinstance(options, dict) and options.get("include_usage") is True,
        tools=tuple(_read_tools(body.get("tools"))),
        turns=tuple(_read_turn(message) for message in messages),
        thinks=body.get("thinks") is not False,
    )


def find_json_object(text: str) -> Mapping[str, JSON] | None:
    """The first whole JSON object within a text, whatever stands around it."""
    return next(_find_json_objects(text), None)


def _find_json_objects(text: str) -> Iterator[Mapping[str, JSON]]:
    """Whole JSON objects, none of them within another."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MAX_JSON_ATTEMPTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _read_tools(tools: object) -> Iterator[OfferedTool]:
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            schema = function.get("parameters")
            yield OfferedTool(
                str(function.get("name", "")),
                str(function.get("description") or ""),
                schema if isinstance(schema, dict) else {},
            )


def _read_turn(message: object) -> Turn:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise BadRequest("each message must be an object with a `role`")
    return Turn(
        role=message["role"],
        text=_read_text(message.get("content")),
        name=str(message.get("name") or ""),
        tool_call_id=str(message.get("tool_call_id") or ""),
        calls=tuple(_read_calls(message.get("tool_calls"))),
    )


def _read_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _read_calls(calls: object) -> Iterator[tuple[str, str, str]]:
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name, arguments = function.get("name", ""), function.get("arguments", "")
            yield str(call.get("id", "")), str(name), str(arguments)


def _read_evidence(turns: tuple[Turn, ...]) -> Iterator[Evidence]:
    proposed: dict[str, tuple[str, str]] = {}
    before: Turn | None = None
    for turn in turns:
        proposed.update({call_id: (name, arguments) for call_id, name, arguments in turn.calls})
        if before and (observed := _OBSERVATION.match(turn.text)) and turn.role == "user":
            yield _read_observation(before, turn, int(observed[1]))
        before = turn
        if turn.role != "tool":
            continue
        name, arguments = proposed.get(turn.tool_call_id, (turn.name, ""))
        number = _CALL_NUMBER.match(turn.text)
        yield Evidence(
            number=int(number[1]) if number else None,
            name=name,
            arguments=find_json_object(arguments) or {},
            text=turn.text,
        )


def _read_observation(before: Turn, turn: Turn, number: int) -> Evidence:
    """The result of an action that was written as text, in the message before."""
    step = parse_react(before.text).step
    name, arguments = (step.tool, step.input) if isinstance(step, Action) else ("", "")
    return Evidence(
        number=number,
        name=name.replace(".", "__", 1),
        arguments=find_json_object(arguments) or {},
        text=turn.text,
    )
