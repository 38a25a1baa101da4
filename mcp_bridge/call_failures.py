"""How a call ended that brought no answer: what became of it, why, and who can do something.

Three ends are told apart. *Not carried out*: it was refused before it could begin, or never left.
*Unknown*: it left, and nothing that can be believed came back. Carried out is what was answered.
"""

from dataclasses import dataclass
from typing import Literal

from mcp import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR

from mcp_bridge.failures import (
    describe_failure,
    describe_status,
    flatten,
    is_connection_lost,
    is_timeout,
    is_unreadable,
)
from mcp_bridge.wire.attempts import Attempt

Fate = Literal["not carried out", "unknown"]
Cause = Literal[
    "address", "arguments", "away", "busy", "credentials", "late", "lost", "permission", "refused",
    "server", "session", "tool",
]  # fmt: skip
"""What was in the way. `away`: no connection came about; `lost`: one broke; `busy`: the server asks
to be asked later; `session`: it forgot who asks; `tool`: the tool is not what it was."""

_BY_STATUS: dict[int, Cause] = {
    400: "arguments", 401: "credentials", 403: "permission", 404: "address", 405: "address",
    407: "credentials", 413: "arguments", 422: "arguments", 429: "busy", 502: "away", 503: "away",
    504: "late",
}  # fmt: skip
_NEVER_BEGUN = frozenset(
    {301, 302, 307, 308, 400, 401, 403, 404, 405, 406, 407, 411, 413, 414, 415, 422, 429, 431}
)
"""What a server or something before it says before it begins, where it says nothing itself."""
_BY_CODE: dict[int, Cause] = {
    INVALID_REQUEST: "refused", METHOD_NOT_FOUND: "tool", INVALID_PARAMS: "arguments",
    PARSE_ERROR: "refused",
}  # fmt: skip
_ALSO_LATER = (INVALID_REQUEST, PARSE_ERROR)
"""Codes that frameworks also give to what a running tool throws."""


@dataclass(frozen=True)
class CallTimes:
    """Seconds that a tool may stay silent, and that it may take however much it tells."""

    silence: float
    whole: float


class CallFailed(Exception):
    """A call without an answer. The text is a clause that says why.

    `status` is that of HTTP, where there was one; `retry_after` are the seconds that the server
    asked to wait. One that `breaks_connection` needs a new one.
    """

    def __init__(
        self,
        reason: str,
        fate: Fate,
        cause: Cause,
        *,
        status: int = 0,
        retry_after: float | None = None,
        breaks_connection: bool = False,
    ) -> None:
        super().__init__(reason)
        self.fate: Fate = fate
        self.cause: Cause = cause
        self.status = status
        self.retry_after = retry_after
        self.breaks_connection = breaks_connection

    @property
    def is_silence(self) -> bool:
        """Whether it was sent and nothing came, so that the server may be stuck."""
        return self.cause == "late" and not self.status

    def may_repeat(self, *, is_write: bool) -> bool:
        """Whether the same call may be sent again without anybody being asked."""
        if self.fate == "not carried out":
            return self.cause in ("away", "busy", "late", "session")
        return not is_write and self.cause in ("away", "busy", "late", "lost")

    def add(self, more: str) -> "CallFailed":
        """The same with more to say."""
        return CallFailed(
            f"{self}{more}", self.fate, self.cause, status=self.status,
            retry_after=self.retry_after, breaks_connection=self.breaks_connection,
        )  # fmt: skip


def judge_failure(
    error: BaseException, attempt: Attempt, *, is_write: bool, times: CallTimes, end_reason: str
) -> CallFailed:
    """What became of a call that ended in an error, by what the wire saw of it.

    `end_reason` says why we ended the connection, where it was us.
    """
    if attempt.status:
        return _judge_status(attempt, is_write=is_write)
    if is_timeout(error) and attempt.has_left:
        return CallFailed(_explain_late(attempt, times), "unknown", "late")
    if is_connection_lost(error) or is_timeout(error):
        return _judge_lost(end_reason or describe_failure(error), attempt)
    for leaf in flatten(error):
        if isinstance(leaf, MCPError) and leaf.code in _BY_CODE and not is_unreadable(leaf):
            fate = _judge_code(leaf.code, attempt, is_write=is_write)
            return CallFailed(describe_failure(error), fate, _BY_CODE[leaf.code])
    return CallFailed(describe_failure(error), "unknown", "server")


def _explain_late(attempt: Attempt, times: CallTimes) -> str:
    if attempt.is_at_limit and times.whole > times.silence:
        return f"it did not end within {times.whole:g} s, although it reported progress"
    return f"it did not answer within {times.silence:g} s"


def _judge_code(code: int, attempt: Attempt, *, is_write: bool) -> Fate:
    """A write that was answered with an error began, unless nothing that runs says such a thing."""
    is_open = attempt.has_begun or (is_write and code in _ALSO_LATER)
    return "unknown" if is_open or code not in _BY_CODE else "not carried out"


def _judge_status(attempt: Attempt, *, is_write: bool) -> CallFailed:
    """A few statuses say that nothing was begun; of all others, nobody knows.

    Where the server itself answered, its answer counts and not the status around it.
    """
    status, reason = attempt.status, describe_status(attempt.status, attempt.reason)
    if (code := attempt.answered_code) is not None:
        return CallFailed(
            reason, _judge_code(code, attempt, is_write=is_write), _BY_CODE.get(code, "server"),
            status=status, breaks_connection=attempt.is_deaf,
        )  # fmt: skip
    is_undone = status in _NEVER_BEGUN and not attempt.has_begun
    fate: Fate = "not carried out" if is_undone else "unknown"
    if attempt.lost_session:
        return CallFailed(reason, fate, "session", status=status, breaks_connection=True)
    if status < 300:
        return CallFailed(f"no message came: {reason}", "unknown", "server", status=status)
    usual: Cause = "address" if status < 400 else "refused" if status < 500 else "server"
    return CallFailed(
        reason,
        fate,
        _BY_STATUS.get(status, usual),
        status=status,
        retry_after=attempt.retry_after,
        breaks_connection=attempt.is_deaf,
    )


def _judge_lost(reason: str, attempt: Attempt) -> CallFailed:
    if attempt.has_left:
        return CallFailed(reason, "unknown", "lost", breaks_connection=True)
    reason = attempt.reason or reason
    return CallFailed(reason, "not carried out", "away", breaks_connection=True)
