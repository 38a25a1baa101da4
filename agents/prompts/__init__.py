"""Prompts: template files and the builders that fill them."""

from agents.prompts.builders import (
    build_executive_summary,
    build_investigation,
    build_synthesis,
)
from agents.prompts.inputs import (
    AgentFindings,
    Alert,
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
    "ExecutiveSummaryInput",
    "PromptInput",
    "Skill",
    "StageResult",
    "SynthesisInput",
    "TimelineItem",
    "ask_to_conclude",
    "build_executive_summary",
    "build_investigation",
    "build_synthesis",
]
