"""Runs the tool calls of one answer, side by side, and writes each down as it ends."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agents.call_time import CallTime
from agents.controllers import Controller
from agents.ports import Journal
from agents.recall import RECALL, RecallToolbox
from agents.records import ToolCallRecord
from agents.result_texts import write_result
from agents.types import Message, ToolCall, ToolResult
from config.words import count

MAX_IDENTICAL_CALLS = 3


@dataclass(frozen=True)
class CallRunner:
    """Executes proposed calls. Every one gets exactly one result, refused ones too."""

    toolbox: RecallToolbox
    journal: Journal
    controller: Controller
    count_identical: Callable[[ToolCall], int]
    shorten: Callable[[ToolCallRecord, Callable[[str], Message], float], Awaitable[Message | None]]
    """Makes a summary of a result that is written down already, where one is due."""
    iteration_limit: float

    async def run(
        self, calls: Sequence[ToolCall], numbers: Mapping[str, int], *, deadline: float
    ) -> "CallResults":
        """Run the calls at the same time; their messages come back in the order proposed.

        A call that does not end before `deadline` gets a result that says so. What a person takes
        to decide about a call is added to its time.
        """
        shown = count(len(calls), "tool call")
        self.journal.report_progress("gathering_info", f"Running {shown}")
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._run_one(call, numbers[call.id], deadline))
                    for call in calls
                ]
        except BaseExceptionGroup as errors:
            # Tools never raise, so this is the database: one reason is enough to stop.
            raise errors.exceptions[0] from errors
        done = [task.result() for task in tasks]
        return CallResults(
            tuple(message for message, _ in done), any(is_late for _, is_late in done)
        )

    async def _run_one(self, call: ToolCall, number: int, deadline: float) -> tuple[Message, bool]:
        time = CallTime(deadline)
        result, is_late = await self._execute(call, number, time)
        target = self.toolbox.identify(call)
        text = write_result(number, target, result)
        message = self.controller.write_result(call, text)
        record = ToolCallRecord(number, call, target, result, message)
        await self.journal.record_tool_call(record)
        shorter = await self.shorten(
            record, lambda text: self.controller.write_result(call, text), time.at
        )
        return shorter or message, is_late

    async def _execute(
        self, call: ToolCall, number: int, time: CallTime
    ) -> tuple[ToolResult, bool]:
        repeats = self.count_identical(call)
        if repeats > MAX_IDENTICAL_CALLS:
            return _refuse_repeat(call, can_recall=self.toolbox.can_recall), False
        if reason := self.controller.refuse(call):
            return _refuse(reason), False
        await self.journal.confirm_lease()
        try:
            async with time:
                result = await self.toolbox.execute(
                    call,
                    report_progress=lambda text: self.journal.report_tool_progress(number, text),
                )
        except TimeoutError:
            if not time.is_over:
                raise
            return _describe_late(call, self.iteration_limit), True
        return result, False


@dataclass(frozen=True)
class CallResults:
    """The messages of one round of calls; `is_late` when the iteration's time ran out."""

    messages: tuple[Message, ...]
    is_late: bool


def _refuse_repeat(call: ToolCall, *, can_recall: bool) -> ToolResult:
    back = f" ({RECALL} brings back one you have in short form)" if can_recall else ""
    text = (
        f"Refused: {call.name} was already called {MAX_IDENTICAL_CALLS} times with exactly these "
        f"arguments. Use the results you have{back}, call it with other arguments, or conclude and "
        "say what could not be found out."
    )
    return _refuse(text)


def _refuse(text: str) -> ToolResult:
    return ToolResult(content=text, stored=text, is_error=True, size_bytes=len(text.encode()))


def _describe_late(call: ToolCall, limit: float) -> ToolResult:
    text = (
        f"{call.name} was stopped: this iteration may take {limit:g} s and they are over. "
        "It is not known whether the call had an effect."
    )
    return _refuse(text)
