"""What a session is made of. A tool call is cited by its key: `[oom]` becomes `[T4]`, and
`[oom "exit code 137"]` becomes `[T4 "exit code 137"]`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from agents.types import JSON, ExecutionStatus


@dataclass(frozen=True)
class Call:
    """A read. Without a result it is still running."""

    tool: str
    """`server.tool`."""
    arguments: Mapping[str, JSON]
    result: str | None = None
    key: str = ""
    seconds: float = 0.4
    is_error: bool = False


@dataclass(frozen=True)
class Turn:
    """One answer of the model: what it thinks, says and asks for.

    An open one is still being written when its story ends.
    """

    thinking: str = ""
    text: str = ""
    calls: Sequence[Call] = ()
    seconds: float = 6.0
    is_open: bool = False


@dataclass(frozen=True)
class Agent:
    """What one agent does. `finding` is its report, which is held against its calls as it would be
    while it ran. Without an `end` it is still at work."""

    turns: Sequence[Turn]
    finding: str = ""
    end: ExecutionStatus | Literal[""] = "completed"
    error: str = ""


@dataclass(frozen=True)
class Question:
    """A follow-up question, asked some seconds after whatever was last."""

    author: str
    text: str
    answer: Agent
    after: float = 240.0


@dataclass(frozen=True)
class Story:
    """A session that began so long `ago`; of a live one the last thing happened just now.

    Times of day in its texts are those of a session that began at `clock`, and are moved with it.
    """

    alert_type: str
    alert: Mapping[str, JSON]
    author: str
    ago: timedelta
    stages: Sequence[Sequence[Agent]] = ()
    """The agents of each stage, in the order of the chain."""
    questions: Sequence[Question] = ()
    clock: str = ""
    is_live: bool = False
    runbook: str = ""
    cancelled_by: str = ""
    model: str = "gemini-3.1-pro-preview"
