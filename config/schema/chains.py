"""`agent_chains`: which stages an alert type goes through."""

from typing import Annotated, Self

from pydantic import Field, PrivateAttr

from config.schema.agents import FallbackConfig, SubAgent
from config.schema.fields import (
    AgentType,
    Backend,
    Block,
    Boolean,
    ControlLevel,
    Count,
    Entry,
    FilledText,
    Integer,
    List,
    SuccessPolicy,
    Text,
)


class StageAgentConfig(Block):
    """An agent at work in a stage. Replicas share a definition and differ in name."""

    name: FilledText
    type: AgentType | None = None
    llm_provider: Text = ""
    llm_backend: Backend | None = None
    tool_calling: Boolean | None = None
    max_iterations: Count | None = None
    mcp_servers: List[FilledText] = ()
    sub_agents: List[SubAgent] | None = None
    fallback_providers: List[FallbackConfig] | None = None
    required_skills: List[FilledText] = ()
    skills: List[FilledText] | None = None

    _definition: str = PrivateAttr(default="")

    @property
    def definition(self) -> str:
        """The name under which `agents` knows it."""
        return self._definition or self.name

    def replica(self, number: int) -> Self:
        """The number-th of several alike, under a name of its own."""
        copy = self.model_copy(update={"name": f"{self.name}-{number}"})
        copy._definition = self.definition
        return copy


class SynthesisConfig(Block):
    agent: Text = ""
    llm_backend: Backend | None = None
    llm_provider: Text = ""


class StageConfig(Block):
    name: FilledText
    agents: Annotated[List[StageAgentConfig], Field(min_length=1)]
    replicas: Annotated[Integer, Field(ge=0)] = 1
    success_policy: SuccessPolicy | None = None
    llm_provider: Text = ""
    max_iterations: Count | None = None
    mcp_servers: List[FilledText] = ()
    fallback_providers: List[FallbackConfig] | None = None
    sub_agents: List[SubAgent] | None = None
    synthesis: SynthesisConfig = SynthesisConfig()
    control_level: ControlLevel | None = None


class ChatConfig(Block):
    """A chain without this block has no chat."""

    enabled: Boolean = False
    agent: Text = ""
    llm_backend: Backend | None = None
    llm_provider: Text = ""
    tool_calling: Boolean | None = None
    mcp_servers: List[FilledText] = ()
    max_iterations: Count | None = None
    sub_agents: List[SubAgent] | None = None


class ScoringConfig(Block):
    enabled: Boolean = False
    agent: Text = ""
    llm_backend: Backend | None = None
    llm_provider: Text = ""
    mcp_servers: List[FilledText] = ()
    max_iterations: Count | None = None


class ChainConfig(Entry):
    """The way of an alert. `fallback_providers` None inherits, an empty list clears."""

    alert_types: Annotated[List[FilledText], Field(min_length=1)]
    description: Text = ""
    stages: Annotated[List[StageConfig], Field(min_length=1)]
    chat: ChatConfig = ChatConfig()
    scoring: ScoringConfig | None = None
    llm_provider: Text = ""
    executive_summary_provider: Text = ""
    llm_backend: Backend | None = None
    tool_calling: Boolean | None = None
    fallback_providers: List[FallbackConfig] | None = None
    max_iterations: Count | None = None
    mcp_servers: List[FilledText] = ()
    sub_agents: List[SubAgent] | None = None
    control_level: ControlLevel | None = None
