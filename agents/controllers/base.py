"""What the loop asks of a controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.controllers.written import read_written
from agents.types import InteractionType, Message, Phase, ToolCall, ToolSpec


@dataclass(frozen=True)
class CallTools:
    """The model wants tools to be called before it goes on."""

    calls: tuple[ToolCall, ...]
    kept: str | None = None
    """What stays of the text in the conversation; all of it when None."""
    shown: str | None = None
    """What stays of the text on the timeline; all of it when None."""
    is_alone: bool = True
    """False for calls that are only written amid words, which may show or advise them."""
    note: str = ""
    """What people are told of how the model came to call them, where that is unusual."""


@dataclass(frozen=True)
class Conclude:
    """The model is done; `text` is its final analysis."""

    text: str
    kept: str | None = None
    """What stays of the text in the conversation; all of it when None."""


@dataclass(frozen=True)
class AskAgain:
    """The answer is of no use; `nudge` tells the model, `reason` tells people."""

    reason: str
    nudge: str
    code: str = "empty_answer"
    may_conclude: bool = False
    """When it keeps happening, the model is made to conclude instead of given up."""


Decision = CallTools | Conclude | AskAgain


class Controller(Protocol):
    """A strategy over the one loop. Has no state: an interrupted execution needs none."""

    phase: Phase
    interaction_type: InteractionType
    """What a model call is recorded as while the work goes on."""
    final_interaction_type: InteractionType
    """What the call that brought the final analysis is recorded as."""
    may_iterate: bool
    """Whether it works until `max_iterations` and is then made to conclude."""
    may_repeat_agents: bool = False
    """Whether it writes calls as other agents did, so that theirs are no quotes."""

    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """The tools that go to the provider with the question."""
        ...

    def decide(
        self,
        text: str,
        calls: tuple[ToolCall, ...],
        specs: Sequence[ToolSpec] = (),
        outside: Sequence[str] = (),
    ) -> Decision:
        """What a complete answer means where there are these tools.

        `outside` are the texts of others that the model has read: what stands in them it quotes.
        """
        ...

    def conclude(
        self, text: str, specs: Sequence[ToolSpec] = (), outside: Sequence[str] = ()
    ) -> Conclude | None:
        """What an answer to the demand to conclude means; None when it is no conclusion.

        A call that is only written is none, whether or not it could be run. A report that shows
        one is a report.
        """
        if not text.strip():
            return None
        written = read_written(text, specs, outside)
        return Conclude(text.strip()) if written is None or written.may_conclude else None

    def refuse(self, call: ToolCall) -> str:
        """Why a call is not to be run as it was proposed; empty where it is."""
        return ""

    def present(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The conversation as the model gets to see it."""
        return tuple(messages)

    def write_result(self, call: ToolCall, content: str) -> Message:
        """The message that brings a tool's result to the model."""
        return Message("tool", content, tool_call_id=call.id, tool_name=call.name)
