"""What a session's page says while nobody works on it: that a worker is missing."""

from investigations.models import AlertSession, Stage
from investigations.selectors.workers import who_works


def tell_absence(session: AlertSession) -> str:
    """In words; empty while somebody works, or while nothing of the session waits for it."""
    if session.is_terminal and not _is_being_answered(session):
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


def _is_being_answered(session: AlertSession) -> bool:
    return session.stages.exclude(status__in=Stage.TERMINAL).exists()
