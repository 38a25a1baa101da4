"""What a client needs to know of a provider, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.ports import LLMOptions, RetryRule

ProviderType = Literal["google", "openai", "anthropic", "xai", "vertexai"]
Backend = Literal["langchain", "google-native"]
NativeTool = Literal["google_search", "url_context", "code_execution"]
ReasoningEffort = Literal["minimal", "low", "medium", "high"]


@dataclass(frozen=True)
class CallTimes:
    """Seconds a provider may take for one call, and to answer at all or again within it."""

    call: float = 300.0
    first_chunk: float = 120.0
    stall: float = 60.0

    def within(self, options: LLMOptions) -> "CallTimes":
        """These, with what is said for a single call."""
        said = {
            "call": options.call_timeout,
            "first_chunk": options.first_chunk_timeout,
            "stall": options.stall_timeout,
        }
        return replace(self, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True)
class ProviderSettings:
    """One model of one provider, with its key.

    `api_key_env` is the name of the variable the key came from; error messages name it.
    """

    provider_name: str
    type: ProviderType
    model: str
    api_key: str = field(default="", repr=False)
    api_key_env: str = ""
    base_url: str = ""
    backend: Backend = "langchain"
    reasoning_effort: ReasoningEffort | None = None
    native_tools: frozenset[NativeTool] = frozenset()
    context_window: int = 0
    """Tokens of question and answer; 0 where only the bundled list may know."""
    vertex_project: str = ""
    vertex_location: str = ""
    vertex_credentials: str = field(default="", repr=False)
    """Path of the credentials file, or its JSON."""
    times: CallTimes = CallTimes()
    retry_rule: RetryRule = field(default_factory=RetryRule)
    quirks: Mapping[str, bool] = field(default_factory=dict)
    """What the operator knows better than the table of quirks, by the names there."""
