"""A passage of an answer that nothing supports."""

from dataclasses import dataclass
from typing import Literal

ClaimKind = Literal[
    "action", "look", "state", "negation", "number", "time", "name", "quote", "tool_call"
]


@dataclass(frozen=True)
class Unsupported:
    """Where it stands, in characters of the answer, what it claims and what is missing.

    `is_phantom`: it says that we did something, and nothing of the kind ran; that is certain, and
    the sentence may not be shown. Whatever else has no support is marked.
    """

    start: int
    end: int
    kind: ClaimKind
    reason: str
    is_phantom: bool = False
