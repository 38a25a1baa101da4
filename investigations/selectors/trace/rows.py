"""The rows of the trace: calls of models and tools, waits for people, what the gate did."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Generic, Literal, TypeVar

from typing_extensions import override

from investigations.models import ApprovalRequest, AuditEvent, LLMInteraction, TimelineEvent
from investigations.selectors.costs import Costs
from investigations.selectors.offers import ListCount
from investigations.selectors.trace.calls import ModelCall, ToolCall
from investigations.selectors.trace.not_run import NotRun, blocked_with, explain_not_run
from investigations.selectors.trace.person_waits import PersonWait, tool_ms

Call = TypeVar("Call", ModelCall, ToolCall)
RowKind = Literal["llm", "tool", "wait", "act", "notice"]

_MODEL_CALLS: dict[str, str] = {
    LLMInteraction.Type.SUMMARIZATION: "Summary of a result",
    LLMInteraction.Type.FORCED_CONCLUSION: "forced conclusion",
    LLMInteraction.Type.SYNTHESIS: "synthesis",
    LLMInteraction.Type.EXECUTIVE_SUMMARY: "executive summary",
    LLMInteraction.Type.FINAL_ANALYSIS: "final analysis",
}
HIDDEN_WORDS: dict[str, str] = {
    "unclassed": "that nobody has classed",
    "write": "known to write",
    "not_selected": "not chosen",
    "changed": "changed meanwhile",
    "removed": "no longer listed",
    "too_many": "one too many to be remembered",
}
"""Why a tool is not offered."""
_WRITES = ("call.propose", "call.start")


@dataclass(frozen=True)
class _CallRow(Generic[Call]):
    """A call is kept when it has ended, with what it took."""

    call: Call

    @property
    def is_error(self) -> bool:
        return bool(self.call.error_message)

    @property
    def is_failure(self) -> bool:
        """It ran, and something went wrong."""
        return self.is_error

    @property
    def end(self) -> datetime:
        return self.call.created_at

    @property
    def start(self) -> datetime:
        return self.end - timedelta(milliseconds=self.call.duration_ms or 0)


@dataclass(frozen=True)
class ModelRow(_CallRow[ModelCall]):
    """A model call; `number` counts those of its execution."""

    kind: ClassVar[RowKind] = "llm"
    number: int

    @property
    def key(self) -> str:
        return f"llm-{self.call.id}"

    @property
    def name(self) -> str:
        kind = _MODEL_CALLS.get(self.call.interaction_type, "")
        if self.call.interaction_type == LLMInteraction.Type.SUMMARIZATION:
            return kind
        return f"LLM call {self.number}" + (f", {kind}" if kind else "")


@dataclass(frozen=True)
class ToolRow(_CallRow[ToolCall]):
    """A tool call with what the gate did about it, and how it waited for a person.

    The waiting has a row of its own: this one begins when the tool was asked.
    """

    kind: ClassVar[RowKind] = "tool"
    acts: Sequence[AuditEvent] = ()
    wait: PersonWait | None = None
    listed: ListCount | None = None
    """Of a look at what a server gives: what it found."""
    asked: str = ""
    """Its arguments in one line."""

    @property
    @override
    def start(self) -> datetime:
        return self.end - timedelta(milliseconds=self.ran_ms or 0)

    @cached_property
    def not_run(self) -> NotRun | None:
        """Why it was not sent, in words."""
        asked = self.wait.last if self.wait else None
        if found := explain_not_run(self.call.error_message, asked):
            return found
        if self._block is None:
            return None
        return blocked_with(self.refused_with, str(self._block.details.get("reason") or ""))

    @property
    def refused_with(self) -> str:
        """The code with which the gate refused it; empty when it did not."""
        return str(self._block.details.get("code") or "") if self._block else ""

    @property
    def _block(self) -> AuditEvent | None:
        """Not what the server itself stopped: that is told by its answer."""
        blocks = (act for act in self.acts if act.action == "call.block")
        return next((act for act in blocks if not act.details.get("by")), None)

    @property
    @override
    def is_failure(self) -> bool:
        return self.is_error and self.not_run is None

    @property
    def waited_ms(self) -> int | None:
        return self.wait.waited_ms if self.wait else None

    @property
    def ran_ms(self) -> int | None:
        was_sent = self.not_run is None
        return tool_ms(self.wait, self.call.duration_ms, self.end, was_sent=was_sent)

    @property
    def key(self) -> str:
        return f"tool-{self.call.id}"

    @property
    def name(self) -> str:
        return self.call.tool_name or "tools"

    @property
    def offer(self) -> str:
        """How much a server gave, in words."""
        if self.listed is None:
            return ""
        hidden = Counter(HIDDEN_WORDS.get(each, each) for each in self.listed.hidden)
        total = self.listed.offered + hidden.total()
        parts = [f"{self.listed.offered} of {total} offered"]
        return "; ".join([*parts, *(f"{number} {reason}" for reason, number in hidden.items())])

    @property
    def is_write(self) -> bool:
        return any(act.action in _WRITES for act in self.acts)


@dataclass(frozen=True)
class WaitRow:
    """A write that waits or waited for a person."""

    kind: ClassVar[RowKind] = "wait"
    is_failure: ClassVar[bool] = False
    approval: ApprovalRequest
    acts: Sequence[AuditEvent]
    end: datetime

    @property
    def key(self) -> str:
        return f"wait-{self.approval.pk}"

    @property
    def is_error(self) -> bool:
        """Denied and expired: the write did not run."""
        refused = (ApprovalRequest.Status.DENIED, ApprovalRequest.Status.EXPIRED)
        return self.approval.status in refused

    @property
    def start(self) -> datetime:
        return self.approval.created_at

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True)
class ActRow:
    """Something the gate did that is about no tool call: an answer it held back."""

    kind: ClassVar[RowKind] = "act"
    act: AuditEvent

    @property
    def key(self) -> str:
        return f"act-{self.act.pk}"

    @property
    def is_error(self) -> bool:
        return self.act.action.endswith(".block")

    is_failure = is_error

    @property
    def start(self) -> datetime:
        return self.act.created_at

    end = start


@dataclass(frozen=True)
class NoticeRow:
    """What the timeline tells between calls: an attempt that failed, a provider that was waited
    for, a model that took over."""

    kind: ClassVar[RowKind] = "notice"
    event: TimelineEvent
    text: str

    @property
    def key(self) -> str:
        return f"notice-{self.event.pk}"

    @property
    def is_error(self) -> bool:
        return self.event.event_type == TimelineEvent.Type.ERROR

    is_failure = is_error

    @property
    def is_wait(self) -> bool:
        return self.event.event_type == TimelineEvent.Type.NOTICE

    @property
    def title(self) -> str:
        if self.is_wait:
            is_open = self.event.status == TimelineEvent.Status.STREAMING
            return "Waits for the provider" if is_open else "Waited for the provider"
        return "Error" if self.is_error else "Another model took over"

    @property
    def start(self) -> datetime:
        return self.event.created_at

    @property
    def end(self) -> datetime:
        return self.event.updated_at if self.is_wait else self.start


TraceRow = ModelRow | ToolRow | WaitRow | ActRow | NoticeRow


@dataclass(frozen=True)
class Iteration:
    """One turn of an agent: a question to its model and what came of it.

    `place` counts from 1 within the execution; a continued one may have a `number` twice. The rows
    are in the order in which they began.
    """

    place: int
    number: int
    rows: list[TraceRow] = field(default_factory=list)

    @property
    def start(self) -> datetime:
        return self.rows[0].start

    # Read many times, and only once the rows are complete.
    @cached_property
    def end(self) -> datetime:
        return max(row.end for row in self.rows)

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()

    @cached_property
    def is_error(self) -> bool:
        return any(row.is_error for row in self.rows)

    @property
    def is_failure(self) -> bool:
        """Something in it went wrong; what a person or the gate refused did not."""
        return any(row.is_failure for row in self.rows)

    @property
    def anchors(self) -> str:
        """What links may point to inside it."""
        keys = [row.key for row in self.rows]
        keys += [f"T{r.call.tool_number}" for r in self.rows if isinstance(r, ToolRow)]
        return " ".join(keys)

    @property
    def tool_count(self) -> int:
        return sum(row.kind == "tool" for row in self.rows)

    @property
    def costs(self) -> Costs:
        return sum_costs(row.call for row in self.rows if isinstance(row, ModelRow))


def number_models(calls: Iterable[ModelCall]) -> list[ModelRow]:
    """The model calls of an execution; those that summarize a result are not counted."""
    rows: list[ModelRow] = []
    number = 0
    for call in calls:
        number += call.interaction_type != LLMInteraction.Type.SUMMARIZATION
        rows.append(ModelRow(call, number))
    return rows


def group_by_iteration(rows: Iterable[TraceRow]) -> list[Iteration]:
    """Rows in the order of time; a model call of another iteration begins a new group."""
    groups: list[Iteration] = []
    for row in sorted(rows, key=lambda row: (row.start, row.end)):
        begins = isinstance(row, ModelRow) and (
            not groups or groups[-1].number != row.call.iteration
        )
        if begins and isinstance(row, ModelRow):
            groups.append(Iteration(len(groups) + 1, row.call.iteration))
        elif not groups:
            groups.append(Iteration(1, 0))
        groups[-1].rows.append(row)
    return groups


@dataclass(frozen=True)
class RowFilter:
    """Which rows a page shows: those of a kind, or with an error, that took at least so long; and
    of which stage, whose time then takes the whole scale."""

    wanted: str = "all"
    """errors, llm, tools, or anything else for all."""
    seconds: int = 0
    stage: int | None = None
    """The index of a stage; None for all."""

    @property
    def is_open(self) -> bool:
        return self.wanted not in _FILTERS and not self.seconds

    def lets_through(self, row: TraceRow) -> bool:
        is_long = (row.end - row.start).total_seconds() >= self.seconds
        return is_long and (self.wanted not in _FILTERS or _FILTERS[self.wanted](row))

    def keep(self, iterations: Iterable[Iteration]) -> list[Iteration]:
        """The iterations that have such rows, with these only."""
        if self.is_open:
            return list(iterations)
        kept = [replace(e, rows=list(filter(self.lets_through, e.rows))) for e in iterations]
        return [each for each in kept if each.rows]


_FILTERS: dict[str, Callable[[TraceRow], bool]] = {
    "errors": lambda row: row.is_error,
    "llm": lambda row: row.kind == "llm",
    "tools": lambda row: row.kind in ("tool", "wait"),
}


def count_rows(iterations: Sequence[Iteration]) -> Mapping[str, int]:
    """What each filter is about: of tools the calls, though it shows who was waited for as well."""
    rows = [row for each in iterations for row in each.rows]
    counts = {name: sum(map(test, rows)) for name, test in _FILTERS.items()}
    return {"all": len(rows), **counts, "tools": sum(each.tool_count for each in iterations)}


def sum_costs(calls: Iterable[ModelCall]) -> Costs:
    """What model calls took together."""
    together = list(calls)
    prices = [each.estimated_cost_usd for each in together if each.estimated_cost_usd is not None]
    return Costs(
        calls=len(together),
        priced=len(prices),
        input_tokens=sum([each.input_tokens or 0 for each in together]),
        output_tokens=sum([each.output_tokens or 0 for each in together]),
        total_tokens=sum([each.total_tokens or 0 for each in together]),
        estimated_cost_usd=sum(prices) if prices else None,
        counted=sum(each.total_tokens is not None for each in together),
    )
