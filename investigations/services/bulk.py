"""One act on several sessions: each on its own, so that what fails of one keeps no other."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from investigations.models import AlertSession
from investigations.selectors.session_list.rows import read_chosen
from investigations.services.sessions import cancel_session, delete_session, retry_session
from tarsy.errors import TarsyError

MOST_AT_ONCE = 100
"""More is a job for a script: a person reads what is listed."""


@dataclass(frozen=True)
class Act:
    """What can be done to several sessions at once, in the words of its page."""

    name: str
    verb: str
    done: str
    consequence: str
    for_ended: bool
    """Whether it is for sessions that have ended, or for those that have not."""
    run: Callable[[uuid.UUID, str], AlertSession | None]

    def refusal(self, session: AlertSession) -> str:
        """Why nothing will happen to a session, as far as can be told beforehand."""
        if session.is_terminal == self.for_ended:
            return ""
        return "has not ended yet: cancel it first" if self.for_ended else "has ended already"


@dataclass(frozen=True)
class Chosen:
    """One of the sessions, with what stands against it or what came of it."""

    session_id: uuid.UUID
    session: AlertSession | None
    refusal: str = ""
    made: AlertSession | None = None
    """The session that a retry started."""


CANCEL = Act(
    "cancel", "Cancel", "cancelled", "What they found so far stays.", False, cancel_session
)
RETRY = Act(
    "retry", "Retry", "started again",
    "Each alert is sent once more, masked as it is stored, and gets a session of its own.", True,
    retry_session,
)  # fmt: skip
DELETE = Act(
    "delete", "Delete", "deleted",
    "They vanish from every list and page at once, and from the database 30 days later.", True,
    delete_session,
)  # fmt: skip


def preview(act: Act, ids: Sequence[uuid.UUID]) -> list[Chosen]:
    """What each of the sessions has to expect."""
    found = _by_id(ids)
    return [
        Chosen(each, found.get(each), act.refusal(found[each]) if each in found else "is gone")
        for each in ids
    ]


def apply(
    act: Act, ids: Sequence[uuid.UUID], actor: str, count: Callable[[], None]
) -> list[Chosen]:
    """Do it to each of the sessions that it is meant for, as long as `count` lets it."""
    # Their titles are read before, as a deleted session has none any more.
    return [_apply(act, chosen, actor, count) for chosen in preview(act, ids)]


def _apply(act: Act, chosen: Chosen, actor: str, count: Callable[[], None]) -> Chosen:
    if chosen.refusal:
        return chosen
    try:
        count()
        made = act.run(chosen.session_id, actor)
    except TarsyError as error:
        return Chosen(chosen.session_id, chosen.session, str(error))
    return Chosen(chosen.session_id, chosen.session, made=made)


def _by_id(ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, AlertSession]:
    return {session.pk: session for session in read_chosen(ids)}
