"""The field for questions on a session's page: whether it can be used now, and why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from config import get_config
from investigations.models import AlertSession
from investigations.selectors.session_page.conclusions import ConclusionCard
from investigations.selectors.session_page.stage_view import SessionPage, StageView

_ANSWERABLE = (
    AlertSession.Status.COMPLETED,
    AlertSession.Status.FAILED,
    AlertSession.Status.TIMED_OUT,
)


@dataclass(frozen=True)
class AskField:
    """The field as everybody sees it; whether somebody may ask is known to their own page only."""

    closed_because: str
    """Why no question can be asked now, in words; empty when one can."""
    answering: StageView | None
    chats: Sequence[StageView]
    suggestions: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        return not self.closed_because

    @property
    def newest(self) -> StageView | None:
        return self.chats[-1] if self.chats else None


def read_ask_field(page: SessionPage, card: ConclusionCard | None) -> AskField:
    """What a page knows about its chat."""
    chats = page.chats
    answering = next((stage for stage in chats if not stage.stage.is_terminal), None)
    closed_because = explain_no_chat(page.session)
    if answering is not None and not closed_because:
        whom = f" of {answering.asked_by}" if answering.asked_by else ""
        closed_because = f"the question{whom} is being answered; the next can follow it"
    return AskField(closed_because, answering, chats, _suggest(card))


def explain_no_chat(session: AlertSession) -> str:
    """Why no question can be asked about a session; empty when one can."""
    if session.status == AlertSession.Status.CANCELLED:
        return "the investigation was cancelled, so there is nothing to ask about"
    if session.status not in _ANSWERABLE:
        now = session.status.replace("_", " ")
        return f"questions can be asked once the investigation has ended; it is {now}"
    chain = get_config().chains.get(session.chain_id)
    if chain is None:
        return f'the chain "{session.chain_id}" is no longer configured'
    if not chain.chat.enabled and "chat" not in chain.model_fields_set:
        wanted = "chat: {enabled: true, agent: ChatAgent}"
        return f'the chain "{session.chain_id}" has no chat; {wanted} switches it on'
    if not chain.chat.enabled:
        return f'chat is switched off for the chain "{session.chain_id}"'
    return ""


def _suggest(card: ConclusionCard | None) -> list[str]:
    """Questions that the report itself leaves open."""
    if card is None:
        return []
    found = []
    if card.first_doubtful:
        found.append(f"Which tool result supports claim {card.first_doubtful}?")
    if card.not_checked:
        found.append("Can you check now what was not checked?")
    return found
