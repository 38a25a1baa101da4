"""Tools by text: `Thought`, `Action`, `Action Input`, for models without tool calling."""

import uuid
from collections.abc import Sequence
from dataclasses import replace

from agents.controllers.as_text import BY_TEXT, OBSERVATION, present_as_text
from agents.controllers.base import AskAgain, CallTools, Conclude, Decision
from agents.controllers.react_format import (
    Action,
    FinalAnswer,
    Malformed,
    ReactAnswer,
    Reason,
    parse_react,
    render_react,
)
from agents.controllers.react_quotes import is_repeated
from agents.controllers.written import read_written
from agents.prompts.nudges import ask_for_own_action, ask_for_react_format
from agents.types import InteractionType, Message, Phase, ToolCall, ToolSpec

_EXPLANATIONS: dict[Reason, str] = {
    "empty": "The model gave an empty answer",
    "empty_answer": "The model announced a final answer and gave none",
    "no_action": "The model named neither a tool nor a final answer",
    "no_action_or_answer": "The model wrote neither an action nor a final answer",
    "tool_name": "The model wrote an action that names no tool",
}


class React:
    """One action an answer, read from its text; the result goes back as an observation.

    The stored answer carries its call as any other does, so that an interrupted one is found
    again. The provider never sees that: it gets text alone.
    """

    phase: Phase = "investigating"
    interaction_type: InteractionType = "iteration"
    final_interaction_type: InteractionType = "final_analysis"
    may_iterate = True
    may_repeat_agents = True

    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return ()

    def decide(
        self,
        text: str,
        calls: tuple[ToolCall, ...],
        specs: Sequence[ToolSpec] = (),
        outside: Sequence[str] = (),
    ) -> Decision:
        answer = parse_react(text)
        if isinstance(answer.step, Malformed) and calls:
            # Some servers read calls out of the text whether they were offered tools or not.
            answer = replace(answer, step=Action(calls[0].name, calls[0].arguments))
        match answer.step:
            case Action():
                if is_repeated(answer.step, specs, outside):
                    return AskAgain(
                        "The model repeated a call that stands in what it has read",
                        ask_for_own_action(),
                        code="quoted_call",
                        may_conclude=True,
                    )
                return _call(answer, answer.step)
            case FinalAnswer(conclusion):
                return Conclude(conclusion, kept=render_react(answer))
            case Malformed(reason, written):
                return AskAgain(
                    _EXPLANATIONS[reason],
                    ask_for_react_format(reason, written, text.strip()),
                    code="empty_answer" if reason == "empty" else "malformed_answer",
                    may_conclude=reason != "empty",
                )

    def conclude(
        self, text: str, specs: Sequence[ToolSpec] = (), outside: Sequence[str] = ()
    ) -> Conclude | None:
        """Takes prose for a conclusion. What is written behind an action rests on no result."""
        answer = parse_react(text)
        match answer.step:
            case FinalAnswer(conclusion):
                return Conclude(conclusion, kept=render_react(answer))
            case Malformed(has_input=False) if answer.thought:
                written = read_written(text, specs, outside)
                if written is None or written.may_conclude:
                    return Conclude(answer.thought, kept=answer.thought)
        return None

    def refuse(self, call: ToolCall) -> str:
        return ""

    def present(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return present_as_text(messages)

    def write_result(self, call: ToolCall, content: str) -> Message:
        return Message("user", f"{OBSERVATION}{content}", tool_call_id=call.id, tool_name=call.name)


def _call(answer: ReactAnswer, action: Action) -> CallTools:
    call = ToolCall(f"{BY_TEXT}{uuid.uuid4().hex[:24]}", action.tool, action.input)
    kept = render_react(answer)
    return CallTools((call,), kept=kept, shown=answer.thought or kept)
