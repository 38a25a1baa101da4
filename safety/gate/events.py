"""What the gate saw and did: acts for whoever keeps a trail, with the counters they move."""

import re
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
ActKind = Literal[
    "call.propose",
    "call.block",
    "call.start",
    "call.end",
    "call.verify",
    "call.recover",
    "answer.block",
]
"""Proposed and started are writes only; blocked is any call; what ended is a write; `verify` is a
look at the effect of one, `recover` a call that was refused before and has now succeeded."""

_NO_LABEL = re.compile(r"[^A-Za-z0-9_.:/@+-]")


@dataclass(frozen=True)
class SafetyEvent:
    """One step of a counter. Labels are names of ours, cut and without blanks."""

    counter: Counter
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SafetyAct:
    """Something that belongs in the trail. `facts` are names, states, hashes and reasons.

    `call_id` is empty where it is about an answer.
    """

    kind: ActKind
    call_id: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[SafetyEvent, ...] = ()


class SafetyEvents(Protocol):
    """Keeps the trail of one execution."""

    def note(self, act: SafetyAct) -> None:
        """Take an act in. It is kept, at the latest, together with the result of its call."""
        ...

    async def commit(self) -> None:
        """Return once everything that was noted is kept. What raises here has not been kept, and
        the write that waits for it must not run."""
        ...


class NoEvents:
    """Keeps nothing."""

    def note(self, act: SafetyAct) -> None:
        return None

    async def commit(self) -> None:
        return None


def make_event(counter: Counter, **labels: str) -> SafetyEvent:
    return SafetyEvent(counter, {name: clean_label(text) for name, text in labels.items()})


def clean_label(text: str) -> str:
    """A label that cannot make a series of its own out of every text."""
    return _NO_LABEL.sub("_", text)[:LONGEST_LABEL] or "unknown"
