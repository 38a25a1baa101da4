"""How an execution ends: with an answer, with one that it was made to give, or with a failure."""

from dataclasses import replace

from agents.answers import (
    OUTPUT_LIMIT,
    REPETITION,
    TIMEOUTS,
    Answer,
    Failure,
    explain_no_conclusion,
)
from agents.bad_answers import MAX_ASKED_AGAIN, BadAnswers
from agents.code_report import write_code_report
from agents.controllers import Conclude, find_report, is_report
from agents.dialogue import Dialogue
from agents.fallback import sort_failure
from agents.ports import Journal, Review
from agents.prompts.nudges import (
    ask_after_broken_answer,
    ask_after_repetition,
    ask_for_text_without_tools,
    ask_to_be_shorter,
    ask_to_conclude,
    ask_to_conclude_early,
)
from agents.reviewing import Reviewer
from agents.task import AgentTask
from agents.types import JSON, AgentOutcome, InteractionType, Note
from config.words import count

KEEPS_PROVIDER = frozenset({REPETITION, "no_conclusion"})
"""What a model did wrong and its provider did not."""


class Ending:
    """Ends one execution, once."""

    def __init__(
        self,
        task: AgentTask,
        dialogue: Dialogue,
        reviewer: Reviewer,
        bad_answers: BadAnswers,
        journal: Journal,
    ) -> None:
        self._max_iterations = task.max_iterations
        self._has_stand_in = task.has_stand_in
        self._dialogue = dialogue
        self._reviewer = reviewer
        self._bad_answers = bad_answers
        self._journal = journal
        self._best = ""
        self._asked_again = 0
        self._forced_prompt = ask_to_conclude(task.max_iterations)
        self.early_prompt = ask_to_conclude_early()
        """Makes a model conclude although it has iterations left."""

    @property
    def is_forced(self) -> bool:
        """Whether the model was made to conclude, now or before an interruption."""
        return any(
            message.role == "user" and message.content in (self._forced_prompt, self.early_prompt)
            for message in self._dialogue.messages
        )

    @property
    def _why_forced(self) -> str:
        if self._reviewer.is_out_of_patience:
            return "not_accepted"
        return "limit" if self._dialogue.iteration >= self._max_iterations else "no_answer"

    async def conclude(
        self, answer: Answer, kind: InteractionType, conclusion: Conclude, review: Review
    ) -> AgentOutcome:
        """End with an answer that counts."""
        await self._dialogue.record_conclusion(answer, kind, conclusion, review)
        if answer.missing_end is not None:
            await self._dialogue.tell(answer.missing_end)
        return await self.complete(review)

    async def conclude_by_force(self) -> AgentOutcome:
        """Make the model answer with what it has."""
        self._journal.report_progress("concluding", f"Concluding after {self._count_iterations()}")
        if not self.is_forced:
            await self._dialogue.nudge(self._forced_prompt)
        self._best, self._asked_again = "", 0
        while True:
            answer = await self._dialogue.ask(
                "forced_conclusion",
                self._dialogue.start_deadline(),
                with_tools=False,
                as_text=self._asked_again > 0,
            )
            conclusion = self._read(answer)
            if conclusion is not None and not self._is_worth_another_try(answer):
                return await self._take(answer, conclusion)
            outcome = await self._ask_again(answer, conclusion)
            if outcome is not None:
                return outcome

    def _read(self, answer: Answer) -> Conclude | None:
        """A word on what the model wants to call is no conclusion; a report beside calls is one."""
        if answer.failure is not None or (answer.calls and not is_report(answer.text)):
            return None
        dialogue = self._dialogue
        return dialogue.controller.conclude(answer.text, dialogue.specs, dialogue.outside)

    def _is_worth_another_try(self, answer: Answer) -> bool:
        """A conclusion that was cut is asked for once more, in fewer words."""
        return answer.is_cut and not self._asked_again

    async def _take(self, answer: Answer, conclusion: Conclude) -> AgentOutcome:
        review = await self._reviewer.review(conclusion.text, is_last=True)
        await self._dialogue.record_conclusion(answer, "forced_conclusion", conclusion, review)
        if answer.missing_end is not None:
            await self._dialogue.tell(answer.missing_end)
        return await self.complete(review)

    async def _ask_again(self, answer: Answer, cut: Conclude | None) -> AgentOutcome | None:
        """Ask in another form, then another model; at last end with what there is."""
        failure = answer.failure or (OUTPUT_LIMIT if cut else explain_no_conclusion(answer))
        await self._dialogue.record(answer, kind="forced_conclusion", failure=failure)
        if failure.asked_wait is not None:
            end = await self._bad_answers.bear_wait(failure)
            return await self._end_without_conclusion(end) if end else None
        await self._dialogue.tell(failure)
        self._best = self._best or (cut.text if cut else self._find_report(answer))
        if self._asked_again < MAX_ASKED_AGAIN and may_help_to_ask_again(failure):
            self._asked_again += 1
            if nudge := _choose_nudge(failure, answer):
                await self._dialogue.nudge(nudge)
            return None
        is_its_own = failure.code in KEEPS_PROVIDER
        if not is_its_own and await self._bad_answers.switch_model(failure):
            self._asked_again = 0
            return None
        is_last = answer.failure is not None and not is_its_own
        return await self._end_without_conclusion(replace(failure, is_last=is_last))

    def _find_report(self, answer: Answer) -> str:
        """What has the shape of a report although it does not count: better than none at all."""
        is_repeated = answer.failure is not None and answer.failure.code == REPETITION
        if is_repeated:
            return ""
        return find_report(answer.text, self._dialogue.specs, self._dialogue.outside)

    async def complete(self, review: Review) -> AgentOutcome:
        """End with an answer that is written down."""
        is_forced, text = self.is_forced, review.text
        metadata: dict[str, JSON] = dict(review.metadata)
        if is_forced:
            metadata |= {
                "forced_conclusion": True,
                "forced_because": self._why_forced,
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
            is_without_provider=failure.is_last,
        )

    async def _end_without_conclusion(self, failure: Failure) -> AgentOutcome:
        """With the beginning of a conclusion, or with a list of what the tools brought, which is
        less than what comes of a look by whoever stands in."""
        reason = self._bad_answers.explain(
            f"After {self._count_iterations()} no conclusion could be had. {failure.message}"
        )
        text = self._best
        if not text and not (failure.is_last and self._has_stand_in):
            text = write_code_report(self._dialogue.messages, reason)
        if not text:
            return self.fail(Failure(failure.code, reason, is_last=failure.is_last))
        is_by_code = not self._best
        review = await self._reviewer.review(text, is_last=True, is_by_code=is_by_code)
        if is_by_code:
            review = replace(review, metadata={**review.metadata, "written_by_code": True})
        return await self.complete(review)

    def _count_iterations(self) -> str:
        return count(self._dialogue.iteration, "iteration")


def may_help_to_ask_again(failure: Failure) -> bool:
    """Whether the same model may conclude when it is asked in another form."""
    return failure.code not in TIMEOUTS and sort_failure(failure.code) != "hopeless"


def _choose_nudge(failure: Failure, answer: Answer) -> str:
    if failure is OUTPUT_LIMIT:
        return ask_to_be_shorter()
    if failure.partial and failure.code != REPETITION:
        return ask_after_broken_answer(failure.message, answer.text)
    if failure.code == REPETITION:
        return ask_after_repetition(answer.text)
    return "" if answer.failure else ask_for_text_without_tools()
