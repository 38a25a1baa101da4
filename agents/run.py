"""The loop every agent runs: ask the model, do what it asks for, until it concludes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.answers import (
    ITERATION_TIMEOUT,
    NO_CONCLUSION,
    REPETITION,
    TIMEOUTS,
    Answer,
    Failure,
    Question,
    ask,
    explain_no_conclusion,
    explain_useless,
)
from agents.calls import CallRunner
from agents.controllers import AskAgain, CallTools, Conclude, make_controller
from agents.conversation import Conversation
from agents.ports import LLM, Journal, LLMOptions, Toolbox
from agents.prompts.nudges import (
    ask_after_broken_answer,
    ask_after_repetition,
    ask_for_text_without_tools,
    ask_to_conclude,
    ask_to_conclude_early,
)
from agents.streaming import BlockStatus
from agents.task import AgentTask
from agents.types import (
    JSON,
    AgentOutcome,
    InteractionType,
    LLMCallRecord,
    Message,
    Note,
    Phase,
    PlannedCall,
    ToolCall,
    ToolSpec,
)

MAX_ASKED_AGAIN = 2
"""How often in a row a useless or a broken answer is asked for again."""
MAX_TIMEOUTS = 2
"""Timeouts in a row that end an execution."""
MAX_SINGLE_ATTEMPTS = 6
"""Model calls of a controller that does not iterate; only useless answers use them up."""


async def run_agent(
    task: AgentTask, *, llm: LLM, toolbox: Toolbox, journal: Journal
) -> AgentOutcome:
    """Work on a task until it is concluded, fails or runs out of iterations.

    Goes on from `task.history` when that is there. Cancelling the coroutine stops the model call
    and the tool calls; what is open on the timeline is left to the caller.
    """
    return await _Execution(task, llm, toolbox, journal).run()


@dataclass
class _Streaks:
    """Bad answers in a row; a good one clears them."""

    timeouts: int = 0
    broken: int = 0
    useless: int = 0


class _Execution:
    def __init__(self, task: AgentTask, llm: LLM, toolbox: Toolbox, journal: Journal) -> None:
        self._task = task
        self._llm = llm
        self._toolbox = toolbox
        self._journal = journal
        self._controller = make_controller(task.controller)
        self._conversation = Conversation(task.history or task.opening)
        self._iteration = self._count_past_iterations()
        self._streaks = _Streaks()
        self._forced_prompt = ask_to_conclude(task.max_iterations)
        self._early_prompt = ask_to_conclude_early()
        self._last_failure = ""

    async def run(self) -> AgentOutcome:
        if not self._task.history:
            await self._journal.record_prompt(self._task.opening)
        answer = await self._resume()
        if answer:
            return await self._complete(answer)
        while self._iteration < self._max_iterations and not self._is_forced():
            self._iteration += 1
            outcome = await self._iterate()
            if outcome is not None:
                return outcome
        if not self._controller.may_iterate:
            return self._fail("no_answer", self._last_failure)
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
        answer = self._controller.conclude(self._conversation.find_answer())
        return answer.text if answer else ""

    async def _iterate(self) -> AgentOutcome | None:
        deadline = self._start_deadline()
        self._report(self._task.phase or self._controller.phase, f"Asking {self._llm.model}")
        tools = self._controller.offer(self._toolbox.specs)
        answer = await self._ask(tools, deadline)
        if answer.failure is not None:
            return await self._react_to_failure(answer, answer.failure, tools)
        match self._controller.decide(answer.text, tuple(answer.calls)):
            case CallTools() as wanted:
                return await self._call_tools(answer, wanted, tools, deadline)
            case Conclude() as conclusion:
                await self._record_conclusion(answer, tools, self._final_kind, conclusion)
                if answer.finish_reason == "length":
                    await self._tell_cut_answer()
                return await self._complete(conclusion.text)
            case AskAgain(reason, nudge, code) as useless:
                failure = Failure(code, explain_useless(reason, answer))
                await self._record(answer, tools, kind=self._kind, failure=failure)
                return await self._ask_again_after_useless(
                    failure, nudge, may_conclude=useless.may_conclude
                )

    # Asking

    async def _ask(self, tools: tuple[ToolSpec, ...], deadline: float) -> Answer:
        limits = self._task.limits
        options = LLMOptions(
            first_chunk_timeout=limits.first_chunk,
            stall_timeout=limits.stall,
            call_timeout=limits.llm_call,
            max_output_tokens=self._task.max_output_tokens,
        )
        messages = self._controller.present(self._conversation.messages)
        question = Question(messages, tools, options, deadline, limits.iteration)
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
        kept: str | None = None,
        shown: str | None = None,
    ) -> tuple[int, ...]:
        """Write one model call down and, when it was good, keep it in the conversation."""
        message = None if failure else _finish_message(answer, calls, kept)
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
            blocks=answer.close_blocks(status, is_final=is_final, response=shown),
            message=message,
            planned_calls=tuple(PlannedCall(c, self._toolbox.identify(c)) for c in calls),
            usage=answer.usage,
            duration_ms=answer.duration_ms,
            error=failure.message if failure else "",
            error_code=failure.code if failure else "",
            thinking=answer.thinking,
        )
        numbers = await self._journal.record_llm_call(record)
        if message is not None:
            self._conversation.add(message)
        return numbers

    async def _record_conclusion(
        self,
        answer: Answer,
        tools: tuple[ToolSpec, ...],
        kind: InteractionType,
        conclusion: Conclude,
    ) -> None:
        await self._record(
            answer,
            tools,
            kind=kind,
            is_final=True,
            kept=conclusion.kept,
            shown=conclusion.text,
        )

    # Tools

    async def _call_tools(
        self, answer: Answer, wanted: CallTools, tools: tuple[ToolSpec, ...], deadline: float
    ) -> AgentOutcome | None:
        calls = wanted.calls
        numbers = await self._record(
            answer, tools, kind=self._kind, calls=calls, kept=wanted.kept, shown=wanted.shown
        )
        self._streaks.broken = self._streaks.useless = 0
        by_id = {call.id: number for call, number in zip(calls, numbers, strict=True)}
        is_late = await self._run_calls(calls, by_id, deadline)
        if not is_late:
            self._streaks.timeouts = 0
            return None
        limit = self._task.limits.iteration
        failure = Failure(
            ITERATION_TIMEOUT, f"Tools did not end within the {limit:g} s an iteration may take."
        )
        await self._tell(failure)
        return self._count_timeout(failure)

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
        if failure.code in TIMEOUTS:
            outcome = self._count_timeout(failure)
        elif failure.code == "partial_stream_error":
            outcome = self._count_broken(failure)
        else:
            outcome = self._fail(failure.code, failure.message)
        if outcome is None and failure.partial:
            await self._nudge(ask_after_broken_answer(failure.message, answer.text))
        return outcome

    async def _ask_again_after_useless(
        self, failure: Failure, nudge: str, *, may_conclude: bool = False
    ) -> AgentOutcome | None:
        await self._tell(failure)
        self._streaks.timeouts = self._streaks.broken = 0
        self._streaks.useless += 1
        self._last_failure = failure.message
        times = self._streaks.useless
        if times > MAX_ASKED_AGAIN:
            if may_conclude:
                await self._nudge(self._early_prompt)
                return None
            return self._fail(failure.code, f"{failure.message} It did so {times} times in a row.")
        await self._nudge(nudge)
        return None

    def _count_timeout(self, failure: Failure) -> AgentOutcome | None:
        self._streaks.timeouts += 1
        self._last_failure = failure.message
        if self._streaks.timeouts < MAX_TIMEOUTS:
            return None
        return self._time_out(failure)

    def _count_broken(self, failure: Failure) -> AgentOutcome | None:
        self._streaks.broken += 1
        self._last_failure = failure.message
        if self._streaks.broken <= MAX_ASKED_AGAIN:
            return None
        times = self._streaks.broken
        return self._fail(failure.code, f"{failure.message} It did so {times} times in a row.")

    async def _nudge(self, text: str) -> None:
        message = Message("user", text)
        await self._journal.record_prompt((message,))
        self._conversation.add(message)

    async def _tell(self, failure: Failure) -> None:
        await self._journal.record_note(
            Note("error", failure.message, {"error_code": failure.code})
        )

    # Ends

    async def _conclude_by_force(self) -> AgentOutcome:
        self._report("concluding", f"Concluding after {_count(self._iteration, 'iteration')}")
        if not self._is_forced():
            await self._nudge(self._forced_prompt)
        failure = NO_CONCLUSION
        for attempt in range(1 + MAX_ASKED_AGAIN):
            if attempt:
                await self._nudge(ask_for_text_without_tools())
            answer = await self._ask((), self._start_deadline())
            conclusion = None if answer.failure else self._controller.conclude(answer.text)
            if conclusion is not None:
                await self._record_conclusion(answer, (), "forced_conclusion", conclusion)
                return await self._complete(conclusion.text)
            failure = answer.failure or explain_no_conclusion(answer)
            await self._record(answer, (), kind="forced_conclusion", failure=failure)
            await self._tell(failure)
            if failure.code != "no_conclusion":
                break
        return self._end_without_conclusion(failure)

    def _end_without_conclusion(self, failure: Failure) -> AgentOutcome:
        iterations = _count(self._iteration, "iteration")
        reason = f"After {iterations} no conclusion could be had. {failure.message}"
        if failure.code in TIMEOUTS:
            return self._time_out(Failure(failure.code, reason))
        return self._fail(failure.code, reason)

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

    def _fail(self, code: str, reason: str) -> AgentOutcome:
        return AgentOutcome(
            "failed", error=reason, error_code=code, iterations_used=self._iteration
        )

    def _time_out(self, failure: Failure) -> AgentOutcome:
        return AgentOutcome(
            "timed_out",
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

    def _is_forced(self) -> bool:
        """Whether the model was made to conclude, now or before an interruption."""
        return any(
            message.role == "user" and message.content in (self._forced_prompt, self._early_prompt)
            for message in self._conversation.messages
        )

    def _start_deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._task.limits.iteration

    def _report(self, phase: Phase, message: str) -> None:
        self._journal.report_progress(phase, message)


def _finish_message(answer: Answer, calls: tuple[ToolCall, ...], kept: str | None) -> Message:
    content = answer.text if kept is None else kept
    return replace(answer.message, content=content, tool_calls=calls)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
