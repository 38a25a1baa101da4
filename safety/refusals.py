"""Refusals as the model gets them: an envelope of facts, with a code, and no advice to it.

The details say for people what would let the call pass, as `to_allow` (`safety.ways_out`). The
words of a refusal stand beside the rule that refuses, as they name what the rule looked at:

`safety.gate.safety_gate`               FSM_BLOCKED; POLICY_BLOCKED: read-only, a check that writes
`safety.gate.resolution`                STRICT_RESOLUTION, ACTION_NOT_ALLOWED
`safety.gate.routing`                   ROUTING_MISMATCH, EXECUTION_CONTEXT_UNAVAILABLE
`safety.gate.egress`                    POLICY_BLOCKED: a machine that nobody has named
`safety.gate.file_changes`              a file that cannot be changed so, with the code of `ops`
`safety.gate.approval.asking_a_person`  APPROVAL_REQUIRED; POLICY_BLOCKED: nobody would see it all
`mcp_bridge.admission`                  NOT_FOUND, INVALID_INPUT; POLICY_BLOCKED: not selected
`mcp_bridge.operator_access`            POLICY_BLOCKED: a person's own call without --allow-write
`mcp_bridge.sending`                    EXECUTION_FAILED: not sent, failed, nothing came back
`mcp_bridge.results`                    EXECUTION_FAILED: what came back cannot be masked, our fault
`mcp_bridge.own_reads`                  EXECUTION_FAILED: a check that was not made

Two kinds come from elsewhere: whatever raises `Refused` in `safety.commands` says why a command is
no read, and whatever raises `ToolFailure` in `ops` says what a tool leaves alone.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Literal

from agents.types import JSON
from safety.ways_out import Rule, explain_way_out

MOST_BEGINNINGS = 50
NOT_CARRIED_OUT = "not carried out"
_BEGINNING = re.compile(r'^\{(?=\s{0,40}")', re.MULTILINE)
_OUR_BEGINNING = re.compile(r'^\{(?=\s{0,40}"ok"\s{0,9}:)', re.MULTILINE)
_DECODER = json.JSONDecoder()

RefusalCode = Literal[
    "FSM_BLOCKED",
    "STRICT_RESOLUTION",
    "ROUTING_MISMATCH",
    "EXECUTION_CONTEXT_UNAVAILABLE",
    "ACTION_NOT_ALLOWED",
    "POLICY_BLOCKED",
    "APPROVAL_REQUIRED",
    "EXECUTION_FAILED",
    "INVALID_INPUT",
    "NOT_FOUND",
]


@dataclass(frozen=True)
class Refusal:
    """Why a call did not run. `blocked`: a rule stopped it before anything was sent."""

    code: RefusalCode
    message: str
    details: Mapping[str, JSON] = field(default_factory=dict)
    blocked: bool = True
    retryable: bool = False
    rule: Rule | None = field(kw_only=True)
    """The rule that refused; None for what was let through and failed."""

    def to_json(self) -> dict[str, JSON]:
        details = dict(self.details)
        if self.rule is not None:
            tool = str(details.get("tool") or "")
            details.setdefault("to_allow", explain_way_out(self.rule, tool))
        error: dict[str, JSON] = {
            "code": self.code,
            "message": self.message,
            "blocked": self.blocked,
            "failed": not self.blocked,
            "retryable": self.retryable,
            "details": details,
        }
        return {"ok": False, "data": None, "error": error, "meta": {}}

    def to_text(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False)


def leave_open(message: str, details: Mapping[str, JSON] = MappingProxyType({})) -> Refusal:
    """A write of which nobody knows whether it took effect. `reason` among the details says why."""
    told = {**details, "outcome": "unknown"}
    return Refusal("EXECUTION_FAILED", message, told, blocked=False, rule=None)


def report_undone(message: str, reason: str, *, retryable: bool) -> Refusal:
    """A call that was let through and not carried out, for a reason that is told as a clause."""
    details: dict[str, JSON] = {"outcome": NOT_CARRIED_OUT, "reason": reason}
    return report_failure(message, retryable=retryable, **details)


def read_details(text: str) -> dict[str, JSON]:
    """What our own envelope says beside its message; empty where a text is none of ours."""
    details = read_error(text).get("details") if text.startswith("{") else None
    return details if isinstance(details, dict) else {}


def report_failure(message: str, *, retryable: bool = False, **details: JSON) -> Refusal:
    """A call that was let through and of which nothing came."""
    return Refusal(
        "EXECUTION_FAILED", message, details, blocked=False, retryable=retryable, rule=None
    )


def read_envelope(text: str) -> dict[str, JSON] | None:
    """The first envelope that stands in a text at the start of a line, None where there is none.

    Of beginnings that may be one only so many are read: each may go on to the end of the text.
    """
    starts = islice((begun.start() for begun in _BEGINNING.finditer(text)), MOST_BEGINNINGS)
    surely = islice((begun.start() for begun in _OUR_BEGINNING.finditer(text)), MOST_BEGINNINGS)
    for start in sorted({*starts, *surely}):
        try:
            # What is wrong with a text is told by its line, counted from its beginning.
            found, _ = _DECODER.raw_decode(text[start:])
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and isinstance(found.get("ok"), bool):
            return found
    return None


def read_error(text: str) -> dict[str, JSON]:
    """The error of the envelope in a text; empty where there is none, or none with an error."""
    envelope = read_envelope(text)
    error = envelope.get("error") if envelope is not None and envelope["ok"] is False else None
    return error if isinstance(error, dict) else {}


def was_refused_here(text: str) -> bool:
    """Whether a stored error is a refusal of ours, so that nothing was sent.

    What a server says never begins a stored error; our own words do.
    """
    return text.startswith("{") and read_error(text).get("blocked") is True
