"""Has an answer held against the evidence before it counts."""

from dataclasses import dataclass

from agents.dialogue import Dialogue
from agents.offers import OfferBook
from agents.outside import find_given
from agents.ports import ProposedAnswer, Review, Toolbox
from agents.recall import RECALL
from agents.task import AgentTask

MAX_OBJECTIONS = 3
"""Answers in a row that are not accepted before the model is made to conclude."""


@dataclass
class Reviewer:
    """Asks the toolbox about answers, and counts those in a row that were not accepted."""

    task: AgentTask
    toolbox: Toolbox
    offers: OfferBook
    dialogue: Dialogue
    objections: int = 0

    async def review(self, text: str, *, is_last: bool, is_by_code: bool = False) -> Review:
        said = self.dialogue.messages
        recalled = [("recalled", m.content) for m in said if m.tool_name == RECALL]
        proposed = ProposedAnswer(
            text=text,
            given=(*find_given(self.task), *recalled),
            provider_name=self.dialogue.llm.provider_name,
            model=self.dialogue.llm.model,
            is_last=is_last,
            is_by_code=is_by_code,
            not_checked=self.offers.list_not_checked(),
        )
        review = await self.toolbox.review_answer(proposed)
        if review.objection:
            self.objections += 1
        return review

    @property
    def is_out_of_patience(self) -> bool:
        return self.objections > MAX_OBJECTIONS

    def note_calls(self) -> None:
        """The model went back to its tools, so its next answer rests on something new."""
        self.objections = 0
