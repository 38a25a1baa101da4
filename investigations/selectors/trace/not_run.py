"""Tool calls that were never sent, or whose end nobody saw: what happened, in words for people."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from investigations.models import ApprovalRequest
from investigations.models.foreign_json import read_json

_ENVELOPE = '{"ok": false'
_BLOCKED = '"blocked": true'
HELD = (f"{_ENVELOPE}%", f"%{_BLOCKED}%")
"""What `was_held` looks for, as patterns of SQL's LIKE."""
_MESSAGE = re.compile(r'"message": "((?:[^"\\]|\\.)*)')

_ANSWERED = "\nIt answered:\n"
_HEAD = re.compile(r"[^\n]{1,300} reported an error\.\nYou asked: [^\n]*\Z")
"""What stands in a stored error above the words of its server."""
_LONGEST_HEAD = 4_000

_GATE: Mapping[str, str] = {
    "FSM_BLOCKED": "the change before it has to be looked at first",
    "STRICT_RESOLUTION": "what it means to act on has not been found exactly",
    "ROUTING_MISMATCH": "something more exact than its target is known",
    "EXECUTION_CONTEXT_UNAVAILABLE": "where it would run cannot be reached",
    "ACTION_NOT_ALLOWED": "this action is not allowed",
    "POLICY_BLOCKED": "a rule forbids it",
}
"""The codes of the safety gate."""
_NEVER_ASKED: Mapping[str, str] = {
    "INVALID_INPUT": "its arguments do not fit",
    "NOT_FOUND": "what it names is not there",
}
"""What is wrong with a call whoever makes it."""

_NOBODY_DECIDED = "nobody decided in time"


@dataclass(frozen=True)
class NotRun:
    """Why a call has no result. `state` is what its row is drawn as."""

    state: Literal["denied", "expired", "blocked", "cancelled", "interrupted"]
    title: str
    reason: str = ""
    to_allow: str = ""
    """What would let it pass."""

    @property
    def line(self) -> str:
        return f"{self.title}: {self.reason}" if self.reason else self.title


def read_not_run(text: str) -> NotRun | None:
    """What a stored error says where it is a refusal of ours; None for what a tool answered.

    What a server says never begins a stored error, so it cannot pass for one of these.
    """
    if not text.startswith(_ENVELOPE):
        return None
    error = _read_error(text)
    if error is None:
        # Only the beginning is at hand.
        return NotRun("blocked", "Blocked by the safety gate") if _BLOCKED in text else None
    code, message = str(error.get("code", "")), str(error.get("message", ""))
    found = error.get("details")
    details = found if isinstance(found, Mapping) else {}
    if not error.get("blocked"):
        return _of_end(details, message)
    is_decision = code == "APPROVAL_REQUIRED"
    why = _of_decision(details, message) if is_decision else blocked_with(code, message)
    return replace(why, to_allow=str(details.get("to_allow") or ""))


def was_held(text: str) -> bool:
    """Whether a stored error, or the beginning of one, says that we or a person did not let the
    call run. What was sent and came to nothing is a failure."""
    return text.startswith(_ENVELOPE) and _BLOCKED in text


def say_error(text: str) -> str:
    """What a stored error says to people: what the server answered, of an envelope of ours its
    message."""
    head, answered, said = text[:_LONGEST_HEAD].partition(_ANSWERED)
    if answered and _HEAD.match(head):
        answer = (said + text[_LONGEST_HEAD:]).lstrip()
        return _say_envelope(answer) or text
    return _say_envelope(text)


def _say_envelope(text: str) -> str:
    if not text.startswith(_ENVELOPE):
        return text
    found = _MESSAGE.search(text)
    try:
        return str(json.loads(f'"{found[1]}"')) if found else text
    except ValueError:
        return text


def blocked_with(code: str, reason: str) -> NotRun:
    """What a code of the safety gate means, or one of the checks before it."""
    if code in _NEVER_ASKED:
        return NotRun("blocked", f"Not run, {_NEVER_ASKED[code]}", reason)
    why = _GATE.get(code, code.replace("_", " ").lower())
    return NotRun("blocked", f"Blocked by the safety gate, {why}", reason)


def explain_not_run(text: str, approval: ApprovalRequest | None) -> NotRun | None:
    """The same, where a person was asked too: the whole decision stands with the request."""
    found = read_not_run(text)
    decided = not_run_of(approval) if approval else None
    return replace(decided, to_allow=found.to_allow) if found and decided else found


def not_run_of(approval: ApprovalRequest) -> NotRun | None:
    """Why a write never ran whose call ended without an answer; None for one that was let through
    or waits."""
    if approval.status == ApprovalRequest.Status.DENIED:
        return NotRun("denied", _denied_by(approval.decided_by), approval.decision_reason)
    if approval.status == ApprovalRequest.Status.EXPIRED:
        if approval.decision_reason:
            return NotRun("cancelled", "Cancelled undecided", approval.decision_reason)
        return NotRun("expired", "Expired", _NOBODY_DECIDED)
    return None


def _read_error(text: str) -> Mapping[str, object] | None:
    try:
        envelope = read_json(text)
    except ValueError:
        return None
    error = envelope.get("error") if isinstance(envelope, dict) else None
    return error if isinstance(error, Mapping) else None


def _of_end(details: Mapping[str, object], message: str) -> NotRun | None:
    """A call that was let through, and that ended without an answer."""
    match details.get("outcome"):
        case "unknown":
            return NotRun("interrupted", "Interrupted", message)
        case "not carried out":
            return NotRun("blocked", "Not carried out", str(details.get("reason") or message))
    return None


def _of_decision(details: Mapping[str, object], message: str) -> NotRun:
    reason = str(details.get("reason") or "")
    match details.get("verdict"):
        case "denied":
            said = reason or "no reason was given"
            return NotRun("denied", _denied_by(str(details.get("decided_by") or "")), said)
        case "expired" if reason:
            return NotRun("cancelled", "Cancelled undecided", reason)
        case "expired":
            return NotRun("expired", "Expired", _NOBODY_DECIDED)
        case "unavailable":
            return NotRun("blocked", "Blocked by the safety gate, nobody could be asked", message)
        case "lapsed":
            return NotRun("expired", "The approval no longer held", message)
        case "outdated":
            asked, now = details.get("state_when_asked"), details.get("state_now")
            is_now = f"it is {now}" if now else "nothing tells how it is"
            changed = f"its target was {asked} when a person was asked, and now {is_now}"
            return NotRun("expired", "The approval no longer held", changed)
        case _:
            return NotRun("expired", "Not approved", message)


def _denied_by(name: str) -> str:
    return f"Denied by {name}" if name else "Denied"
