"""Tools through the provider's own function calling."""

import uuid
from collections.abc import Sequence

from typing_extensions import override

from agents.controllers.base import AskAgain, CallTools, Conclude, Controller, Decision
from agents.controllers.written import Written, read_written
from agents.llm.wire_values import is_json_object
from agents.prompts.nudges import ask_after_empty_answer, ask_for_real_call
from agents.types import InteractionType, Phase, ToolCall, ToolSpec

_LONGEST_EXCERPT = 300


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
    def decide(
        self,
        text: str,
        calls: tuple[ToolCall, ...],
        specs: Sequence[ToolSpec] = (),
        outside: Sequence[str] = (),
    ) -> Decision:
        if calls:
            return CallTools(calls)
        written = read_written(text, specs, outside)
        if written is not None:
            return _take(written)
        if text.strip():
            return Conclude(text.strip())
        return AskAgain("The model gave an empty answer", ask_after_empty_answer())

    @override
    def refuse(self, call: ToolCall) -> str:
        """Arguments that were cut or are no JSON would have to be guessed."""
        if not call.arguments.strip() or is_json_object(call.arguments):
            return ""
        return (
            f"{call.name} was not run: its arguments are no JSON object. They began: "
            f"{call.arguments[:_LONGEST_EXCERPT]!r}. Call it again with one whole JSON object."
        )


def ask_to_make_call() -> AskAgain:
    """For a call that is only written and must not be run as it stands."""
    return AskAgain(
        "The model wrote of a call instead of making it",
        ask_for_real_call(),
        code="written_call",
        may_conclude=True,
    )


def _take(written: Written) -> Decision:
    """What was only written is run where it is clear, and asked for properly where it is not."""
    if not written.calls:
        return ask_to_make_call()
    calls = tuple(
        ToolCall(f"written_{uuid.uuid4().hex[:24]}", call.name, call.arguments)
        for call in written.calls
    )
    names = ", ".join(dict.fromkeys(call.name for call in calls))
    return CallTools(
        calls,
        kept=written.rest,
        shown=written.rest or None,
        is_alone=not written.around,
        note=f"The model wrote its call of {names} as text. It was read there and run as a call.",
    )
