"""Prompts: template files and the builders that fill them."""

from agents.prompts.builders import (
    build_chat,
    build_executive_summary,
    build_investigation,
    build_synthesis,
)
from agents.prompts.inputs import (
    AgentFindings,
    Alert,
    ChatInput,
    ChatStage,
    Exchange,
    ExecutiveSummaryInput,
    PromptInput,
    Skill,
    StageResult,
    SynthesisInput,
    TimelineItem,
)
from agents.prompts.nudges import ask_to_conclude

__all__ = [
    "AgentFindings",
    "Alert",
    "ChatInput",
    "ChatStage",
    "Exchange",
    "ExecutiveSummaryInput",
    "PromptInput",
    "Skill",
    "StageResult",
    "SynthesisInput",
    "TimelineItem",
    "ask_to_conclude",
    "build_chat",
    "build_executive_summary",
    "build_investigation",
    "build_synthesis",
]
