"""One question, one answer: the executive summary, and the report of many investigations."""

from collections.abc import Sequence

from typing_extensions import override

from agents.controllers.base import AskAgain, Controller, Decision
from agents.prompts.nudges import ask_for_text_without_tools
from agents.types import InteractionType, Phase, ToolCall, ToolSpec


class SingleCall(Controller):
    """Offers no tools; the first answer with text is final."""

    phase: Phase = "finalizing"
    interaction_type: InteractionType = "executive_summary"
    final_interaction_type: InteractionType = "executive_summary"
    may_iterate = False

    @override
    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return ()

    @override
    def decide(
        self,
        text: str,
        calls: tuple[ToolCall, ...],
        specs: Sequence[ToolSpec] = (),
        outside: Sequence[str] = (),
    ) -> Decision:
        if conclusion := self.conclude(text, specs, outside):
            return conclusion
        if calls or text.strip():
            return AskAgain(
                "The model asked for tools where there are none", ask_for_text_without_tools()
            )
        return AskAgain("The model gave an empty answer", ask_for_text_without_tools())


class Synthesis(SingleCall):
    """Weighs what several agents found; a single call, recorded as a synthesis."""

    phase: Phase = "synthesizing"
    interaction_type: InteractionType = "synthesis"
    final_interaction_type: InteractionType = "synthesis"
