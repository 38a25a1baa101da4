"""How an execution ends: with an answer, with one that it was made to give, or with a failure."""

from agents.answers import (
    OUTPUT_LIMIT,
    REPETITION,
    Answer,
    Failure,
    explain_no_conclusion,
)
from agents.bad_answers import MAX_ASKED_AGAIN, BadAnswers
from agents.controllers import Conclude, Controller
from agents.dialogue import Dialogue
from agents.ports import Journal, Review
from agents.prompts.nudges import (
    ask_for_text_without_tools,
    ask_to_conclude,
    ask_to_conclude_early,
)
from agents.reviewing import Reviewer
from agents.types import JSON, AgentOutcome, InteractionType, Note

KEEPS_PROVIDER = frozenset({REPETITION, "no_conclusion"})
"""What a model did wrong and its provider did not."""


class Ending:
    """Ends one execution, once."""

    def __init__(
        self,
        max_iterations: int,
        dialogue: Dialogue,
        controller: Controller,
        reviewer: Reviewer,
        bad_answers: BadAnswers,
        journal: Journal,
    ) -> None:
        self._max_iterations = max_iterations
        self._dialogue = dialogue
        self._controller = controller
        self._reviewer = reviewer
        self._bad_answers = bad_answers
        self._journal = journal
        self._forced_prompt = ask_to_conclude(max_iterations)
        self.early_prompt = ask_to_conclude_early()
        """Makes a model conclude although it has iterations left."""

    @property
    def is_forced(self) -> bool:
        """Whether the model was made to conclude, now or before an interruption."""
        return any(
            message.role == "user" and message.content in (self._forced_prompt, self.early_prompt)
            for message in self._dialogue.messages
        )

    async def conclude(
        self, answer: Answer, kind: InteractionType, conclusion: Conclude, review: Review
    ) -> AgentOutcome:
        """End with an answer that counts."""
        await self._dialogue.record_conclusion(answer, kind, conclusion, review)
        if answer.finish_reason == "length":
            await self._dialogue.tell(OUTPUT_LIMIT)
        return await self.complete(review)

    async def conclude_by_force(self) -> AgentOutcome:
        """Make the model answer with what it has."""
        self._journal.report_progress("concluding", f"Concluding after {self._count_iterations()}")
        if not self.is_forced:
            await self._dialogue.nudge(self._forced_prompt)
        asked_again = 0
        while True:
            answer = await self._dialogue.ask(
                "forced_conclusion", self._dialogue.start_deadline(), with_tools=False
            )
            conclusion = None if answer.failure else self._read(answer)
            if conclusion is not None:
                review = await self._reviewer.review(conclusion.text, is_last=True)
                await self._dialogue.record_conclusion(
                    answer, "forced_conclusion", conclusion, review
                )
                return await self.complete(review)
            failure = answer.failure or explain_no_conclusion(answer)
            await self._dialogue.record(answer, kind="forced_conclusion", failure=failure)
            await self._dialogue.tell(failure)
            if failure.code == "no_conclusion" and asked_again < MAX_ASKED_AGAIN:
                asked_again += 1
                await self._dialogue.nudge(ask_for_text_without_tools())
            elif failure.code in KEEPS_PROVIDER or not await self._bad_answers.switch_model(
                failure
            ):
                return self._fail_without_conclusion(failure)

    def _read(self, answer: Answer) -> Conclude | None:
        return self._controller.conclude(answer.text, self._dialogue.specs)

    async def complete(self, review: Review) -> AgentOutcome:
        """End with an answer that is written down."""
        is_forced, text = self.is_forced, review.text
        metadata: dict[str, JSON] = dict(review.metadata)
        if is_forced:
            metadata |= {
                "forced_conclusion": True,
                "iterations_used": self._dialogue.iteration,
                "max_iterations": self._max_iterations,
            }
        await self._journal.record_note(Note("final_analysis", text, metadata))
        return AgentOutcome(
            "completed",
            final_analysis=text,
            iterations_used=self._dialogue.iteration,
            is_forced=is_forced,
        )

    def fail(self, failure: Failure) -> AgentOutcome:
        """End without an answer."""
        return AgentOutcome(
            failure.status,
            error=failure.message,
            error_code=failure.code,
            iterations_used=self._dialogue.iteration,
        )

    def _fail_without_conclusion(self, failure: Failure) -> AgentOutcome:
        reason = f"After {self._count_iterations()} no conclusion could be had. {failure.message}"
        return self.fail(Failure(failure.code, self._bad_answers.explain(reason)))

    def _count_iterations(self) -> str:
        number = self._dialogue.iteration
        return "1 iteration" if number == 1 else f"{number} iterations"
