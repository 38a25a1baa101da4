"""`agents`, and the small blocks that agents share with chains and defaults."""

from collections.abc import Mapping
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
    Fallback,
    FilledText,
    List,
    PositiveDuration,
    Text,
    by_name,
)


class NativeToolsConfig(Block):
    """Tools that run inside the model's own service; None leaves the provider's choice."""

    google_search: Boolean | None = None
    """Whether the model may search the web with Google."""
    code_execution: Boolean | None = None
    """Whether the model may run code at its provider."""
    url_context: Boolean | None = None
    """Whether the model may open web pages by their address."""

    def overrides(self) -> Mapping[str, bool]:
        """Only what is said here."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in said.items() if value is not None}


class OrchestratorConfig(Block):
    max_concurrent_agents: Count | None = None
    """How many sub-agents may run at once."""
    agent_timeout: PositiveDuration | None = None
    """How long one sub-agent may take."""
    max_budget: PositiveDuration | None = None
    """How long all sub-agents together may take."""


class FallbackConfig(Block):
    """A provider to turn to when the one before it fails."""

    provider: FilledText
    """The name of a provider under `llm_providers`."""
    backend: Backend
    """The `llm_backend` that this provider is used with."""


class SubAgentConfig(Block):
    """An agent that another one may call. It has no sub-agents of its own."""

    name: FilledText
    """The name of an agent under `agents`."""
    llm_provider: Text = ""
    """The provider that this sub-agent asks."""
    llm_backend: Backend | None = None
    """The backend that this sub-agent uses."""
    max_iterations: Count | None = None
    """How many times this sub-agent may ask its model."""
    mcp_servers: List[FilledText] = ()
    """The tool servers that this sub-agent may use."""
    required_skills: List[FilledText] = ()
    """Skills that stand in the prompt of this sub-agent."""
    skills: List[FilledText] | None = None
    """Skills that this sub-agent may load."""


SubAgent = Annotated[SubAgentConfig, BeforeValidator(by_name)]


class AgentConfig(Entry):
    """What an agent is, wherever it is used. `skills` None means all of them.

    `tool_calling: false` lets it call tools by text, also where its model could do better.
    """

    type: AgentType = ""
    """What the agent does. Empty: it investigates with tools. `synthesis`: it joins the results of
    agents that worked side by side. `exec_summary`: it sums a session up in one call. `rules`: it
    has no model and works by packs of rules."""
    description: Text = ""
    """One line that says what the agent is for."""
    mcp_servers: List[FilledText] = ()
    """The tool servers that the agent may use. The chain, the stage and the agent's entry in the
    stage may name others; the innermost list that is not empty counts."""
    custom_instructions: Text = ""
    """Instructions of yours, at the end of the agent's system prompt."""
    llm_backend: Backend | None = None
    """The backend that the agent uses. Unset: that of `defaults`. The chain or the stage may say
    otherwise."""
    tool_calling: Boolean | None = None
    """Whether the agent calls tools through the model's own tool calling. `false`: by text, also
    where the model could do better."""
    max_iterations: Count | None = None
    """How many times the agent may ask its model. Unset: as `defaults` says. The chain or the stage
    may say otherwise."""
    native_tools: NativeToolsConfig = NativeToolsConfig()
    """Tools of the provider's own that this agent switches on or off."""
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    """Limits for the agent's sub-agents."""
    skills: List[FilledText] | None = None
    """Skills that the agent may load. Unset: all of them."""
    required_skills: List[FilledText] = ()
    """Skills whose whole text stands in the agent's prompt."""
    control_level: ControlLevel | None = None
    """What becomes of calls that change something. Unset: as `defaults` says. The chain or the
    stage may say otherwise."""
    packs: List[FilledText] = ()
    """The packs that the agent works by, where it works by rules. Empty: every pack whose tools it
    has."""
    proposes: Boolean = False
    """Whether an agent of rules asks for the repair that its likeliest finding names. Its
    `control_level` has to let it ask: it is `read_only` otherwise."""
    fallback: Fallback | None = None
    """What takes over when every provider of its model has failed. `rules`: the packs."""
