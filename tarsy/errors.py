"""Every error of ours, sorted by who must react to it.

TarsyError
├── ConfigError          the operator: the configuration is wrong; carries every mistake at once
├── InvalidInput         the caller: 400, names the field
│   ├── PayloadTooLarge  the caller: 413
│   └── QueueFull        the caller: 429, with the seconds to wait
├── TooManyRequests      the caller: 429, a limit for one source is reached
├── NotPermitted         the caller: 403, this account may not do it
├── NotFound             the caller: 404, no such thing
├── Conflict             the caller: 409, the thing is in another state by now
├── TookTooLong          the caller: it asked for more than the database does in the time
├── AgentError           the stage: this execution ends, with a reason a person can act on
│   └── LLMError         the model call failed; says whether asking again can help
└── LeaseLost            us: another worker owns this execution now; stop and write nothing

What the *model* must react to is never raised: it is a `ToolResult` with `is_error` set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override


class TarsyError(Exception):
    """Root of the tree; never raised itself."""


@dataclass(frozen=True)
class Mistake:
    """One thing wrong in the configuration: where it stands and what would be right.

    `line` is 1-based, 0 where a whole file is meant. Never carries a secret's value. A `topic` is
    what others may know more about.
    """

    file: str
    line: int
    message: str
    topic: str = ""

    @override
    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}"


class ConfigError(TarsyError):
    """The configuration cannot be used; `mistakes` lists all that is wrong, not the first."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


class InvalidInput(TarsyError):
    """The caller sent something we cannot use. `field` is the path of the part that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(f"{field}: {message}")


class PayloadTooLarge(InvalidInput):
    """More bytes than we take."""


class QueueFull(TarsyError):
    """`queue.max_queue_size` sessions wait already."""

    def __init__(self, queue_size: int, max_queue_size: int, retry_after: int) -> None:
        self.queue_size = queue_size
        self.max_queue_size = max_queue_size
        self.retry_after = retry_after
        super().__init__(
            f"{queue_size} sessions are waiting and at most {max_queue_size} may; "
            f"try again in {retry_after} s"
        )


class TookTooLong(TarsyError):
    """The database was told to stop after this many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"it took longer than {seconds:g} s")


class TooManyRequests(TarsyError):
    """One source has reached `system.limits.<kind>`, which are for a minute."""

    def __init__(self, kind: str, limit: int, retry_after: int) -> None:
        self.kind = kind
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(f"at most {limit} {kind} a minute; try again in {retry_after} s")


class NotPermitted(TarsyError):
    """Whoever asks is known, and lacks the permission."""


class NotFound(TarsyError):
    """No such thing."""


class Conflict(TarsyError):
    """The thing is not in a state that allows this."""


class AgentError(TarsyError):
    """Ends one agent execution as failed. The text is shown to people."""


LLMErrorCode = Literal[
    "credentials",
    "invalid_request",
    "context_window",
    "no_tool_calling",
    "rate_limit",
    "provider_error",
    "connection",
    "initial_response_timeout",
    "stall_timeout",
    "partial_stream_error",
    "endless_answer",
    "max_retries",
]


class LLMError(AgentError):
    """A model call failed.

    `retryable`: asking the same provider again may help. `retry_after`: the seconds the provider
    asked us to wait, None when it did not say. `partial`: text was already shown to people.
    `is_taught`: the next request will be written in another way, so that this one was no try of it.
    """

    def __init__(
        self,
        code: LLMErrorCode,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        partial: bool = False,
        is_taught: bool = False,
    ) -> None:
        self.code: LLMErrorCode = code
        self.is_taught = is_taught
        self.retryable = retryable
        self.retry_after = retry_after
        self.partial = partial
        super().__init__(message)


class LeaseLost(TarsyError):
    """This worker's lease on an execution is no longer current."""
