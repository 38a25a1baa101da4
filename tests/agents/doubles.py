"""Doubles of the three ports: a scripted model, scripted tools and a journal that remembers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agents.llm_events import AnswerFinished, CallProposed, LLMEvent, TextDelta
from agents.ports import LLMOptions, ProposedAnswer, ReportProgress, RetryRule, Review
from agents.records import (
    CallPlan,
    IncidentNews,
    LLMCallRecord,
    ModelSwitch,
    OffersRecord,
    ProviderWait,
    SummaryLabel,
    SummaryRecord,
    ToolCallRecord,
)
from agents.types import (
    BlockKind,
    Message,
    Note,
    Phase,
    ServerOffer,
    StoredResult,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolTarget,
)

# pytest sets its own filters for every test; litellm's types warn whenever one is first used.
READ_ONLY = "ignore:.*using the `ReadOnly` qualifier:UserWarning"

HANG = "hang"
Step = LLMEvent | Exception | str
Answer = Sequence[Step]


def say(text: str, *, reason: str = "stop") -> Answer:
    """An answer that streams a text word by word."""
    words = [TextDelta(word + " ") for word in text.split(" ")[:-1]]
    return [*words, TextDelta(text.split(" ")[-1]), AnswerFinished(reason)]


def call(*calls: ToolCall, text: str = "") -> Answer:
    """An answer that proposes tool calls."""
    before = [TextDelta(text)] if text else []
    return [*before, *(CallProposed(c) for c in calls), AnswerFinished("tool_calls")]


def tool(name: str, call_id: str = "c1", arguments: str = "{}") -> ToolCall:
    return ToolCall(call_id, f"ops__{name}", arguments)


@dataclass
class ScriptedLLM:
    """Plays one answer per call; the last one is played again when there are no more."""

    answers: list[Answer]
    provider_name: str = "scripted"
    model: str = "rehearsed-1"
    input_limit: int = 100_000
    retry_rule: RetryRule = RetryRule()  # noqa: RUF009 (frozen)
    asked: list[tuple[tuple[Message, ...], tuple[ToolSpec, ...]]] = field(default_factory=list)
    closed: int = 0
    hanging: asyncio.Event = field(default_factory=asyncio.Event)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncIterator[LLMEvent]:
        return self._ask((tuple(messages), tuple(tools)), options)

    async def _ask(
        self, question: tuple[tuple[Message, ...], tuple[ToolSpec, ...]], options: LLMOptions
    ) -> AsyncGenerator[LLMEvent, None]:
        await options.before_request()
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(question)
        async with aclosing(self._play(answer)) as events:
            async for event in events:
                yield event

    async def _play(self, answer: Answer) -> AsyncGenerator[LLMEvent, None]:
        try:
            for step in answer:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, str):
                    self.hanging.set()
                    await asyncio.Event().wait()
                    continue
                yield step
        finally:
            self.closed += 1


@dataclass
class MemoryResults:
    """Results of a session by number; one that is not finished has no text."""

    found: Mapping[int, StoredResult] = field(default_factory=dict)

    async def read_result(self, number: int) -> StoredResult | None:
        return self.found.get(number)


Tool = Callable[[ToolCall], Awaitable[str]]


@dataclass
class ScriptedToolbox:
    """Tools of one server, `ops`; an unknown one is an error the model can read."""

    tools: Mapping[str, str | Tool] = field(default_factory=dict)
    instructions: Mapping[str, str] = field(default_factory=dict)
    server_words: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    executed: list[ToolCall] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    """What each answer is met with; the last one for all that follow. An empty text is kept."""
    news: list[tuple[ServerOffer, ...]] = field(default_factory=list)
    """What servers give at each refresh, from the opening on; the last one for all that follow."""
    refreshed: int = 0
    proposed: list[ProposedAnswer] = field(default_factory=list)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(
            ToolSpec(f"ops.{name}", f"ops__{name}", f"Does {name}", {"type": "object"})
            for name in self.tools
        )

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        return self.news[min(self.refreshed, len(self.news) - 1)] if self.news else ()

    async def refresh(self) -> None:
        self.refreshed += 1

    def identify(self, call: ToolCall) -> ToolTarget:
        server, _, name = call.name.rpartition("__")
        return ToolTarget(server, name, {"raw": call.arguments})

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        self.executed.append(call)
        answer = self.tools.get(call.name.removeprefix("ops__"))
        if answer is None:
            text = f"There is no tool {call.name}."
            return ToolResult(text, text, is_error=True)
        report_progress("working")
        text = answer if isinstance(answer, str) else await answer(call)
        return ToolResult(text, text, size_bytes=len(text))

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        self.proposed.append(answer)
        position = min(len(self.proposed), len(self.reviews)) - 1
        review = self.reviews[position] if self.reviews else Review(answer.text)
        return replace(review, text=review.text or answer.text)


@dataclass
class MemoryJournal:
    """Remembers everything it is told, in order; numbers tool calls from 1."""

    log: list[str] = field(default_factory=list)
    prompts: list[tuple[Message, ...]] = field(default_factory=list)
    blocks: dict[str, BlockKind] = field(default_factory=dict)
    deltas: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    llm_calls: list[LLMCallRecord] = field(default_factory=list)
    plans: list[CallPlan] = field(default_factory=list)
    tool_calls: list[ToolCallRecord] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    switches: list[ModelSwitch] = field(default_factory=list)
    summaries: list[SummaryRecord] = field(default_factory=list)
    offers: list[OffersRecord] = field(default_factory=list)
    news: list[IncidentNews] = field(default_factory=list)
    """What it is told, a piece before each question."""
    told_news: list[tuple[IncidentNews, Message]] = field(default_factory=list)
    waits: list[ProviderWait] = field(default_factory=list)
    ended_waits: dict[str, str] = field(default_factory=dict)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    progress: list[tuple[Phase, str]] = field(default_factory=list)
    tool_progress: list[tuple[int, str]] = field(default_factory=list)
    raise_on_tool_call: Exception | None = None
    raise_on_delta: Exception | None = None
    numbered: int = 0

    lease_error: Exception | None = None

    async def confirm_lease(self) -> None:
        if self.lease_error is not None:
            raise self.lease_error

    async def record_prompt(self, messages: Sequence[Message]) -> None:
        self.log.append("prompt")
        self.prompts.append(tuple(messages))

    async def open_block(self, kind: BlockKind) -> str:
        block_id = f"b{len(self.blocks) + 1}"
        self.log.append(f"open {kind}")
        self.blocks[block_id] = kind
        self.deltas[block_id] = []
        return block_id

    def extend_block(self, block_id: str, offset: int, delta: str) -> None:
        if self.raise_on_delta is not None:
            raise self.raise_on_delta
        self.deltas[block_id].append((offset, delta))

    def end_block(self, block_id: str) -> None:
        self.log.append(f"end {self.blocks[block_id]}")

    async def record_llm_call(self, record: LLMCallRecord) -> tuple[int, ...]:
        self.log.append(f"llm {record.interaction_type}")
        self.llm_calls.append(record)
        first = self.numbered + 1
        self.numbered += len(record.planned_calls)
        return tuple(range(first, self.numbered + 1))

    async def record_calls(self, plan: CallPlan) -> tuple[int, ...]:
        self.log.append("calls")
        self.plans.append(plan)
        first = self.numbered + 1
        self.numbered += len(plan.planned_calls)
        return tuple(range(first, self.numbered + 1))

    async def record_tool_call(self, record: ToolCallRecord) -> None:
        if self.raise_on_tool_call is not None:
            raise self.raise_on_tool_call
        self.log.append(f"tool {record.number}")
        self.tool_calls.append(record)

    async def open_summary(self, label: SummaryLabel) -> str:
        block_id = f"s{sum(entry == 'open summary' for entry in self.log) + 1}"
        self.log.append("open summary")
        self.deltas[block_id] = []
        return block_id

    async def record_summary(self, record: SummaryRecord) -> None:
        self.log.append(f"summary {record.status}")
        self.summaries.append(record)

    async def read_news(self) -> IncidentNews | None:
        return self.news.pop(0) if self.news else None

    async def record_news(self, news: IncidentNews, message: Message) -> None:
        self.log.append("news")
        self.told_news.append((news, message))

    async def record_offers(self, record: OffersRecord) -> None:
        self.log.append("offers")
        self.offers.append(record)

    async def open_wait(self, wait: ProviderWait) -> str:
        self.log.append(f"wait for {wait.provider_name}")
        self.waits.append(wait)
        self.waiting.set()
        return f"w{len(self.waits)}"

    async def close_wait(self, wait_id: str, told: str) -> None:
        self.log.append(f"end of {wait_id}")
        self.ended_waits[wait_id] = told

    async def record_note(self, note: Note) -> None:
        self.log.append(f"note {note.kind}")
        self.notes.append(note)

    async def record_fallback(self, switch: ModelSwitch) -> None:
        self.log.append("note provider_fallback")
        self.switches.append(switch)

    def report_progress(self, phase: Phase, message: str) -> None:
        self.progress.append((phase, message))

    def report_tool_progress(self, number: int, text: str) -> None:
        self.tool_progress.append((number, text))

    def read_stored_messages(self) -> list[Message]:
        """The messages as a database would have kept them, in the order they were written."""
        stored = [message for prompt in self.prompts for message in prompt]
        stored += [r.message for r in self.llm_calls if r.message is not None]
        shorter = {r.label.number: r.message for r in self.summaries if r.message is not None}
        return stored + [shorter.get(r.number, r.message) for r in self.tool_calls]

    def join_deltas(self, kind: BlockKind) -> str:
        block_id = next(block for block, found in self.blocks.items() if found == kind)
        return "".join(delta for _, delta in self.deltas[block_id])
