"""`defaults`: what holds where nothing more particular is said."""

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
    """`llm_provider` is never empty in a loaded configuration: see `config.providers`."""

    llm_provider: Text = ""
    llm_backend: Backend = "langchain"
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
