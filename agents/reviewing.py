"""Has an answer held against the evidence before it counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from agents.citations import find_citations
from agents.dialogue import Dialogue
from agents.offers import OfferBook
from agents.outside import find_given
from agents.ports import MISQUOTED, EvidenceReader, ProposedAnswer, Review, Toolbox
from agents.recall import RECALL
from agents.rules_found import list_passed_over
from agents.task import AgentTask
from agents.types import StoredResult

MOST_CITED = 200
"""Of more calls than this that an answer cites, the first ones are read."""
MAX_OBJECTIONS = 3
"""Answers in a row that are not accepted before the model is made to conclude."""


@dataclass
class Reviewer:
    """Asks the toolbox about answers, and counts those in a row that were not accepted."""

    task: AgentTask
    toolbox: Toolbox
    offers: OfferBook
    dialogue: Dialogue
    evidence: EvidenceReader | None = None
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
            not_checked=(
                *self.offers.list_not_checked(),
                *list_passed_over(text, self.task.findings),
            ),
            results=await self._read_cited(text),
            may_object_to_quotes=not self._was_told_of_quotes,
        )
        review = await self.toolbox.review_answer(proposed)
        if review.objection:
            self.objections += 1
        return review

    async def _read_cited(self, text: str) -> Mapping[int, StoredResult] | None:
        if self.evidence is None:
            return None
        refs = [ref for each in find_citations(text) for ref in each.refs]
        numbers = list(dict.fromkeys(ref.number for ref in refs))[:MOST_CITED]
        quoted = {ref.number for ref in refs if ref.quote is not None}
        return await self.evidence.read_evidence(numbers, quoted.intersection(numbers))

    @property
    def _was_told_of_quotes(self) -> bool:
        """Now or before an interruption: the conversation says it."""
        said = self.dialogue.messages
        return any(m.role == "user" and m.content.startswith(MISQUOTED) for m in said)

    @property
    def is_out_of_patience(self) -> bool:
        return self.objections > MAX_OBJECTIONS

    def note_calls(self) -> None:
        """The model went back to its tools, so its next answer rests on something new."""
        self.objections = 0
