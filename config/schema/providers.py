"""`llm_providers`: the models that can be asked, and where their keys are."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from config.schema.fields import (
    Block,
    Boolean,
    Entry,
    FilledText,
    Integer,
    OptionalUrl,
    PositiveDuration,
    Table,
    VariableName,
    nothing,
    one_of,
)

ProviderType = Literal["google", "openai", "anthropic", "xai", "vertexai"]

_USUAL_KEYS: Mapping[ProviderType, tuple[str, ...]] = {
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "vertexai": (),
}


def has_native_tools(provider_type: str, model: str) -> bool:
    """Whether a model can have tools that run at its provider: those of Google's Gemini can."""
    return provider_type in ("google", "vertexai") and "gemini" in model.lower()


class QuirksConfig(Block):
    """What this endpoint needs or refuses, where it differs from what is known of its like."""

    stream_options: Boolean | None = None
    """Whether it may be asked to count tokens with `stream_options`."""
    max_completion_tokens: Boolean | None = None
    """Whether the limit of an answer is called `max_completion_tokens` and not `max_tokens`."""
    reasoning_effort: Boolean | None = None
    """Whether it may be told how much to think."""
    thinks_with_tools: Boolean | None = None
    """Whether it may think where it has tools, and need not be told to think nothing there."""
    replays_thinking: Boolean | None = None
    """Whether the model's thoughts go back to it with the calls that they led to."""
    needs_thinking: Boolean | None = None
    """Whether it refuses calls without thoughts, so that a blank stands for missing ones."""
    replays_extras: Boolean | None = None
    """Whether members that it put beside its calls, such as signatures, go back to it."""
    needs_signatures: Boolean | None = None
    """Whether it refuses calls of other models because they have no signature of its own."""
    assistant_after_tool: Boolean | None = None
    """Whether a line of the assistant has to stand between a result and the next question."""
    keeps_tools: Boolean | None = None
    """Whether tools have to be sent as long as the conversation has calls, if only to forbid
    them."""
    tool_choice: Boolean | None = None
    """Whether it knows `tool_choice`."""
    short_call_ids: Boolean | None = None
    """Whether the id of a call has to have nine letters or digits."""
    system_role: Boolean | None = None
    """Whether it takes instructions in the role `system`. `false`: they head the first question."""
    single_calls: Boolean | None = None
    """Whether a message may hold one call at most, so that several go back one after the other."""

    def overrides(self) -> Mapping[str, bool]:
        """Only what is said here."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in said.items() if value is not None}


class LLMProviderConfig(Entry):
    """One model of one vendor. Holds names of variables, never a key.

    No time and no number of retries is None in a loaded configuration: `defaults` fill them.
    """

    type: Annotated[ProviderType, one_of()]
    """Whose model it is. `openai` is also any OpenAI-compatible endpoint, with `base_url`."""
    model: FilledText
    """The name of the model at its vendor."""
    api_key_env: VariableName = ""
    """The variable that holds the key. Empty: the usual one of the vendor."""
    api_key_optional: Boolean = False
    """Whether the model may be asked without a key."""
    credentials_env: VariableName = ""
    """The variable that holds the credentials for Vertex AI."""
    project_env: VariableName = ""
    """The variable that holds the project for Vertex AI. Empty: `GOOGLE_CLOUD_PROJECT`."""
    location_env: VariableName = ""
    """The variable that holds the location for Vertex AI. Empty: `GOOGLE_CLOUD_LOCATION`."""
    base_url: OptionalUrl = None
    """The address of the endpoint, where it is not the vendor's own."""
    tool_calling: Boolean = True
    """Whether the model can call tools. `false`: agents call tools by text."""
    context_window: Annotated[Integer, Field(ge=1000)] | None = None
    """How many tokens of question and answer the model takes. Unset: as litellm's bundled list
    says, else 128,000."""
    native_tools: Table[Boolean] = Field(default_factory=nothing)
    """Tools that run at the provider, each `true` or `false`: `google_search`, `code_execution`,
    `url_context`."""
    quirks: QuirksConfig = Field(default_factory=QuirksConfig)
    """What an OpenAI-compatible endpoint needs or refuses. What is not said here is known from its
    address and the family of its model, or learned from its first refusal."""
    llm_call_timeout: PositiveDuration | None = None
    """How long a whole answer of this model may take. Unset: as `defaults` says."""
    first_token_timeout: PositiveDuration | None = None
    """How long this model may take to begin. Unset: as `defaults` says."""
    silence_timeout: PositiveDuration | None = None
    """How long this model may be silent in the middle of an answer. Unset: as `defaults` says."""
    retry_after_limit: PositiveDuration | None = None
    """For how long a question waits in all because this provider asks for time, before another
    provider is asked. Unset: as `defaults` says."""
    max_retries: Annotated[Integer, Field(ge=0, le=20)] | None = None
    """How many times a failed call to this model is made again. Unset: as `defaults` says."""

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that may hold the key, the first that is set counts."""
        usual = _USUAL_KEYS[self.type]
        if not self.api_key_env:
            return usual
        # Google's own libraries read either of their two names, so either is good for us too.
        return usual if self.type == "google" and self.api_key_env in usual else (self.api_key_env,)

    @property
    def needs_key(self) -> bool:
        """Whether a call without a key is bound to fail."""
        if self.api_key_optional or not self.key_variables:
            return False
        return bool(self.api_key_env) or self.base_url is None

    def api_key(self, environ: Mapping[str, str]) -> str | None:
        """The key, or None where no variable of it is set."""
        for variable in self.key_variables:
            if key := environ.get(variable, "").strip():
                return key
        return None

    def missing_variables(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """The variables without which a call is bound to fail, by the key that names them."""
        needed = {}
        if self.needs_key and self.api_key(environ) is None:
            needed["api_key_env"] = " or ".join(self.key_variables)
        if self.type == "vertexai":
            needed["project_env"] = self.project_variable
            needed["location_env"] = self.location_variable
            needed["credentials_env"] = self.credentials_env
        return {
            key: name for key, name in needed.items() if name and not environ.get(name, "").strip()
        }

    @property
    def project_variable(self) -> str:
        return self.project_env or "GOOGLE_CLOUD_PROJECT"

    @property
    def location_variable(self) -> str:
        return self.location_env or "GOOGLE_CLOUD_LOCATION"
