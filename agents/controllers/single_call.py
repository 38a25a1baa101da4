"""One question, one answer: the executive summary, and the report of many investigations."""

from collections.abc import Sequence

from agents.controllers.base import AskAgain, Conclude, Decision
from agents.prompts.nudges import ask_for_text_without_tools
from agents.types import InteractionType, Message, Phase, ToolCall, ToolSpec


class SingleCall:
    """Offers no tools; the first answer with text is final."""

    phase: Phase = "finalizing"
    interaction_type: InteractionType = "executive_summary"
    final_interaction_type: InteractionType = "executive_summary"
    may_iterate = False

    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return ()

    def decide(self, text: str, calls: tuple[ToolCall, ...]) -> Decision:
        if text.strip():
            return Conclude(text.strip())
        if calls:
            return AskAgain(
                "The model asked for tools where there are none", ask_for_text_without_tools()
            )
        return AskAgain("The model gave an empty answer", ask_for_text_without_tools())

    def conclude(self, text: str) -> Conclude | None:
        return Conclude(text.strip()) if text.strip() else None

    def present(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(messages)

    def write_result(self, call: ToolCall, content: str) -> Message:
        return Message("tool", content, tool_call_id=call.id, tool_name=call.name)


class Synthesis(SingleCall):
    """Weighs what several agents found; a single call, recorded as a synthesis."""

    phase: Phase = "synthesizing"
    interaction_type: InteractionType = "synthesis"
    final_interaction_type: InteractionType = "synthesis"
