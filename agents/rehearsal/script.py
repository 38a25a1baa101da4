"""What a rehearsal script may say: rules, matched in order, each with a reply."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from jinja2 import TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class TurnRange:
    """Turns `first` to `last`; without a `last`, every turn from `first` on."""

    first: int
    last: int | None

    def __contains__(self, turn: int) -> bool:
        return self.first <= turn and (self.last is None or turn <= self.last)


def _read_turns(value: object) -> object:
    if isinstance(value, TurnRange):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return TurnRange(value, value)
    found = re.fullmatch(r"\s*(\d{1,6})\s*(\+|-\s*(\d{1,6}))\s*", str(value))
    if found is None:
        raise ValueError("is no turn; write a number (0), a range (1-3) or an open one (2+)")
    return TurnRange(int(found[1]), int(found[3]) if found[3] else None)


def _check_template(source: str) -> str:
    try:
        ImmutableSandboxedEnvironment().parse(source)
    except TemplateSyntaxError as error:
        raise ValueError(f"is no valid template: {error.message} (its line {error.lineno})") from (
            error
        )
    return source


Turns = Annotated[TurnRange, BeforeValidator(_read_turns)]
Template = Annotated[str, AfterValidator(_check_template)]


class When(_Part):
    """What a request must look like; all that is given must hold. Nothing given: any request."""

    agent: re.Pattern[str] | None = None
    """Searched in the name that the system prompt states in its line `Agent: NAME`."""
    turn: Turns | None = None
    """How many assistant messages the request already holds."""
    contains: re.Pattern[str] | None = None
    """Searched in the last user or tool message."""
    anywhere: re.Pattern[str] | None = None
    """Searched in every message of the conversation."""
    tools: tuple[str, ...] | None = None
    """Each must be among the offered tools (`*` stands for anything); `[]` means none offered."""
    model: re.Pattern[str] | None = None
    own_tools: bool | None = None
    """Whether a tool is offered that does not ship with the product and can be called with what the
    alert gives, or was called."""


class ScriptedCall(_Part):
    """A tool call to propose. Strings within the arguments are templates."""

    name: Template
    arguments: Template | Mapping[str, JsonValue] = Field(default_factory=dict)
    id: str = ""
    if_offered: bool = False
    """Leave the call out when the request offers no such tool."""


class ScriptedUsage(_Part):
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    thinking_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0


class ScriptedError(_Part):
    """An HTTP error instead of an answer."""

    status: Annotated[int, Field(ge=400, le=599)]
    body: str | Mapping[str, JsonValue] | None = None
    """Sent as it is; without it, an error in OpenAI's shape."""
    message: str = ""
    code: str = ""
    retry_after: NonNegativeFloat | None = None
    headers: Mapping[str, str] = Field(default_factory=dict)
    """Sent with it, such as a vendor's own words for how long to wait."""


_ANSWERS = frozenset(
    {"thinking", "text", "tool_calls", "own_tools", "usage", "finish_reason", "malformed"}
)


class Reply(_Part):
    """One answer: thinking, then text, then tool calls, at the given pace."""

    thinking: Template = ""
    text: Template = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    own_tools: bool = False
    """Call, once each, the tools that a chain brings itself and that read."""
    usage: ScriptedUsage | bool = True
    """True: estimated from what is sent; false: this provider reports none."""
    finish_reason: str = ""
    error: ScriptedError | None = None
    error_after: NonNegativeInt | None = None
    """Tell of the error within the stream, after so many chunks of the answer."""
    hang: bool = False
    """Never answer at all."""
    malformed: bool = False
    """Break the protocol: a data line, or a body, that is no JSON."""
    cut_after: NonNegativeInt | None = None
    """Drop the connection after so many chunks."""
    hang_after: NonNegativeInt | None = None
    """Fall silent after so many chunks, leaving the connection open."""
    hold: str = ""
    """Wait until this name is released through `POST /control/release/NAME`."""
    hold_after: NonNegativeInt = 0
    """Where `hold` waits: after so many chunks."""
    delay: NonNegativeFloat | None = None
    """Seconds before the first byte."""
    chunk_delay: NonNegativeFloat | None = None
    """Seconds between two chunks."""
    tokens_per_second: PositiveFloat | None = None
    chunk_size: PositiveInt | None = None
    """Characters in each chunk; without it, chunks are about as long as tokens."""

    @model_validator(mode="after")
    def _check_sense(self) -> Self:
        given = self.model_fields_set
        if not given:
            raise ValueError("says nothing; give it `text`, `tool_calls`, `error` or `hang`")
        if self.error_after is not None and self.error is None:
            raise ValueError("`error_after` needs `error`, which is told there")
        for instead in ("error", "hang"):
            is_within = instead == "error" and self.error_after is not None
            if getattr(self, instead) and given & _ANSWERS and not is_within:
                extra = ", ".join(sorted(given & _ANSWERS))
                raise ValueError(f"`{instead}` comes instead of an answer; remove {extra}")
        if "hold_after" in given and not self.hold:
            raise ValueError("`hold_after` needs `hold: NAME`, the name that releases it")
        if self.chunk_delay is not None and self.tokens_per_second is not None:
            raise ValueError("give `chunk_delay` or `tokens_per_second`, not both")
        return self


class Rule(_Part):
    name: str = ""
    when: When = When()
    times: PositiveInt | None = None
    """Answer at most so many requests, then let later rules answer."""
    reply: Reply


class Pace(_Part):
    """How fast replies come that do not say so themselves."""

    delay: NonNegativeFloat = 0.0
    tokens_per_second: PositiveFloat | None = None
    """Without it, as fast as the wire takes it."""


class Script(_Part):
    """A whole script. A bare list of rules is accepted as its short form."""

    models: tuple[str, ...] = ("rehearsal",)
    pace: Pace = Pace()
    macros: Template = ""
    """Jinja macros and `set` blocks that all templates of this script see."""
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_list(cls, value: object) -> object:
        return {"rules": value} if isinstance(value, list | tuple) else value
