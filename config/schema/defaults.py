"""`defaults`: what holds where nothing more particular is said."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from config.schema.agents import FallbackConfig, OrchestratorConfig
from config.schema.chains import ScoringConfig
from config.schema.fields import (
    Backend,
    Block,
    Boolean,
    ControlLevel,
    Count,
    Integer,
    List,
    OptionalUrl,
    PositiveDuration,
    SuccessPolicy,
    Text,
    VariableName,
    one_of,
)


class AlertMaskingConfig(Block):
    enabled: Boolean = True
    """Whether secrets in alerts are masked before they are stored."""
    pattern_group: Text = ""
    """The pattern group that is used besides the product's own patterns: `basic`, `secrets`,
    `security`, `kubernetes`, `cloud` or `all`."""


class DefaultSummarizationConfig(Block):
    """Only who summarizes; whether and from what size on is said at each server."""

    llm_provider: Text = ""
    """The provider that summarizes. Empty: the model that the agent works with."""
    llm_backend: Backend | None = None
    """The backend that it is used with. It needs `llm_provider` beside it."""


class EmbeddingConfig(Block):
    provider: Annotated[Literal["google", "openai"], one_of()] = "google"
    """Whose embeddings are used."""
    model: Text = "gemini-embedding-2-preview"
    """The embedding model."""
    api_key_env: VariableName = "GOOGLE_API_KEY"
    """The variable that holds its key."""
    dimensions: Count = 768
    """The length of an embedding."""
    base_url: OptionalUrl = None
    """The address of the service, where it is not the vendor's own."""


class MemoryConfig(Block):
    enabled: Boolean = False
    """Whether lessons of past investigations are kept and told to agents."""
    max_inject: Count = 5
    """How many lessons an agent is told."""
    reflector_memory_limit: Count = 20
    """How many lessons are looked at when new ones are learned."""
    embedding: EmbeddingConfig = EmbeddingConfig()
    """How lessons are compared."""


class DefaultsConfig(Block):
    """`llm_provider` is never empty in a loaded configuration: see `config.providers`.

    A provider may have times of its own for its calls, a tool server for its tools; how they
    lie within each other is checked in `checks.times`.
    """

    llm_provider: Text = ""
    """The provider that is asked where nothing nearer names one. Empty: the built-in provider of
    the first key that the environment holds, else the rehearsal model."""
    llm_backend: Backend = "langchain"
    """How a model is used. `google-native`: the provider's own tools are offered to it.
    `langchain`: they are not."""
    tool_calling: Boolean = True
    """Whether agents use the tool calling of the model. `false`: they call tools by text."""
    max_iterations: Count = 20
    """How many times an agent may ask its model before it has to conclude."""
    success_policy: SuccessPolicy = "any"
    """Whether one agent of a stage has to succeed (`any`) or every one (`all`)."""
    alert_type: Text = "kubernetes"
    """The type of an alert that names none."""
    runbook: Text = ""
    """The text of a runbook for alerts that bring no runbook of their own."""
    fallback_providers: List[FallbackConfig] = ()
    """Providers that take over when the one before fails, in this order."""
    scoring: ScoringConfig = ScoringConfig()
    """How finished investigations are judged."""
    summarization: DefaultSummarizationConfig = DefaultSummarizationConfig()
    """Who summarizes large results of tools."""
    alert_masking: AlertMaskingConfig = AlertMaskingConfig(pattern_group="security")
    """How alerts are masked."""
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    """Limits for sub-agents."""
    memory: MemoryConfig = MemoryConfig()
    """What is learned from past investigations."""
    control_level: ControlLevel = "read_only"
    """What becomes of a call that changes something. `read_only`: it is neither offered nor run.
    `controlled`: a person decides about each one. `autonomous`: a person decides about each one
    that does not repair."""
    iteration_timeout: PositiveDuration = timedelta(minutes=6)
    """How long one answer of a model and the tools that it calls may take together."""
    llm_call_timeout: PositiveDuration = timedelta(minutes=5)
    """How long a whole answer of a model may take."""
    first_token_timeout: PositiveDuration = timedelta(minutes=2)
    """How long a model may take to begin its answer."""
    silence_timeout: PositiveDuration = timedelta(minutes=1)
    """How long a model may be silent in the middle of its answer."""
    retry_after_limit: PositiveDuration = timedelta(seconds=10)
    """For how long a question waits in all because its provider asks for time. When it asks for
    more, the next provider is asked. Where there is none, it gets the time that it asks for, as far
    as the session has it."""
    max_retries: Annotated[Integer, Field(ge=0, le=20)] = 2
    """How many times a failed call to a model is made again. What follows a wait that the provider
    asked for does not count."""
    tool_call_timeout: PositiveDuration = timedelta(seconds=90)
    """How long a tool may go without an answer or a report of progress."""
    tool_call_limit: PositiveDuration = timedelta(minutes=5)
    """How long a tool may take in all, however much progress it reports."""
