"""`defaults`: what holds where nothing more particular is said."""

from datetime import timedelta
from typing import Annotated, Literal

from config.schema.agents import FallbackConfig, OrchestratorConfig
from config.schema.chains import ScoringConfig
from config.schema.fields import (
    Backend,
    Block,
    Boolean,
    ControlLevel,
    Count,
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
    pattern_group: Text = ""


class DefaultSummarizationConfig(Block):
    """Only who summarizes; whether and from what size on is said at each server."""

    llm_provider: Text = ""
    llm_backend: Backend | None = None


class EmbeddingConfig(Block):
    provider: Annotated[Literal["google", "openai"], one_of()] = "google"
    model: Text = "gemini-embedding-2-preview"
    api_key_env: VariableName = "GOOGLE_API_KEY"
    dimensions: Count = 768
    base_url: OptionalUrl = None


class MemoryConfig(Block):
    enabled: Boolean = False
    max_inject: Count = 5
    reflector_memory_limit: Count = 20
    embedding: EmbeddingConfig = EmbeddingConfig()


class DefaultsConfig(Block):
    """`llm_provider` is never empty in a loaded configuration: see `config.providers`.

    A provider may have times of its own for its calls, a tool server for its tools; how they
    lie within each other is checked in `checks.times`.
    """

    llm_provider: Text = ""
    llm_backend: Backend = "langchain"
    tool_calling: Boolean = True
    max_iterations: Count = 20
    success_policy: SuccessPolicy = "any"
    alert_type: Text = "kubernetes"
    runbook: Text = ""
    fallback_providers: List[FallbackConfig] = ()
    scoring: ScoringConfig = ScoringConfig()
    summarization: DefaultSummarizationConfig = DefaultSummarizationConfig()
    alert_masking: AlertMaskingConfig = AlertMaskingConfig(pattern_group="security")
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    memory: MemoryConfig = MemoryConfig()
    control_level: ControlLevel = "read_only"
    iteration_timeout: PositiveDuration = timedelta(minutes=6)
    llm_call_timeout: PositiveDuration = timedelta(minutes=5)
    first_token_timeout: PositiveDuration = timedelta(minutes=2)
    silence_timeout: PositiveDuration = timedelta(minutes=1)
    retry_after_limit: PositiveDuration = timedelta(minutes=1)
    tool_call_timeout: PositiveDuration = timedelta(seconds=90)
