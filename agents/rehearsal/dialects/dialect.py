"""What a file of a dialect may say."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.rehearsal.dialects.faults import FaultName

Json = Mapping[str, JsonValue]
WireName = Literal["chat", "anthropic", "gemini", "responses"]


_ERROR: JsonValue = {
    "error": {"message": "$message", "type": "$type", "param": None, "code": "$code"}
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class CallForm(_Part):
    """How calls are written into a stream."""

    pieces: Literal["split", "whole", "together"] = "split"
    """Token by token, each call in a chunk of its own, or all calls in one chunk."""
    index: Literal["counted", "zero", "none"] = "counted"
    ids: str = "call_{hex24}"
    """`{hex24}`, `{alnum9}` and `{digits9}` stand for so many random characters, `{name}` and
    `{number}` for the call's own."""
    arguments: Literal["text", "object"] = "text"
    again: Json = Field(default_factory=dict)
    """Members beside the arguments in every piece but the first: some servers repeat them empty."""
    beside: Json = Field(default_factory=dict)
    """Members beside each call; `$signature` stands for its signature."""
    is_list: bool = True
    """False where the place of the list holds the call itself."""


class AnswerForm(_Part):
    """How a whole answer is written."""

    thinking: Literal[
        "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "tags", "parts",
        "none",
    ] = "reasoning_content"  # fmt: skip
    calls: CallForm = CallForm()
    opening: tuple[Json, ...] = ({"role": "assistant", "content": ""},)
    """Deltas before anything is said."""
    repeated: Json = Field(default_factory=dict)
    """Members of every delta: some servers repeat the role, or members with null in them."""
    beside_delta: Json = Field(default_factory=dict)
    beside_choices: Json = Field(default_factory=dict)
    before: str = ""
    """Text before the first event."""
    between: str = ""
    """Text before each event: comments that keep the connection alive."""
    text_end: str = "stop"
    call_end: str = "tool_calls"
    """The reasons to end; empty where none is said."""
    done: bool = True
    """Whether `[DONE]` is sent."""
    usage: Literal["asked", "always", "with_end", "in_choice", "each", "never"] = "asked"
    """In a chunk of its own where it was asked for, or always; in the chunk with the reason to end,
    or within its choice; in each chunk; nowhere."""


class Refusal(_Part):
    """A kind of request that is refused, and the words of it.

    `$found` stands for what was wrong, such as an id; `$limit` for a number of tokens.
    """

    fault: FaultName
    names: tuple[str, ...] = ()
    """Of the members that the fault is about."""
    form: str = ""
    """A regular expression for what would be right."""
    limit: int = 0
    """Of tokens, four characters each."""
    status: Annotated[int, Field(ge=400, le=599)] = 400
    message: str = ""
    type: str = ""
    code: str = ""
    body: JsonValue = None
    """Where it does not have the usual form of this dialect's errors."""


class Dialect(_Part):
    """One family of servers."""

    family: str
    """Its name for people."""
    wire: WireName = "chat"
    models: tuple[str, ...] = ("rehearsal",)
    answer: AnswerForm = AnswerForm()
    error: JsonValue = Field(default_factory=lambda: _ERROR)
    """An error's body; `$status` stands for the number, the others for texts or null."""
    error_event: str = "data: $body\n\n"
    """How an error is told within a stream."""
    refuses: tuple[Refusal, ...] = ()
    """Looked at in order."""
