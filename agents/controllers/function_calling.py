"""Tools through the provider's own function calling."""

from collections.abc import Sequence

from agents.controllers.base import AskAgain, CallTools, Conclude, Decision
from agents.prompts.nudges import ask_after_empty_answer
from agents.types import InteractionType, Message, Phase, ToolCall, ToolSpec


class FunctionCalling:
    """Calls tools as long as the model proposes some; the first answer without any is final."""

    phase: Phase = "investigating"
    interaction_type: InteractionType = "iteration"
    final_interaction_type: InteractionType = "final_analysis"
    may_iterate = True

    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return tuple(specs)

    def decide(self, text: str, calls: tuple[ToolCall, ...]) -> Decision:
        if calls:
            return CallTools(calls)
        if text.strip():
            return Conclude(text.strip())
        return AskAgain("The model gave an empty answer", ask_after_empty_answer())

    def conclude(self, text: str) -> Conclude | None:
        return Conclude(text.strip()) if text.strip() else None

    def present(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(messages)

    def write_result(self, call: ToolCall, content: str) -> Message:
        return Message("tool", content, tool_call_id=call.id, tool_name=call.name)
