"""The field for questions on a session's page: whether it can be used now, and why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from investigations.selectors.conclusions import ConclusionCard
from investigations.selectors.pages import SessionPage, StageView
from investigations.services.chat import explain_no_chat


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


def _suggest(card: ConclusionCard | None) -> list[str]:
    """Questions that the report itself leaves open."""
    if card is None:
        return []
    found = []
    if card.first_unbacked and not card.claims[card.first_unbacked - 1].source:
        found.append(f"Which tool result supports claim {card.first_unbacked}?")
    if card.not_checked:
        found.append("Can you check now what was not checked?")
    return found
