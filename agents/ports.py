"""All an agent may ask of the world: a model, tools, and a place to write down what happened."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.llm_events import LLMEvent
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
    JSON,
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


class NotSent(Exception):
    """A request was held back, for its cause: no failure of the provider, so every client lets it
    through."""


async def _let_pass() -> None:
    """Holds nothing back."""


@dataclass(frozen=True)
class LLMOptions:
    """How one model call is to be made. Times are seconds; None leaves them to the provider's.

    `before_request` is awaited as the very last thing before the request leaves, behind whatever
    had to be built, connected or waited for; when it raises NotSent, nothing is sent.
    """

    first_chunk_timeout: float | None = None
    stall_timeout: float | None = None
    call_timeout: float | None = None
    max_output_tokens: int | None = None
    before_request: Callable[[], Awaitable[None]] = _let_pass


@dataclass(frozen=True)
class RetryRule:
    """How a provider that fails is borne.

    A call is made again `max_retries` times. `longest_wait` are the seconds that one question waits
    in all because the provider asks for it, where another provider could be asked instead.
    """

    max_retries: int = 2
    longest_wait: float = 10.0


class LLM(Protocol):
    """One model of one provider."""

    @property
    def provider_name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def input_limit(self) -> int:
        """Tokens that a question may have, tools included; the room for the answer is left out."""
        ...

    @property
    def retry_rule(self) -> RetryRule: ...

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncIterator[LLMEvent]:
        """Answer, event by event, ending with `AnswerFinished`.

        Makes one attempt. Raises `LLMError`, what `options.before_request` raises, and nothing
        else; closing the iterator ends the call.
        """
        ...


ReportProgress = Callable[[str], None]


@dataclass(frozen=True)
class ProposedAnswer:
    """A final answer before it counts.

    `given` is what came from outside with the task, each block under its label. An answer that
    `is_last` cannot be given anew, so what is wrong with it is said in it.
    """

    text: str
    given: tuple[tuple[str, str], ...] = ()
    provider_name: str = ""
    model: str = ""
    is_last: bool = False
    is_by_code: bool = False
    """No model wrote it: it lists what the tools brought and claims nothing beyond that."""
    not_checked: tuple[str, ...] = ()
    """Lines of ours that stand above it: what could not be looked at."""
    results: Mapping[int, StoredResult] | None = None
    """The calls of the session that it cites, by number, with the texts of those it quotes; None
    where nobody can read them."""
    may_object_to_quotes: bool = True
    """False once the model was told of quotes that no result has."""


MISQUOTED = "The answer was not accepted: some of its quotes do not stand in the results they cite."
"""How an objection to quotes begins."""


@dataclass(frozen=True)
class Review:
    """What became of a proposed answer: `text` is what may be shown, whole or put right.

    An `objection` is told to the model, which then goes on; empty when the answer passes.
    """

    text: str
    objection: str = ""
    reason: str = ""
    """The objection in a sentence for people."""
    metadata: Mapping[str, JSON] = field(default_factory=dict)


class Toolbox(Protocol):
    """The tools of one execution, already restricted to what it may use."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    @property
    def instructions(self) -> Mapping[str, str]:
        """What the operator says of each connected server, in the configuration."""
        ...

    @property
    def server_words(self) -> Mapping[str, str]:
        """What each connected server says of itself: masked, and text from outside."""
        ...

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Servers that cannot be reached, each with the reason."""
        ...

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        """What each server gives, and what of it is not offered for which reason."""
        ...

    async def refresh(self) -> None:
        """Before a question: take in servers that are back, and tools that have changed."""
        ...

    def identify(self, call: ToolCall) -> ToolTarget: ...

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        """Run a proposed call if the code allows it. Never raises but for cancellation."""
        ...

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        """Hold an answer against what the tools returned, before it counts."""
        ...


class ResultReader(Protocol):
    """Finds what earlier tool calls of the session brought."""

    async def read_result(self, number: int) -> StoredResult | None:
        """The masked result of a tool call; None when the session has no call of that number."""
        ...


class EvidenceReader(Protocol):
    """Reads what an answer cites, whichever execution of the session called it."""

    async def read_evidence(
        self, numbers: Collection[int], quoted: Collection[int]
    ) -> Mapping[int, StoredResult]:
        """Those of the calls that the session has; texts are empty but for those `quoted`."""
        ...


class Journal(Protocol):
    """Where an execution writes what happened. Each coroutine is one short transaction.

    Every method raises `LeaseLost` when this worker no longer owns the execution.
    """

    async def confirm_lease(self) -> None:
        """Called before what cannot be taken back: asking a model, running a tool. Costs nothing
        unless it has been long since the lease was renewed, as after a pause."""
        ...

    async def record_prompt(self, messages: Sequence[Message]) -> None:
        """Keep the messages that open the conversation, or a question asked within it."""
        ...

    async def open_block(self, kind: BlockKind) -> str:
        """Start a streamed block on the timeline and return its id."""
        ...

    def extend_block(self, block_id: str, offset: int, delta: str) -> None:
        """Show more of a block to who watches. Not kept; `offset` counts characters before it."""
        ...

    def end_block(self, block_id: str) -> None:
        """Show the rest of a block that nothing is added to any more."""
        ...

    async def record_llm_call(self, record: LLMCallRecord) -> tuple[int, ...]:
        """Keep a model call; returns the session-wide number of each planned tool call."""
        ...

    async def record_calls(self, plan: CallPlan) -> tuple[int, ...]:
        """Keep calls that no model proposed; returns the session-wide number of each."""
        ...

    async def record_tool_call(self, record: ToolCallRecord) -> None: ...

    async def open_summary(self, label: SummaryLabel) -> str:
        """Start the streamed summary of a tool result and return its id, as `open_block` does."""
        ...

    async def record_summary(self, record: SummaryRecord) -> None:
        """Keep an attempt at a summary; when it was good, it replaces the result's message."""
        ...

    async def record_offers(self, record: OffersRecord) -> None:
        """Keep what tool servers give from now on."""
        ...

    async def read_news(self) -> IncidentNews | None:
        """What became of the alerts that are investigated since this was told last; None where
        nothing did."""
        ...

    async def record_news(self, news: IncidentNews, message: Message) -> None:
        """Keep that the model was told of it."""
        ...

    async def open_wait(self, wait: ProviderWait) -> str:
        """Show that a provider is waited for, and until when; return the wait's id."""
        ...

    async def close_wait(self, wait_id: str, told: str) -> None:
        """That wait is over; `told` says for people what it was."""
        ...

    async def record_note(self, note: Note) -> None: ...

    async def record_fallback(self, switch: ModelSwitch) -> None:
        """Show that another model took over, and keep it as the execution's model."""
        ...

    def report_progress(self, phase: Phase, message: str) -> None: ...

    def report_tool_progress(self, number: int, text: str) -> None: ...
