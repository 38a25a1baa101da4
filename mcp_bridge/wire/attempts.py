"""What the wire sees of one attempt at a call, for whoever made it.

The SDK tells of most failures no more than that there was one. It sends each request in the context
of its caller, so the wire finds there whose attempt it is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


def _do_nothing() -> None:
    return None


@dataclass
class Attempt:
    """One attempt, of a call or a listing. Texts are as the server said them, unmasked."""

    method: str = "tools/call"
    """What is asked for; what else is asked on the way says nothing of it."""
    rounds: int = 0
    """Times that the call was sent; a server that asks back is sent it again with the answer."""
    shows_progress: bool = False
    """The server reported how far it is."""
    is_at_limit: bool = False
    """It has done so for as long as a call may take in all."""
    has_left: bool = True
    """Whether any of it may have reached the server."""
    status: int = 0
    """The HTTP status that took the place of an answer."""
    reason: str = ""
    """What the server said with that status, or why no connection came about."""
    retry_after: float | None = None
    """Seconds after which the server wants to be asked again."""
    answered_code: int | None = None
    """The code of the error by which the server itself answered the call beside that status; 0
    where it is known only that it did, None where it did not."""
    lost_session: bool = False
    """The server no longer knows the session, so it did not take the call."""
    is_deaf: bool = False
    """The connection takes no more requests after this one."""
    interrupt: Callable[[], None] = _do_nothing
    """Ends the wait for an answer that will never come."""

    @property
    def has_begun(self) -> bool:
        """Whether the server has shown that it took the call, whatever it says of it later."""
        return self.rounds > 1 or self.shows_progress

    def refuse(
        self,
        status: int,
        reason: str,
        retry_after: float | None,
        answered_code: int | None = None,
    ) -> None:
        self.status, self.reason, self.retry_after = status, reason, retry_after
        self.answered_code = answered_code


_CURRENT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def current_attempt() -> Attempt | None:
    """The attempt that is being made in this context."""
    return _CURRENT.get()


@contextmanager
def attempting(attempt: Attempt) -> Iterator[Attempt]:
    """While open, what is sent belongs to this attempt."""
    token = _CURRENT.set(attempt)
    try:
        yield attempt
    finally:
        _CURRENT.reset(token)
