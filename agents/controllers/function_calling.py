"""Tools through the provider's own function calling."""

from collections.abc import Sequence

from typing_extensions import override

from agents.controllers.base import AskAgain, CallTools, Controller, Decision
from agents.prompts.nudges import ask_after_empty_answer
from agents.types import InteractionType, Phase, ToolCall, ToolSpec


class FunctionCalling(Controller):
    """Calls tools as long as the model proposes some; the first answer without any is final."""

    phase: Phase = "investigating"
    interaction_type: InteractionType = "iteration"
    final_interaction_type: InteractionType = "final_analysis"
    may_iterate = True

    @override
    def offer(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return tuple(specs)

    @override
    def decide(self, text: str, calls: tuple[ToolCall, ...]) -> Decision:
        if calls:
            return CallTools(calls)
        if conclusion := self.conclude(text):
            return conclusion
        return AskAgain("The model gave an empty answer", ask_after_empty_answer())
