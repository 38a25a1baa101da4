"""What a session's page says while nobody works on it: that a worker is missing."""

from collections.abc import Iterable

from investigations.models import AlertSession, Stage
from investigations.selectors.system.workers import who_works


def tell_absence(session: AlertSession, stages: Iterable[Stage]) -> str:
    """In words; empty while somebody works, or while nothing of the session waits for it.

    An ended session has open stages while a question about it is answered.
    """
    if session.is_terminal and all(stage.is_terminal for stage in stages):
        return ""
    is_queued = session.status == AlertSession.Status.PENDING
    match who_works():
        case "nobody" if is_queued:
            return "No worker is running. This investigation starts when one is there."
        case "nobody":
            return "No worker is running. This goes on when one is there."
        case "stopping" if is_queued:
            return "The only worker is stopping. This investigation starts when one starts."
        case "stopping":
            return "The only worker is stopping. This goes on when one starts."
        case _:
            return ""
