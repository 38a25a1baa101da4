"""What prompts are made of, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from agents.types import ToolSpec

BUILT_IN_HOLIDAYS: Mapping[str, str] = {"01-01": "New Year's Day", "12-25": "Christmas Day"}

ItemKind = Literal[
    "thinking", "response", "tool_call", "web_search", "web_pages", "code_run", "final_analysis",
    "error",
]  # fmt: skip
_TITLES: Mapping[ItemKind, str] = {
    "thinking": "Thinking",
    "response": "Said",
    "tool_call": "Tool call",
    "web_search": "Web search by the model's provider",
    "web_pages": "Web pages read by the model's provider",
    "code_run": "Code run by the model's provider",
    "final_analysis": "Final analysis",
    "error": "Error",
}


@dataclass(frozen=True)
class Alert:
    """An alert as it is shown to a model: masked, and still text from outside."""

    alert_type: str
    data: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    """More of it worth showing, such as the author or the time it arrived."""


@dataclass(frozen=True)
class Skill:
    """Operator-written know-how that an agent is given in full."""

    name: str
    body: str


@dataclass(frozen=True)
class StageResult:
    """An earlier stage; `final_analysis` is empty when it brought none."""

    name: str
    final_analysis: str
    is_by_rules: bool = False


@dataclass(frozen=True)
class PromptInput:
    """All an investigating agent is told before its first answer.

    `now` is in UTC. `server_instructions` is what the operator says of connected servers,
    `server_words` what they say of themselves, `unavailable` names each that could not be reached
    with the reason; all three come from the toolbox. `runbook_problem` says why the runbook that
    the alert names is not what `runbook` holds.
    """

    agent_name: str
    now: datetime
    alert: Alert
    runbook: str = ""
    runbook_problem: str = ""
    server_instructions: Mapping[str, str] = field(default_factory=dict)
    server_words: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    skills: tuple[Skill, ...] = ()
    agent_instructions: str = ""
    previous_stages: tuple[StageResult, ...] = ()
    has_tools: bool = True
    provider_tools: tuple[str, ...] = ()
    """What the model's provider does by itself, where there are no tools of ours."""
    is_react: bool = False
    """The agent calls tools by text, in the form that the prompt prescribes."""
    tools: tuple[ToolSpec, ...] = ()
    """Tools to describe in the prompt, because the provider is not given them."""
    holidays: Mapping[str, str] = field(default_factory=lambda: BUILT_IN_HOLIDAYS)
    """Names by `MM-DD`."""


@dataclass(frozen=True)
class TimelineItem:
    """One step of an investigation. A tool call's text begins with its number, `[T5]`."""

    kind: ItemKind
    text: str
    is_broken_off: bool = False
    """The agent was stopped before the text was complete."""

    @property
    def title(self) -> str:
        return f"{_TITLES[self.kind]}{', broken off' if self.is_broken_off else ''}"


@dataclass(frozen=True)
class AgentFindings:
    """What one of several agents did and found."""

    agent_name: str
    backend: str
    model: str
    status: str
    items: tuple[TimelineItem, ...]
    error: str = ""

    @property
    def is_completed(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True)
class SynthesisInput:
    """What an agent that weighs several investigations is told."""

    agent_name: str
    now: datetime
    alert: Alert
    stage_name: str
    findings: tuple[AgentFindings, ...]
    runbook: str = ""
    runbook_problem: str = ""
    skills: tuple[Skill, ...] = ()
    agent_instructions: str = ""
    previous_stages: tuple[StageResult, ...] = ()
    provider_tools: tuple[str, ...] = ()
    holidays: Mapping[str, str] = field(default_factory=lambda: BUILT_IN_HOLIDAYS)


@dataclass(frozen=True)
class ExecutiveSummaryInput:
    """The report that is to be put into a few lines."""

    agent_name: str
    final_analysis: str


@dataclass(frozen=True)
class ChatStage:
    """One stage of the investigation a question is about."""

    name: str
    status: str
    agents: tuple[AgentFindings, ...]


@dataclass(frozen=True)
class Exchange:
    """A question that was asked before; `answer` is empty when none came.

    `items` is what was done to answer it, results in short form.
    """

    author: str
    question: str
    answer: str
    items: tuple[TimelineItem, ...] = ()


@dataclass(frozen=True)
class ChatInput:
    """What an agent that answers a question about an investigation is told."""

    agent_name: str
    now: datetime
    alert: Alert
    stages: tuple[ChatStage, ...]
    author: str
    question: str
    exchanges: tuple[Exchange, ...] = ()
    runbook: str = ""
    runbook_problem: str = ""
    server_instructions: Mapping[str, str] = field(default_factory=dict)
    server_words: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    skills: tuple[Skill, ...] = ()
    agent_instructions: str = ""
    has_tools: bool = True
    provider_tools: tuple[str, ...] = ()
    can_recall: bool = False
    """It may ask for earlier results as they were."""
    is_react: bool = False
    tools: tuple[ToolSpec, ...] = ()
    holidays: Mapping[str, str] = field(default_factory=lambda: BUILT_IN_HOLIDAYS)
