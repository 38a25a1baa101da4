"""The model of an agent that has none, or whose model cannot be asked here."""

from collections.abc import AsyncIterator, Sequence

from agents.llm_events import LLMEvent
from agents.ports import LLMOptions, RetryRule
from agents.types import Message, ModelName, ToolSpec
from tarsy.errors import LLMError

NO_MODEL = ModelName("", "", "")


class AbsentLLM:
    """Answers nothing, and says why."""

    def __init__(
        self, reason: str = "This agent has no model.", name: ModelName = NO_MODEL
    ) -> None:
        self._reason = reason
        self._name = name

    @property
    def provider_name(self) -> str:
        return self._name.provider_name

    @property
    def model(self) -> str:
        return self._name.model

    @property
    def input_limit(self) -> int:
        return 1_000_000

    @property
    def retry_rule(self) -> RetryRule:
        return RetryRule(max_retries=0)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncIterator[LLMEvent]:
        raise LLMError("credentials", self._reason)
        yield  # pragma: no cover  (it makes this a generator)
