"""The loop every agent runs: ask the model, do what it asks for, until it concludes."""

from collections.abc import Callable, Mapping, Sequence

from agents.answers import ITERATION_TIMEOUT, Answer, Failure, explain_useless
from agents.bad_answers import BadAnswers
from agents.calls import CallRunner
from agents.controllers import (
    AskAgain,
    CallTools,
    Conclude,
    Controller,
    Decision,
    ask_to_make_call,
    make_controller,
)
from agents.conversation import Conversation
from agents.dialogue import Dialogue
from agents.ending import Ending
from agents.fallback import FallbackPlan, FallbackState
from agents.offers import OfferBook
from agents.ports import LLM, EvidenceReader, Journal, ResultReader, Review, Toolbox
from agents.prompts.nudges import ask_to_call_by_text, tell_of_alerts
from agents.recall import RecallToolbox
from agents.records import ToolCallRecord
from agents.reviewing import Reviewer
from agents.summaries import Circumstances, Summaries, SummaryPlan
from agents.task import AgentTask
from agents.types import JSON, AgentOutcome, InteractionType, Message, ModelName, Note, ToolCall
from agents.waiting import finish_waits

MAX_SINGLE_ATTEMPTS = 6
"""Model calls of a controller that does not iterate; only useless answers use them up."""


async def run_agent(
    task: AgentTask,
    *,
    llm: LLM,
    toolbox: Toolbox,
    journal: Journal,
    fallbacks: FallbackPlan | None = None,
    summaries: SummaryPlan | None = None,
    results: ResultReader | None = None,
    evidence: EvidenceReader | None = None,
    mask: Callable[[str], str] = str,
) -> AgentOutcome:
    """Work on a task until it is concluded, fails or runs out of iterations.

    When the model fails, the next one of `fallbacks` takes over. Large tool results are summarized
    as `summaries` says, and what was shortened can be read again where there are `results`. Answers
    are held against the `evidence` that they cite. Goes on
    from `task.history` when that is there. What models say is kept, and told to them again, as
    `mask` leaves it; only the tools get their arguments as they were written. Cancelling the
    coroutine stops the model call and the tool calls; what is open on the timeline is left to the
    caller.
    """
    plan = fallbacks or FallbackPlan(ModelName(llm.provider_name, "", llm.model))
    tools = RecallToolbox(toolbox, results, offers=task.recalls_session)
    summaries = summaries or SummaryPlan()
    return await _Execution(task, llm, tools, journal, plan, summaries, evidence, mask).run()


class _Execution:
    def __init__(
        self,
        task: AgentTask,
        llm: LLM,
        toolbox: RecallToolbox,
        journal: Journal,
        plan: FallbackPlan,
        summaries: SummaryPlan,
        evidence: EvidenceReader | None,
        mask: Callable[[str], str],
    ) -> None:
        self._task = task
        self._toolbox = toolbox
        self._journal = journal
        self._conversation = Conversation(task.history or task.opening)
        is_by_text = task.controller == "react" or self._conversation.calls_by_text
        controller = make_controller("react" if is_by_text else task.controller)
        fallback = FallbackState(plan, is_single_shot=not controller.may_iterate)
        self._dialogue = Dialogue(
            task, llm, toolbox, journal, controller, self._conversation, mask,
            has_others=lambda: fallback.has_others,
        )  # fmt: skip
        self._dialogue.iteration = self._count_past_iterations()
        self._summaries = Summaries(
            summaries,
            journal,
            options=task.llm_options,
            limits=task.limits,
            can_recall=toolbox.can_recall,
            mask=mask,
        )
        self._mask = mask
        self._offers = OfferBook(
            task.known_offers, toolbox, journal, is_by_text=is_by_text, mask=mask
        )
        self._reviewer = Reviewer(task, toolbox, self._offers, self._dialogue, evidence)
        self._bad_answers = BadAnswers(fallback, self._dialogue, journal)
        self._ending = Ending(task, self._dialogue, self._reviewer, self._bad_answers, journal)

    async def run(self) -> AgentOutcome:
        if not self._task.history:
            # The prompt says what there is, so it is kept first: what changes after is told.
            await self._offers.record(tells_model=False)
            await self._journal.record_prompt(self._task.opening)
        review = await self._resume()
        await finish_waits(
            self._task.open_waits, self._bad_answers.model.provider_name, self._journal
        )
        if review is not None:
            return await self._ending.complete(review)
        while self._dialogue.iteration < self._max_iterations and not self._ending.is_forced:
            self._dialogue.iteration += 1
            outcome = await self._iterate()
            if outcome is not None:
                return outcome
        if not self._controller.may_iterate:
            return self._ending.fail(Failure("no_answer", self._bad_answers.last))
        return await self._ending.conclude_by_force()

    @property
    def _controller(self) -> Controller:
        return self._dialogue.controller

    @property
    def _max_iterations(self) -> int:
        if self._controller.may_iterate:
            return self._task.max_iterations
        return MAX_SINGLE_ATTEMPTS

    def _count_past_iterations(self) -> int:
        if not self._task.history:
            return 0
        return min(self._conversation.count_iterations(), self._max_iterations)

    async def _resume(self) -> Review | None:
        """Finish what an interrupted iteration left open; returns its answer if that counts."""
        calls = self._conversation.find_open_calls()
        if calls:
            await self._run_calls(calls, self._task.open_numbers, self._dialogue.start_deadline())
        said = self._conversation.find_answer()
        answer = self._controller.conclude(said, self._toolbox.specs, self._dialogue.outside)
        if answer is None:
            return None
        review = await self._reviewer.review(answer.text, is_last=self._ending.is_forced)
        if not review.objection:
            return review
        await self._dialogue.nudge(review.objection)
        return None

    async def _iterate(self) -> AgentOutcome | None:
        await self._look_at_tools()
        self._journal.report_progress(
            self._task.phase or self._controller.phase, f"Asking {self._dialogue.llm.model}"
        )
        answer = await self._dialogue.ask(self._kind, self._dialogue.start_deadline())
        if answer.failure is not None and await self._turn_to_text(answer, answer.failure):
            return None
        if answer.failure is not None:
            return self._end_with(await self._bad_answers.react(answer, answer.failure, self._kind))
        self._bad_answers.note_success()
        match self._decide(answer):
            case CallTools() as wanted:
                return await self._call_tools(answer, wanted)
            case Conclude() as conclusion:
                return await self._conclude(answer, conclusion)
            case AskAgain() as useless:
                return await self._ask_again(answer, useless)

    def _decide(self, answer: Answer) -> Decision:
        """What the answer means. A write that is only written runs where nothing stands around it:
        amid words it may be shown or advised."""
        decision = self._controller.decide(
            answer.text, tuple(answer.calls), self._toolbox.specs, self._dialogue.outside
        )
        if not isinstance(decision, CallTools) or decision.is_alone:
            return decision
        is_write = any(self._toolbox.identify(call).may_write for call in decision.calls)
        return ask_to_make_call() if is_write else decision

    async def _turn_to_text(self, answer: Answer, failure: Failure) -> bool:
        """Let a model take over that can be given tools, or this one call them by writing."""
        if failure.code != "no_tool_calling" or self._controller.offer(self._toolbox.specs) == ():
            return False
        await self._dialogue.record(answer, kind=self._kind, failure=failure)
        self._dialogue.iteration -= 1
        if await self._bad_answers.switch_model(failure):
            return True
        await self._journal.record_note(
            Note("notice", f"{failure.message} From here on it calls them by text.")
        )
        await self._dialogue.nudge(ask_to_call_by_text(self._toolbox.specs))
        self._dialogue.controller = make_controller("react")
        self._offers.is_by_text = True
        return True

    async def _look_at_tools(self) -> None:
        """Servers that are back and tools that are new come in before the question."""
        await self._hear_news()
        await self._toolbox.refresh()
        news = await self._offers.record(tells_model=True)
        if news is not None:
            self._conversation.add(news)

    async def _hear_news(self) -> None:
        """What became of the alerts comes in before the question, too."""
        news = await self._journal.read_news()
        if news is None:
            return
        message = Message("user", self._mask(tell_of_alerts(news)))
        await self._journal.record_news(news, message)
        self._conversation.add(message)

    async def _conclude(self, answer: Answer, conclusion: Conclude) -> AgentOutcome | None:
        """End if the answer counts, or tell the model why it does not; in the end it is made to
        conclude."""
        # Who does not iterate may put right once what is wrong with its only answer.
        is_last = not self._controller.may_iterate and self._reviewer.objections > 0
        review = await self._reviewer.review(conclusion.text, is_last=is_last)
        if not review.objection:
            kind = self._task.interaction_type or self._controller.final_interaction_type
            return await self._ending.conclude(answer, kind, conclusion, review)
        await self._dialogue.record(
            answer, kind=self._kind, kept=conclusion.kept, shown=conclusion.text,
            sent_back=review.reason,
        )  # fmt: skip
        await self._dialogue.tell(Failure("answer_not_accepted", review.reason), about="answer")
        await self._dialogue.nudge(review.objection)
        return await self._ending.conclude_by_force() if self._reviewer.is_out_of_patience else None

    async def _ask_again(self, answer: Answer, useless: AskAgain) -> AgentOutcome | None:
        failure = Failure(useless.code, explain_useless(useless.reason, answer))
        await self._dialogue.record(answer, kind=self._kind, failure=failure)
        last_nudge = self._ending.early_prompt if useless.may_conclude else ""
        return self._end_with(
            await self._bad_answers.ask_again(failure, useless.nudge, last_nudge=last_nudge)
        )

    async def _call_tools(self, answer: Answer, wanted: CallTools) -> AgentOutcome | None:
        calls = wanted.calls
        if wanted.note:
            ids: list[JSON] = [call.id for call in calls]
            answer.notes.append(Note("notice", wanted.note, {"written_calls": ids}))
        numbers = await self._dialogue.record(
            answer, kind=self._kind, calls=calls, kept=wanted.kept, shown=wanted.shown
        )
        self._bad_answers.note_calls()
        self._reviewer.note_calls()
        by_id = {call.id: number for call, number in zip(calls, numbers, strict=True)}
        is_late = await self._run_calls(calls, by_id, answer.deadline)
        if not is_late:
            self._bad_answers.note_results()
            return None
        limit = self._task.limits.iteration
        failure = Failure(
            ITERATION_TIMEOUT, f"Tools did not end within the {limit:g} s an iteration may take."
        )
        return self._end_with(await self._bad_answers.note_late(failure))

    async def _run_calls(
        self, calls: Sequence[ToolCall], numbers: Mapping[str, int], deadline: float
    ) -> bool:
        """Run calls and keep their results; True when the iteration's time ran out."""
        runner = CallRunner(
            toolbox=self._toolbox,
            journal=self._journal,
            controller=self._controller,
            count_identical=self._conversation.count_identical,
            shorten=self._shorten,
            iteration_limit=self._task.limits.iteration,
        )
        results = await runner.run(calls, numbers, deadline=deadline)
        self._conversation.place_results(results.messages)
        return results.is_late

    async def _shorten(
        self, record: ToolCallRecord, write: Callable[[str], Message], deadline: float
    ) -> Message | None:
        now = Circumstances(
            self._bad_answers.model, self._dialogue.iteration, self._conversation.messages, deadline
        )
        return await self._summaries.shorten(record, now, write)

    @property
    def _kind(self) -> InteractionType:
        return self._task.interaction_type or self._controller.interaction_type

    def _end_with(self, failure: Failure | None) -> AgentOutcome | None:
        return None if failure is None else self._ending.fail(failure)
