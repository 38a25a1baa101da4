"""The field for questions on a session's page: whether it can be used now, and why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from config import get_config
from config.resolve import resolve_chat
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
    has_model: bool = True
    """Whether a model interprets a question; else the evidence is searched for its words."""

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
    has_model = _has_model(page.session)
    suggestions = _suggest(card) if has_model else _suggest_for_search(card)
    return AskField(closed_because, answering, chats, suggestions, has_model)


def _has_model(session: AlertSession) -> bool:
    config = get_config()
    chain = config.chains.get(session.chain_id)
    if chain is None:
        return True
    return not config.stands_in(resolve_chat(config, chain).provider_name)


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


def _suggest_for_search(card: ConclusionCard | None) -> list[str]:
    """Questions to which the report itself has the answer."""
    if card is None:
        return []
    found = []
    if card.first_doubtful:
        found.append(f"What stands behind claim {card.first_doubtful}?")
    if card.not_checked:
        found.append("What was not checked?")
    if card.ruled_out:
        found.append("What was ruled out?")
    return found or ["What is the next step?"] * bool(card.next_steps)
