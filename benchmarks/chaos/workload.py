"""The alerts of a run, and what the model says and does to each: all of it from the seed."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.scripts import Rule, Script

MARK = re.compile(r"chaos-\d{4}")
"""Stands in an alert and in every request about it, so that a model's log can be told apart."""
FAULTY_TURN = 1
_TOOL_CALL = {"name": "ops__metrics", "arguments": {"action": "load"}}
INVESTIGATES = "^(Solo|Member|Writer)"
WRITES = "writes"
"""The alert type whose agent makes its alert's mark."""
_LOOKS = "^(Solo|Member)"
_NAMED = {"name": "{% set at = alert.find('chaos-') %}{{ alert[at:at + 10] }}"}
_FAULTS: dict[str, Rule] = {
    "model answers 429": {
        "times": 2,
        "reply": {"error": {"status": 429, "message": "slow down", "retry_after": 1}},
    },
    "model answers 500": {"times": 1, "reply": {"error": {"status": 500, "message": "oops"}}},
    "model cuts its stream": {
        "times": 1,
        "reply": {"text": "The load of this host is about to be", "cut_after": 5},
    },
}
MODEL_FAULTS = tuple(_FAULTS)
FAULTY_ANSWERS: dict[str, int] = {name: fault["times"] for name, fault in _FAULTS.items()}
# The mark is repeated, so that the summary of the report can be told apart as well.
_REPORT = """{% set at = agents.find("chaos-") %}
## Conclusion
The load is normal{% if at >= 0 %} ({{ agents[at:at + 10] }}){% endif %}. Confidence: high

## Evidence
1. The host answered [T1].

## Next steps
1. Nothing.
"""


@dataclass(frozen=True)
class PlannedAlert:
    mark: str
    alert_type: str
    model_fault: str
    """One of `MODEL_FAULTS`, or empty."""

    @property
    def data(self) -> str:
        return f"{self.mark}: the load is high"


def plan_alerts(chance: random.Random, count: int) -> list[PlannedAlert]:
    """A quarter run three agents side by side, a quarter write, two fifths meet a fault of the
    model."""
    return [
        PlannedAlert(
            f"chaos-{number:04}",
            chance.choice(("direct", "direct", "stages-of-3", WRITES)),
            chance.choice(MODEL_FAULTS) if chance.random() < 0.4 else "",
        )
        for number in range(count)
    ]


def write_script(alerts: Sequence[PlannedAlert], chance: random.Random) -> Script:
    """Two rounds of about two seconds with a tool call each, then a report."""
    faults = [
        {
            "when": {"agent": INVESTIGATES, "turn": FAULTY_TURN, "anywhere": rf"{each.mark}\b"},
            **_FAULTS[each.model_fault],
        }
        for each in alerts
        if each.model_fault
    ]
    rounds = [
        {
            "when": {"agent": agent, "turn": turn},
            "reply": {"text": _words(chance), "tool_calls": [call], "tokens_per_second": 20},
        }
        for agent, turn, call in (
            (_LOOKS, 0, _TOOL_CALL),
            (_LOOKS, 1, _TOOL_CALL),
            ("^Writer", 0, {"name": "marks__list", "arguments": _NAMED}),
            ("^Writer", 1, {"name": "marks__make", "arguments": _NAMED}),
            ("^Writer", 2, {"name": "marks__list", "arguments": _NAMED}),
        )
    ]
    summary = {"when": {"agent": "^ExecSummaryAgent"}, "reply": {"text": "The load was normal."}}
    report = {"reply": {"text": _REPORT, "tokens_per_second": 60}}
    return {"rules": [*faults, *rounds, summary, report]}


def _words(chance: random.Random) -> str:
    known = ["disk", "load", "host", "memory", "the", "is", "full", "not", "still", "swap", "log"]
    return " ".join(chance.choice(known) for _ in range(36))
