"""The one act that an agent of rules may ask for: the repair that its likeliest finding names.

It is a call like any other and goes through the gate, which asks a person. Afterwards the same
packs look again, and whether they still find it says what became of it.
"""

import hashlib
from collections.abc import Sequence

from agents.types import ToolCall, ToolSpec
from rules.documents import Reply
from rules.findings import Repair
from rules.ranking import Ranked

AFTERWARDS = "afterwards"
"""What tells the calls of the second look from those of the first."""


NOT_OFFERED = "its tool is not offered to this agent"


def choose_repair(ranked: Ranked) -> Repair | None:
    """That of the first cause, where it is at least likely."""
    if not ranked.causes or ranked.causes[0].finding.sure == "possible":
        return None
    return ranked.causes[0].finding.repair


def make_call(repair: Repair, specs: Sequence[ToolSpec]) -> ToolCall | None:
    """The call; None where its tool is not offered. The same repair is always the same call."""
    for spec in specs:
        server, _, tool = spec.name.rpartition(".")
        if tool == repair.tool and repair.server in ("", server):
            known = hashlib.sha256(f"{spec.wire_name}\0{repair.arguments}".encode())
            return ToolCall(f"repair_{known.hexdigest()[:24]}", spec.wire_name, repair.arguments)
    return None


def read_refusal(reply: Reply | None) -> str:
    """Why the call changed nothing; empty where it ran."""
    if reply is None:
        return "it was not made"
    return reply.failure


def is_gone(before: Ranked, afterwards: Ranked) -> bool:
    """Whether what was found first is not found any more."""
    first = before.causes[0].finding
    return not any(
        (each.finding.rule, each.finding.entity) == (first.rule, first.entity)
        for each in (*afterwards.causes, *afterwards.aside)
    )
