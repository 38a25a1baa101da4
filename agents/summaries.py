"""Summaries of large tool results: who makes them, and what happens when nobody can.

A summary is asked for once the call is written down with its result as it is, and takes the
result's place when it is there. Whatever goes wrong, the agent goes on with the result.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.answers import ITERATION_TIMEOUT, REPETITION, Answer, Failure, Question, ask
from agents.estimating import BYTES_PER_TOKEN, CHARACTERS_PER_TOKEN, cut_at_line, estimate_tokens
from agents.fallback import Fallback
from agents.ports import LLM, Journal, LLMOptions
from agents.prompts.result_summary import build_result_summary
from agents.records import LLMCallRecord, SummaryLabel, SummaryRecord, ToolCallRecord
from agents.repetition import find_repetition
from agents.result_texts import write_summary
from agents.streaming import SummaryBlock
from agents.task import Limits
from agents.types import Message, ModelName
from agents.waiting import Patience
from tarsy.errors import AgentError

SLACK = 2
"""How many times the length it was told a summary may have before it is cut."""
INPUT_SHARE = 0.85
"""Of what a summarizer can read, the part for the result and what led to it."""
NOBODY = Failure("no_summarizer", "There is no model that could be asked.")


@dataclass(frozen=True)
class SummaryRule:
    """From how many tokens on a server's results are summarized, to how many, and by whom.

    `named` is the model to ask; None means the one that the execution itself is asking.
    """

    threshold_tokens: int
    max_tokens: int
    named: Fallback | None = None


@dataclass(frozen=True)
class SummaryPlan:
    """`rules` by server; a server without one is not summarized. `models` are the execution's own,
    in the order in which they may take over; none of them brings native tools along."""

    rules: Mapping[str, SummaryRule] = field(default_factory=dict)
    models: tuple[Fallback, ...] = ()


@dataclass(frozen=True)
class Circumstances:
    """What the execution is at when a summary is asked for."""

    model: ModelName
    iteration: int
    messages: Sequence[Message]
    deadline: float


Attempt = Literal["streaming", "completed", "failed", "timed_out"]
WriteMessage = Callable[[str], Message]


class Summaries:
    """Shortens the results of one execution. Who answered once is asked first from then on."""

    def __init__(
        self,
        plan: SummaryPlan,
        journal: Journal,
        *,
        options: LLMOptions,
        limits: Limits,
        can_recall: bool,
        mask: Callable[[str], str],
    ) -> None:
        self._mask = mask
        self._plan = plan
        self._journal = journal
        self._options = replace(options, max_output_tokens=None)
        self._limits = limits
        self._can_recall = can_recall
        self._answerers: dict[ModelName, Fallback] = {}
        self._opened: dict[ModelName, LLM | str] = {}

    async def shorten(
        self, record: ToolCallRecord, now: Circumstances, write: WriteMessage
    ) -> Message | None:
        """The message with a summary in place of the result; None where the result stays."""
        rule = self._plan.rules.get(record.target.server)
        text = record.result.content
        if rule is None or record.result.is_error:
            return None
        if estimate_tokens(text) <= rule.threshold_tokens:
            return None
        self._journal.report_progress("distilling", f"Summarizing the result of T{record.number}")
        task = _Task(record, rule, text, _count_original(record, text), now, write)
        return await self._walk(task)

    async def _walk(self, task: "_Task") -> Message | None:
        """Ask one model after the other until one answers."""
        first = task.rule.named.name if task.rule.named else task.now.model
        usable = self._find_usable(task, first)
        current = next(usable, None)
        label = task.label(current[0].name if current else first, first)
        block_id = await self._journal.open_summary(label)
        if current is None:
            reason = _explain(self._explain_nobody())
            await self._journal.record_summary(
                SummaryRecord(block_id, label, "failed", reason, None)
            )
        while current is not None:
            choice, llm = current
            label = task.label(choice.name, first)
            question = self._make_question(task, llm)
            answer = await ask(llm, question, self._journal, SummaryBlock(block_id, self._journal))
            failure = answer.failure or _judge(answer)
            if failure is None:
                self._answerers[first] = choice
                return await self._keep(task, block_id, label, question, answer)
            current = None if failure.code == ITERATION_TIMEOUT else next(usable, None)
            goes_on = current is not None and not answer.text
            status: Attempt = failure.status
            call = _describe_call(task, label.model, question, answer, failure)
            await self._journal.record_summary(
                SummaryRecord(
                    block_id, label, "streaming" if goes_on else status, _explain(failure), call
                )
            )
            if current is not None and not goes_on:
                # What was shown of it cannot be taken back: the next one begins anew.
                block_id = await self._journal.open_summary(task.label(current[0].name, first))
        return None

    async def _keep(
        self, task: "_Task", block_id: str, label: SummaryLabel, question: Question, answer: Answer
    ) -> Message:
        summary = self._mask(_cut(answer, question))
        record = task.record
        message = task.write(
            write_summary(
                record.number,
                record.target,
                summary,
                label.original_tokens,
                can_recall=self._can_recall,
                check=record.result.check,
            )
        )
        call = _describe_call(task, label.model, question, answer, None)
        await self._journal.record_summary(
            SummaryRecord(block_id, label, "completed", summary, call, message)
        )
        return message

    def _make_question(self, task: "_Task", llm: LLM) -> Question:
        target = task.record.target
        room = int(llm.input_limit * INPUT_SHARE) * BYTES_PER_TOKEN
        messages = build_result_summary(
            server=target.server,
            tool=target.tool,
            arguments=target.arguments,
            max_tokens=task.rule.max_tokens,
            conversation=task.now.messages,
            output=task.text,
            room=room,
        )
        return Question(
            messages,
            (),
            self._options,
            task.now.deadline,
            self._limits.iteration,
            longest_text=task.rule.max_tokens * CHARACTERS_PER_TOKEN * SLACK,
            # The result itself is always another way to go on.
            patience=Patience(self._limits.ends_at, has_others=True),
        )

    # Who is asked

    def _find_usable(self, task: "_Task", first: ModelName) -> Iterator[tuple[Fallback, LLM]]:
        """Who answered last or was named, the execution's fallbacks, and its present model."""
        own = {each.name: each for each in self._plan.models}
        start = self._answerers.get(first) or task.rule.named or own.get(first)
        others = (*self._plan.models[1:], own.get(task.now.model))
        seen: set[ModelName] = set()
        for choice in (start, *others):
            if choice is None or choice.name in seen:
                continue
            seen.add(choice.name)
            llm = self._open(choice)
            if not isinstance(llm, str):
                yield choice, llm

    def _open(self, choice: Fallback) -> LLM | str:
        """The model, or why it cannot be used here."""
        if choice.name not in self._opened:
            try:
                self._opened[choice.name] = choice.open()
            except AgentError as error:
                self._opened[choice.name] = str(error)
        return self._opened[choice.name]

    def _explain_nobody(self) -> Failure:
        reasons = [why for why in self._opened.values() if isinstance(why, str)]
        return replace(NOBODY, message=" ".join(reasons)) if reasons else NOBODY


@dataclass(frozen=True)
class _Task:
    record: ToolCallRecord
    rule: SummaryRule
    text: str
    original_tokens: int
    now: Circumstances
    write: WriteMessage

    def label(self, model: ModelName, first: ModelName) -> SummaryLabel:
        return SummaryLabel(
            self.record.number,
            self.record.target,
            self.original_tokens,
            model,
            is_fallback=model != first,
        )


def _count_original(record: ToolCallRecord, text: str) -> int:
    """Tokens before any cut; where there was one, by the size before it."""
    result = record.result
    seen = len(text.encode("utf-8", "replace"))
    cut_away = max(0, result.size_bytes - seen) if result.truncated else 0
    return estimate_tokens(text) + cut_away // CHARACTERS_PER_TOKEN


def _judge(answer: Answer) -> Failure | None:
    if find_repetition(answer.text) is not None:
        return Failure(REPETITION, "The model began to repeat itself and was stopped.")
    if answer.text.strip():
        return None
    if answer.is_cut:
        return Failure("empty_answer", "The model reached its output limit before it wrote any.")
    return Failure("empty_answer", "The model gave an empty answer.")


def _explain(failure: Failure) -> str:
    return (
        f"There is no summary. {failure.message} The agent goes on with the result itself, cut "
        "where it is too long."
    )


def _cut(answer: Answer, question: Question) -> str:
    text = answer.text.strip()
    if not answer.is_cut:
        return text
    return f"{cut_at_line(text, question.longest_text or len(text))}\n[the summary was cut here]"


def _describe_call(
    task: _Task,
    model: ModelName,
    question: Question,
    answer: Answer,
    failure: Failure | None,
) -> LLMCallRecord:
    return LLMCallRecord(
        interaction_type="summarization",
        iteration=task.now.iteration,
        provider_name=model.provider_name,
        model=model.model,
        messages_count=len(question.messages),
        tools_count=0,
        blocks=(),
        message=None if failure else Message("assistant", answer.text),
        usage=answer.usage,
        duration_ms=answer.duration_ms,
        error=failure.message if failure else "",
        error_code=failure.code if failure else "",
        thinking=answer.thinking,
        asked=tuple(question.messages),
    )
