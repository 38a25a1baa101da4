"""The questions of one execution to its models: fitted to the window, asked, written down."""

import asyncio
from collections.abc import Callable

from agents.answers import Answer, Failure, Question, ask
from agents.budget import ContextBudget, explain_too_long
from agents.compaction import Fitted
from agents.controllers import Conclude, Controller, present_as_text
from agents.conversation import Conversation
from agents.message_masking import mask_message
from agents.outside import find_outside
from agents.ports import LLM, Journal, Review
from agents.recall import RecallToolbox
from agents.records import LLMCallRecord, PlannedCall
from agents.result_texts import is_summary
from agents.streaming import AnswerBlocks, BlockStatus
from agents.task import AgentTask
from agents.types import InteractionType, Message, Note, ToolCall, ToolSpec
from agents.waiting import Patience


class Dialogue:
    """Asks, keeps what is said in the conversation, and tells the journal.

    `llm` is who answers now, `controller` what an answer means and `iteration` where the work
    stands; the loop sets them. `has_others` says whether another provider could be asked instead.
    """

    def __init__(
        self,
        task: AgentTask,
        llm: LLM,
        toolbox: RecallToolbox,
        journal: Journal,
        controller: Controller,
        conversation: Conversation,
        mask: Callable[[str], str],
        has_others: Callable[[], bool],
    ) -> None:
        self._mask = mask
        self._has_others = has_others
        self.llm = llm
        self.iteration = 0
        self._task = task
        self._toolbox = toolbox
        self._journal = journal
        self.controller = controller
        self._conversation = conversation
        self._budget = ContextBudget(can_recall=toolbox.can_recall)
        self._presented = Fitted((), 0, (), fits=True)
        self._offered: tuple[ToolSpec, ...] = ()
        self._known_notes: list[Note] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said so far."""
        return self._conversation.messages

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools there are, whether or not they go out with a question."""
        return self._toolbox.specs

    @property
    def outside(self) -> tuple[str, ...]:
        """The texts of others that the model has read."""
        with_agents = not self.controller.may_repeat_agents
        return find_outside(self._task, self.messages, with_agents=with_agents)

    @property
    def ends_at(self) -> float:
        """When the execution has to have ended, by the clock of the loop."""
        return self._task.limits.ends_at

    def start_deadline(self) -> float:
        """When an iteration that begins now has to end, by the clock of the loop."""
        return asyncio.get_running_loop().time() + self._task.limits.iteration

    async def ask(
        self,
        kind: InteractionType,
        deadline: float,
        *,
        with_tools: bool = True,
        as_text: bool = False,
    ) -> Answer:
        """Ask once, and once more in fewer words when the model says that it was too long.

        `as_text` presents calls and results as words, for who takes no others.
        """
        answer = await self._ask_once(deadline, with_tools=with_tools, as_text=as_text)
        failure = answer.failure
        if failure is None or failure.code != "context_window" or not self._presented.fits:
            return answer
        known = self._conversation.messages
        if not self._budget.tighten(self._presented, known, self._offered, self.llm):
            return answer
        await self.record(answer, kind=kind, failure=failure)
        await self.tell(failure)
        return await self._ask_once(answer.deadline, with_tools=with_tools, as_text=as_text)

    async def _ask_once(self, deadline: float, *, with_tools: bool, as_text: bool) -> Answer:
        self._present(with_tools=with_tools)
        if not self._presented.fits:
            answer = Answer(AnswerBlocks(self._journal))
            answer.failure = explain_too_long(self._presented, self.llm)
            return answer
        messages = self.controller.present(self._presented.messages)
        if as_text:
            messages = present_as_text(messages)
        question = Question(
            messages,
            self._offered,
            self._task.llm_options,
            deadline,
            self._task.limits.iteration,
            patience=Patience(self.ends_at, has_others=self._has_others()),
        )
        return await ask(self.llm, question, self._journal)

    def _present(self, *, with_tools: bool) -> None:
        """Fit the conversation to the model; once some of it is shortened it can be recalled."""
        known = self._conversation.messages
        self._offered = self.controller.offer(self._toolbox.specs) if with_tools else ()
        self._presented = self._budget.fit(known, self._offered, self.llm)
        if with_tools and (self._presented.compacted or any(map(is_summary, known))):
            self._toolbox.offer()
            self._offered = self.controller.offer(self._toolbox.specs)
            self._presented = self._budget.fit(known, self._offered, self.llm)

    async def record(
        self,
        answer: Answer,
        *,
        kind: InteractionType,
        calls: tuple[ToolCall, ...] = (),
        failure: Failure | None = None,
        is_final: bool = False,
        kept: str | None = None,
        shown: str | None = None,
        sent_back: str = "",
    ) -> tuple[int, ...]:
        """Write one model call down and, when it was good, keep it in the conversation."""
        kept_message = answer.make_message(calls, kept) if failure is None else None
        message = mask_message(kept_message, self._mask) if kept_message else None
        status: BlockStatus = failure.status if failure else "completed"
        blocks = answer.close_blocks(status, is_final=is_final, response=shown)
        record = LLMCallRecord(
            interaction_type=kind,
            iteration=self.iteration,
            provider_name=self.llm.provider_name,
            model=self.llm.model,
            messages_count=len(self._conversation.messages),
            tools_count=len(self._offered),
            blocks=blocks,
            message=message,
            planned_calls=tuple(PlannedCall(c, self._toolbox.identify(c)) for c in calls),
            usage=answer.usage,
            duration_ms=answer.duration_ms,
            error=failure.message if failure else "",
            error_code=failure.code if failure else "",
            thinking=answer.thinking,
            notes=answer.take_new_notes(self._known_notes),
            estimated_tokens=self._presented.tokens,
            compacted=self._presented.compacted,
            max_iterations=self._task.max_iterations,
            sent_back=sent_back,
        )
        numbers = await self._journal.record_llm_call(record)
        if message is not None:
            self._conversation.add(message)
        return numbers

    async def record_conclusion(
        self, answer: Answer, kind: InteractionType, conclusion: Conclude, review: Review
    ) -> None:
        """Write the answer down; the model's own words are not final where some are withheld."""
        is_final = not review.metadata.get("withheld_claims")
        shown = review.text if is_final else conclusion.text
        await self.record(answer, kind=kind, is_final=is_final, kept=conclusion.kept, shown=shown)

    async def nudge(self, text: str) -> None:
        """Put a question of our own into the conversation."""
        # It may quote a broken answer.
        message = Message("user", self._mask(text))
        await self._journal.record_prompt((message,))
        self._conversation.add(message)

    async def tell(self, failure: Failure, *, about: str = "") -> None:
        """Show a failure on the timeline; `about` says which event tells of it as well."""
        metadata: dict[str, str] = {
            "error_code": failure.code,
            "provider": self.llm.provider_name,
        }
        if about:
            metadata["about"] = about
        await self._journal.record_note(Note("error", failure.message, metadata))
