"""A passage of an answer that nothing supports."""

from dataclasses import dataclass
from typing import Literal

ClaimKind = Literal[
    "action", "look", "state", "negation", "number", "time", "name", "quote", "tool_call"
]


@dataclass(frozen=True)
class Unsupported:
    """Where it stands, in characters of the answer, what it claims and what is missing.

    `is_phantom`: no run looked at this at all, or the action never ran; a wrong figure about
    something that was looked at is none.
    """

    start: int
    end: int
    kind: ClaimKind
    reason: str
    is_phantom: bool = False
