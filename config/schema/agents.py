"""`agents`, and the small blocks that agents share with chains and defaults."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator

from config.schema.fields import (
    AgentType,
    Backend,
    Block,
    Boolean,
    ControlLevel,
    Count,
    Entry,
    FilledText,
    List,
    PositiveDuration,
    Text,
    by_name,
)


class NativeToolsConfig(Block):
    """Tools that run inside the model's own service; None leaves the provider's choice."""

    google_search: Boolean | None = None
    code_execution: Boolean | None = None
    url_context: Boolean | None = None

    def overrides(self) -> Mapping[str, bool]:
        """Only what is said here."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in said.items() if value is not None}


class OrchestratorConfig(Block):
    max_concurrent_agents: Count | None = None
    agent_timeout: PositiveDuration | None = None
    max_budget: PositiveDuration | None = None


DEFAULT_ORCHESTRATOR = OrchestratorConfig(
    max_concurrent_agents=5,
    agent_timeout=timedelta(seconds=420),
    max_budget=timedelta(seconds=900),
)


class FallbackConfig(Block):
    """A provider to turn to when the one before it fails."""

    provider: FilledText
    backend: Backend


class SubAgentConfig(Block):
    """An agent that another one may call. It has no sub-agents of its own."""

    name: FilledText
    llm_provider: Text = ""
    llm_backend: Backend | None = None
    max_iterations: Count | None = None
    mcp_servers: List[FilledText] = ()
    required_skills: List[FilledText] = ()
    skills: List[FilledText] | None = None


SubAgent = Annotated[SubAgentConfig, BeforeValidator(by_name)]


class AgentConfig(Entry):
    """What an agent is, wherever it is used. `skills` None means all of them.

    `tool_calling: false` lets it call tools by text, also where its model could do better.
    """

    type: AgentType = ""
    description: Text = ""
    mcp_servers: List[FilledText] = ()
    custom_instructions: Text = ""
    llm_backend: Backend | None = None
    tool_calling: Boolean | None = None
    max_iterations: Count | None = None
    native_tools: NativeToolsConfig = NativeToolsConfig()
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    skills: List[FilledText] | None = None
    required_skills: List[FilledText] = ()
    control_level: ControlLevel | None = None
