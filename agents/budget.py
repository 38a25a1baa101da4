"""How long the questions of one execution may be."""

from collections.abc import Sequence

from agents.answers import Failure
from agents.compaction import TARGET, Fitted, fit_conversation
from agents.estimating import weigh_tools
from agents.ports import LLM
from agents.types import Message, ToolSpec


class ContextBudget:
    """Fits questions to what their model takes, and learns when it takes less than was thought."""

    def __init__(self, *, can_recall: bool) -> None:
        self._can_recall = can_recall
        self._learned: dict[tuple[str, str], int] = {}

    def fit(self, messages: Sequence[Message], tools: Sequence[ToolSpec], llm: LLM) -> Fitted:
        """The conversation as this model can be presented it together with these tools."""
        return fit_conversation(
            messages,
            limit=self._learned.get(_identify(llm), llm.input_limit),
            overhead=weigh_tools(tools),
            can_recall=self._can_recall,
        )

    def tighten(
        self, refused: Fitted, messages: Sequence[Message], tools: Sequence[ToolSpec], llm: LLM
    ) -> bool:
        """After a question was refused as too long: whether a shorter one can be asked.

        Once for each model; what it refuses then is refused for good.
        """
        if _identify(llm) in self._learned:
            return False
        self._learned[_identify(llm)] = int(min(refused.tokens, llm.input_limit) * TARGET)
        shorter = self.fit(messages, tools, llm)
        return shorter.tokens < refused.tokens


def explain_too_long(fitted: Fitted, llm: LLM) -> Failure:
    """Why a question is not asked at all."""
    return Failure(
        "context_window",
        f"The question has about {fitted.tokens:,} tokens even with old tool results in short "
        f"form, and {llm.model} takes about {llm.input_limit:,} beside its answer. Choose a model "
        f"with a larger context window; if this one has it, set context_window for the provider "
        f"{llm.provider_name}.",
    )


def _identify(llm: LLM) -> tuple[str, str]:
    return llm.provider_name, llm.model
