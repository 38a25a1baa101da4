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
    """The name of an agent under `agents`."""
    type: AgentType | None = None
    """Another `type` than the agent's own."""
    llm_provider: Text = ""
    """The provider that the agent asks here. Empty: that of the stage, the chain or `defaults`."""
    llm_backend: Backend | None = None
    """The backend that the agent uses here."""
    tool_calling: Boolean | None = None
    """Whether the agent uses the model's own tool calling here."""
    max_iterations: Count | None = None
    """How many times the agent may ask its model here."""
    mcp_servers: List[FilledText] = ()
    """The tool servers that the agent may use here. Empty: those of the stage, the chain or the
    agent."""
    sub_agents: List[SubAgent] | None = None
    """Agents that this agent may call."""
    fallback_providers: List[FallbackConfig] | None = None
    """Providers that take over, in this order. Unset: those of the stage, the chain or `defaults`.
    An empty list: none."""
    required_skills: List[FilledText] = ()
    """Skills that stand in the agent's prompt here, besides those of its own."""
    skills: List[FilledText] | None = None
    """Skills that the agent may load here, besides those of its own."""

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
    """The agent that joins the results. Empty: `SynthesisAgent`."""
    llm_backend: Backend | None = None
    """The backend that the synthesis uses."""
    llm_provider: Text = ""
    """The provider that the synthesis asks. Empty: that of the stage, the chain or `defaults`."""


class StageConfig(Block):
    name: FilledText
    """The name that people see."""
    agents: Annotated[List[StageAgentConfig], Field(min_length=1)]
    """The agents of the stage. They work side by side."""
    replicas: Annotated[Integer, Field(ge=0)] = 1
    """How many copies of the stage's first agent work side by side. With more than one, the other
    agents of the stage do not run."""
    success_policy: SuccessPolicy | None = None
    """Whether one agent has to succeed (`any`) or every one (`all`). Unset: as `defaults` says."""
    llm_provider: Text = ""
    """The provider that the agents of the stage ask. Empty: that of the chain or `defaults`."""
    max_iterations: Count | None = None
    """How many times each agent of the stage may ask its model."""
    mcp_servers: List[FilledText] = ()
    """The tool servers of the stage's agents. Empty: those of the chain, or of each agent."""
    fallback_providers: List[FallbackConfig] | None = None
    """Providers that take over in this stage, in this order. Unset: those of the chain or
    `defaults`. An empty list: none."""
    sub_agents: List[SubAgent] | None = None
    """Agents that the agents of this stage may call."""
    synthesis: SynthesisConfig = SynthesisConfig()
    """Who joins the results of the stage, where more than one agent worked."""
    control_level: ControlLevel | None = None
    """What becomes of calls that change something in this stage. It takes the place of what the
    chain, the agent and `defaults` say."""


class ChatConfig(Block):
    """A chain without this block has no chat."""

    enabled: Boolean = False
    """Whether people may ask questions once an investigation has ended."""
    agent: Text = ""
    """The agent that answers. An enabled chat has to name one."""
    llm_backend: Backend | None = None
    """The backend that the chat uses."""
    llm_provider: Text = ""
    """The provider that the chat asks. Empty: that of the chain or `defaults`."""
    tool_calling: Boolean | None = None
    """Whether the chat uses the model's own tool calling."""
    mcp_servers: List[FilledText] = ()
    """The tool servers of the chat. Empty: those of the chain, or of all agents that investigated.
    """
    max_iterations: Count | None = None
    """How many times the chat may ask its model for one answer."""
    sub_agents: List[SubAgent] | None = None
    """Agents that the chat may call."""


class ScoringConfig(Block):
    enabled: Boolean = False
    """Whether an agent judges the quality of a finished investigation."""
    agent: Text = ""
    """The agent that judges."""
    llm_backend: Backend | None = None
    """The backend that the judge uses."""
    llm_provider: Text = ""
    """The provider that the judge asks."""
    mcp_servers: List[FilledText] = ()
    """The tool servers of the judge."""
    max_iterations: Count | None = None
    """How many times the judge may ask its model."""


class ChainConfig(Entry):
    """The way of an alert. `fallback_providers` None inherits, an empty list clears."""

    alert_types: Annotated[List[FilledText], Field(min_length=1)]
    """The types of alerts that take this chain. A type belongs to one chain; your chain takes it
    from a built-in one."""
    description: Text = ""
    """One line that says what the chain does, for the form that submits alerts."""
    stages: Annotated[List[StageConfig], Field(min_length=1)]
    """The stages, one after the other."""
    chat: ChatConfig = ChatConfig()
    """Questions afterwards. A chain without this block has no chat."""
    scoring: ScoringConfig | None = None
    """A judgement of the finished investigation."""
    llm_provider: Text = ""
    """The provider that the chain's agents ask. Empty: that of `defaults`."""
    executive_summary_provider: Text = ""
    """The provider that writes the executive summary. Empty: that of the chain."""
    llm_backend: Backend | None = None
    """The backend that the chain's agents use."""
    tool_calling: Boolean | None = None
    """Whether the chain's agents use the model's own tool calling."""
    fallback_providers: List[FallbackConfig] | None = None
    """Providers that take over, in this order. Unset: those of `defaults`. An empty list: none."""
    max_iterations: Count | None = None
    """How many times each agent of the chain may ask its model."""
    mcp_servers: List[FilledText] = ()
    """The tool servers of the chain's agents. Empty: those of each agent."""
    sub_agents: List[SubAgent] | None = None
    """Agents that the chain's agents may call."""
    control_level: ControlLevel | None = None
    """What becomes of calls that change something in this chain. It takes the place of what the
    agent and `defaults` say."""
