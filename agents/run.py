"""The loop every agent runs: ask the model, do what it asks for, until it concludes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.answers import (
    ITERATION_TIMEOUT,
    REPETITION,
    TIMEOUTS,
    Answer,
    Failure,
    Question,
    ask,
    explain_useless,
)
from agents.calls import CallRunner
from agents.controllers import AskAgain, CallTools, Conclude, make_controller
from agents.conversation import Conversation
from agents.fallback import FallbackPlan, FallbackState
from agents.patience import Patience
from agents.ports import LLM, Journal, LLMOptions, Toolbox
from agents.prompts.nudges import (
    ask_after_broken_answer,
    ask_after_repetition,
    ask_to_conclude,
)
from agents.streaming import BlockStatus
from agents.task import AgentTask
from agents.types import (
    JSON,
    AgentOutcome,
    InteractionType,
    LLMCallRecord,
    Message,
    ModelName,
    Note,
    Phase,
    PlannedCall,
    ToolCall,
    ToolSpec,
)

MAX_SINGLE_ATTEMPTS = 6
"""Model calls of a controller that does not iterate; only useless answers use them up."""


async def run_agent(
    task: AgentTask,
    *,
    llm: LLM,
    toolbox: Toolbox,
    journal: Journal,
    fallbacks: FallbackPlan | None = None,
) -> AgentOutcome:
    """Work on a task until it is concluded, fails or runs out of iterations.

    When the model fails, the next one of `fallbacks` takes over. Goes on from `task.history` when
    that is there. Cancelling the coroutine stops the model call and the tool calls; what is open on
    the timeline is left to the caller.
    """
    plan = fallbacks or FallbackPlan(ModelName(llm.provider_name, "", llm.model))
    return await _Execution(task, llm, toolbox, journal, plan).run()


class _Execution:
    def __init__(
        self, task: AgentTask, llm: LLM, toolbox: Toolbox, journal: Journal, plan: FallbackPlan
    ) -> None:
        self._task = task
        self._llm = llm
        self._toolbox = toolbox
        self._journal = journal
        self._controller = make_controller(task.controller)
        self._fallback = FallbackState(plan, is_single_shot=not self._controller.may_iterate)
        self._conversation = Conversation(task.history or task.opening)
        self._iteration = self._count_past_iterations()
        self._patience = Patience()
        self._known_notes: list[Note] = []

    async def run(self) -> AgentOutcome:
        if not self._task.history:
            await self._journal.record_prompt(self._task.opening)
        answer = await self._resume()
        if answer:
            return await self._complete(answer)
        while self._iteration < self._max_iterations:
            self._iteration += 1
            outcome = await self._iterate()
            if outcome is not None:
                return outcome
        if not self._controller.may_iterate:
            return self._end(Failure("no_answer", self._patience.last))
        return await self._conclude_by_force()

    @property
    def _max_iterations(self) -> int:
        if self._controller.may_iterate:
            return self._task.max_iterations
        return MAX_SINGLE_ATTEMPTS

    def _count_past_iterations(self) -> int:
        if not self._task.history:
            return 0
        return min(self._conversation.count_iterations(), self._max_iterations)

    async def _resume(self) -> str:
        """Finish what an interrupted iteration left open; returns its answer if it had one."""
        calls = self._conversation.find_open_calls()
        if calls:
            await self._run_calls(calls, self._task.open_numbers, self._start_deadline())
        return self._conversation.find_answer()

    async def _iterate(self) -> AgentOutcome | None:
        deadline = self._start_deadline()
        self._report(self._task.phase or self._controller.phase, f"Asking {self._llm.model}")
        tools = self._controller.offer(self._toolbox.specs)
        answer = await self._ask(tools, deadline)
        if answer.failure is not None:
            return await self._react_to_failure(answer, answer.failure, tools)
        self._fallback.note_success()
        match self._controller.decide(answer.text, tuple(answer.calls)):
            case CallTools(calls):
                return await self._call_tools(answer, calls, tools, deadline)
            case Conclude(text):
                await self._record(answer, tools, kind=self._final_kind, is_final=True)
                if answer.finish_reason == "length":
                    await self._tell_cut_answer()
                return await self._complete(text)
            case AskAgain(reason, nudge):
                failure = Failure("empty_answer", explain_useless(reason, answer.finish_reason))
                await self._record(answer, tools, kind=self._kind, failure=failure)
                return await self._ask_again_after_useless(failure, nudge)

    # Asking

    async def _ask(self, tools: tuple[ToolSpec, ...], deadline: float) -> Answer:
        limits = self._task.limits
        options = LLMOptions(
            first_chunk_timeout=limits.first_chunk,
            stall_timeout=limits.stall,
            call_timeout=limits.llm_call,
            max_output_tokens=self._task.max_output_tokens,
        )
        question = Question(self._conversation.messages, tools, options, deadline, limits.iteration)
        return await ask(self._llm, question, self._journal)

    async def _record(
        self,
        answer: Answer,
        tools: tuple[ToolSpec, ...],
        *,
        kind: InteractionType,
        calls: tuple[ToolCall, ...] = (),
        failure: Failure | None = None,
        is_final: bool = False,
    ) -> tuple[int, ...]:
        """Write one model call down and, when it was good, keep it in the conversation."""
        message = None if failure else _finish_message(answer, calls)
        status: BlockStatus = "completed"
        if failure is not None:
            status = "timed_out" if failure.code in TIMEOUTS else "failed"
        record = LLMCallRecord(
            interaction_type=kind,
            iteration=self._iteration,
            provider_name=self._llm.provider_name,
            model=self._llm.model,
            messages_count=len(self._conversation.messages),
            tools_count=len(tools),
            blocks=answer.close_blocks(status, is_final=is_final),
            message=message,
            planned_calls=tuple(PlannedCall(c, self._toolbox.identify(c)) for c in calls),
            usage=answer.usage,
            duration_ms=answer.duration_ms,
            error=failure.message if failure else "",
            error_code=failure.code if failure else "",
            thinking=answer.thinking,
            notes=self._take_new_notes(answer),
        )
        numbers = await self._journal.record_llm_call(record)
        if message is not None:
            self._conversation.add(message)
        return numbers

    def _take_new_notes(self, answer: Answer) -> tuple[Note, ...]:
        """What each call says anew, such as that a tool cannot be offered, is told once."""
        new = [note for note in answer.notes if note not in self._known_notes]
        self._known_notes += new
        return tuple(new)

    # Tools

    async def _call_tools(
        self,
        answer: Answer,
        calls: tuple[ToolCall, ...],
        tools: tuple[ToolSpec, ...],
        deadline: float,
    ) -> AgentOutcome | None:
        numbers = await self._record(answer, tools, kind=self._kind, calls=calls)
        self._patience.note_calls()
        by_id = {call.id: number for call, number in zip(calls, numbers, strict=True)}
        is_late = await self._run_calls(calls, by_id, deadline)
        if not is_late:
            self._patience.note_results()
            return None
        limit = self._task.limits.iteration
        failure = Failure(
            ITERATION_TIMEOUT, f"Tools did not end within the {limit:g} s an iteration may take."
        )
        await self._tell(failure)
        return self._end_if(self._patience.count_timeout(failure))

    async def _run_calls(
        self, calls: Sequence[ToolCall], numbers: Mapping[str, int], deadline: float
    ) -> bool:
        """Run calls and keep their results; True when the iteration's time ran out."""
        self._report("gathering_info", f"Running {_count(len(calls), 'tool call')}")
        runner = CallRunner(
            toolbox=self._toolbox,
            journal=self._journal,
            controller=self._controller,
            count_identical=self._conversation.count_identical,
            iteration_limit=self._task.limits.iteration,
        )
        results = await runner.run(calls, numbers, deadline=deadline)
        self._conversation.place_results(results.messages)
        return results.is_late

    # Bad answers

    async def _react_to_failure(
        self, answer: Answer, failure: Failure, tools: tuple[ToolSpec, ...]
    ) -> AgentOutcome | None:
        await self._record(answer, tools, kind=self._kind, failure=failure)
        if failure.code == REPETITION:
            return await self._ask_again_after_useless(failure, ask_after_repetition(answer.text))
        await self._tell(failure)
        outcome = await self._switch_or_count(failure)
        if outcome is None and failure.partial:
            await self._nudge(ask_after_broken_answer(failure.message, answer.text))
        return outcome

    async def _switch_or_count(self, failure: Failure) -> AgentOutcome | None:
        """Let another model take over when it is time to, at the latest before this one fails."""
        if self._fallback.note_failure(failure.code) and await self._switch_model(failure):
            return None
        end = self._count_failure(failure)
        if end is None or await self._switch_model(failure):
            return None
        return self._end(replace(end, message=self._fallback.explain(end.message)))

    async def _switch_model(self, failure: Failure) -> bool:
        takeover = self._fallback.take_next(failure)
        if takeover is None:
            return False
        await self._journal.record_fallback(takeover.switch)
        self._llm = takeover.llm
        self._patience = Patience()
        self._iteration -= 1  # asked again, of another
        return True

    def _count_failure(self, failure: Failure) -> Failure | None:
        if failure.code in TIMEOUTS:
            return self._patience.count_timeout(failure)
        if failure.code == "partial_stream_error":
            return self._patience.count_broken(failure)
        # Where somebody could take over, this one is asked once more before.
        return None if self._fallback.has_next else failure

    async def _ask_again_after_useless(self, failure: Failure, nudge: str) -> AgentOutcome | None:
        await self._tell(failure)
        self._fallback.note_success()
        end = self._patience.count_useless(failure)
        if end is None:
            await self._nudge(nudge)
        return self._end_if(end)

    async def _nudge(self, text: str) -> None:
        message = Message("user", text)
        await self._journal.record_prompt((message,))
        self._conversation.add(message)

    async def _tell(self, failure: Failure) -> None:
        await self._journal.record_note(
            Note(
                "error",
                failure.message,
                {"error_code": failure.code, "provider": self._llm.provider_name},
            )
        )

    # Ends

    async def _conclude_by_force(self) -> AgentOutcome:
        self._report("concluding", f"Concluding after {_count(self._iteration, 'iteration')}")
        if not self._is_forced():
            await self._nudge(self._forced_prompt)
        iteration = self._iteration
        while True:
            answer = await self._ask((), self._start_deadline())
            failure = answer.failure
            if failure is None and not answer.text.strip():
                failure = Failure("empty_answer", "The model gave an empty answer.")
            if failure is None:
                await self._record(answer, (), kind="forced_conclusion", is_final=True)
                return await self._complete(answer.text.strip())
            await self._record(answer, (), kind="forced_conclusion", failure=failure)
            await self._tell(failure)
            # Nothing comes after this: what could be asked again is asked of another model.
            may_switch = failure.code not in (REPETITION, "empty_answer")
            if not may_switch or not await self._switch_model(failure):
                return self._give_up_conclusion(failure)
            self._iteration = iteration

    def _give_up_conclusion(self, failure: Failure) -> AgentOutcome:
        iterations = _count(self._task.max_iterations, "iteration")
        reason = f"After {iterations} no conclusion could be had. {failure.message}"
        return self._end(Failure(failure.code, self._fallback.explain(reason)))

    async def _complete(self, text: str) -> AgentOutcome:
        is_forced = self._is_forced()
        metadata: dict[str, JSON] = {}
        if is_forced:
            metadata = {
                "forced_conclusion": True,
                "iterations_used": self._iteration,
                "max_iterations": self._task.max_iterations,
            }
        await self._journal.record_note(Note("final_analysis", text, metadata))
        return AgentOutcome(
            "completed",
            final_analysis=text,
            iterations_used=self._iteration,
            is_forced=is_forced,
        )

    def _end_if(self, failure: Failure | None) -> AgentOutcome | None:
        return None if failure is None else self._end(failure)

    def _end(self, failure: Failure) -> AgentOutcome:
        return AgentOutcome(
            "timed_out" if failure.code in TIMEOUTS else "failed",
            error=failure.message,
            error_code=failure.code,
            iterations_used=self._iteration,
        )

    async def _tell_cut_answer(self) -> None:
        await self._tell(
            Failure(
                "output_limit",
                "The model reached its output limit: the end of this answer is missing.",
            )
        )

    # Small things

    @property
    def _kind(self) -> InteractionType:
        return self._task.interaction_type or self._controller.interaction_type

    @property
    def _final_kind(self) -> InteractionType:
        return self._task.interaction_type or self._controller.final_interaction_type

    @property
    def _forced_prompt(self) -> str:
        return ask_to_conclude(self._task.max_iterations)

    def _is_forced(self) -> bool:
        """Whether the model was made to conclude, now or before an interruption."""
        return any(
            message.role == "user" and message.content == self._forced_prompt
            for message in self._conversation.messages
        )

    def _start_deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._task.limits.iteration

    def _report(self, phase: Phase, message: str) -> None:
        self._journal.report_progress(phase, message)


def _finish_message(answer: Answer, calls: tuple[ToolCall, ...]) -> Message:
    return replace(answer.message, tool_calls=calls)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
