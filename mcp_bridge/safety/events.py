"""What is counted about the gate: plain events, handed to whoever counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

LONGEST_LABEL = 64

Counter = Literal[
    "tarsy_ai_fsm_tool_block_total",
    "tarsy_ai_fsm_final_block_total",
    "tarsy_ai_strict_resolution_block_total",
    "tarsy_ai_routing_mismatch_block_total",
    "tarsy_ai_policy_block_total",
    "tarsy_ai_approval_block_total",
    "tarsy_ai_phantom_detected_total",
    "tarsy_ai_auto_recovery_attempt_total",
    "tarsy_ai_auto_recovery_success_total",
]


@dataclass(frozen=True)
class SafetyEvent:
    """One step of a counter. Labels are names of ours, cut and without blanks."""

    counter: Counter
    labels: Mapping[str, str] = field(default_factory=dict)


class SafetyEvents(Protocol):
    def count(self, event: SafetyEvent) -> None: ...


class NoEvents:
    """Counts nothing."""

    def count(self, event: SafetyEvent) -> None:
        return None


def make_event(counter: Counter, **labels: str) -> SafetyEvent:
    return SafetyEvent(counter, {name: clean_label(text) for name, text in labels.items()})


def clean_label(text: str) -> str:
    """A label that cannot make a series of its own out of every text."""
    return text.replace(" ", "_")[:LONGEST_LABEL] or "unknown"
