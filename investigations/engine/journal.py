"""An execution's journal: what the agent tells, kept and read again on the database threads."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from django.conf import settings

from agents.records import (
    CallPlan,
    IncidentNews,
    LLMCallRecord,
    ModelSwitch,
    OffersRecord,
    PlannedCall,
    ProviderWait,
    SummaryLabel,
    SummaryRecord,
    ToolCallRecord,
)
from agents.types import BlockKind, Message, Note, Phase, StoredResult
from investigations.doorbell import publish_live
from investigations.engine.gate_trail import ExecutionTrail
from investigations.engine.open_blocks import OpenBlocks
from investigations.maskers import ProductMasker
from investigations.models import AgentExecution, TimelineEvent
from investigations.selectors.tool_results import read_tool_result, read_tool_results
from investigations.services import offers, provider_waits, recording, summaries
from investigations.services.executions import renew_lease
from investigations.services.incidents import telling
from investigations.stream_messages import (
    execution_progress,
    session_channel,
    stream_chunk,
    tool_event_id,
)
from tarsy.aio import WorkerLoop
from tarsy.uptime import uptime

P = ParamSpec("P")
T = TypeVar("T")

# Characters of progress shown of one tool call; a server may report without end.
MAX_PROGRESS = 4_000


class ExecutionJournal:
    """`agents.ports.Journal` over the database. Raises LeaseLost once the lease is gone."""

    def __init__(
        self,
        execution: AgentExecution,
        loop: WorkerLoop,
        mask: ProductMasker,
        trail: ExecutionTrail | None = None,
        blocks: OpenBlocks | None = None,
    ) -> None:
        self._execution = execution
        self._trail = trail or ExecutionTrail(execution, loop, {})
        self._loop = loop
        self._mask = mask
        self._channel = session_channel(execution.session_id)
        self._blocks = blocks or OpenBlocks()
        self._proposed: dict[int, TimelineEvent] = {}
        self._told: dict[int, int] = {}
        """How many characters of progress were told of each tool call, by its number."""
        self._follows_incident: bool | None = None

    async def confirm_lease(self) -> None:
        # A process that was stopped for a while goes on in the middle of whatever it did; every
        # write finds out that another worker took over, and so must what is no write. What counts
        # is when the lease was renewed: that a write has just passed says nothing of a heartbeat
        # that has been missing for long.
        if uptime() - self._execution.lease_renewed_at > settings.LEASE_STALE_SECONDS / 2:
            await self._write(renew_lease)

    async def _write(
        self, statement: Callable[Concatenate[AgentExecution, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        return await self._loop.db(statement, self._execution, *args, **kw)

    async def record_prompt(self, messages: Sequence[Message]) -> None:
        await self._write(recording.record_prompt, messages, self._mask)

    async def open_block(self, kind: BlockKind) -> str:
        event = await self._write(recording.open_block, kind)
        return self._blocks.open(event, self._mask.open_stream())

    def extend_block(self, block_id: str, offset: int, delta: str) -> None:
        shown_before, shown = self._blocks[block_id].add(delta)
        if shown:
            self._show(block_id, shown_before, shown)

    def end_block(self, block_id: str) -> None:
        shown_before, shown = self._blocks[block_id].end()
        if shown:
            self._show(block_id, shown_before, shown)

    async def record_llm_call(self, record: LLMCallRecord) -> tuple[int, ...]:
        blocks = [self._blocks[block.block_id].event for block in record.blocks]
        acts = self._trail.take()
        proposed = await self._write(recording.record_llm_call, record, self._mask, blocks, acts)
        for block in record.blocks:
            self._blocks.close(block.block_id)
        return self._learn(record.planned_calls, proposed)

    async def record_calls(self, plan: CallPlan) -> tuple[int, ...]:
        proposed = await self._write(recording.record_calls, plan, self._mask, self._trail.take())
        return self._learn(plan.planned_calls, proposed)

    def _learn(
        self, planned: Sequence[PlannedCall], proposed: Sequence[TimelineEvent]
    ) -> tuple[int, ...]:
        numbers = tuple(event.metadata["tool_number"] for event in proposed)
        ids = [each.call.id for each in planned]
        self._trail.learn(dict(zip(ids, numbers, strict=True)))
        self._proposed.update(zip(numbers, proposed, strict=True))
        return numbers

    async def record_tool_call(self, record: ToolCallRecord) -> None:
        proposed = self._proposed.pop(record.number, None)
        await self._write(recording.record_tool_call, record, proposed, self._trail.take())

    async def open_summary(self, label: SummaryLabel) -> str:
        event = await self._write(summaries.open_summary, label)
        return self._blocks.open(event, self._mask.open_stream())

    async def record_summary(self, record: SummaryRecord) -> None:
        await self._write(summaries.record_summary, record, self._mask)
        if record.status != "streaming":
            self._blocks.close(record.block_id)

    async def record_offers(self, record: OffersRecord) -> None:
        await self._write(offers.record_offers, record, self._mask)

    async def read_news(self) -> IncidentNews | None:
        if self._follows_incident is None:
            self._follows_incident = await self._loop.db(telling.follows_incident, self._execution)
        return await self._write(telling.read_news) if self._follows_incident else None

    async def record_news(self, news: IncidentNews, message: Message) -> None:
        await self._write(telling.record_news, news, message, self._mask)

    async def open_wait(self, wait: ProviderWait) -> str:
        return str(await self._write(provider_waits.open_wait, wait, self._mask))

    async def close_wait(self, wait_id: str, told: str) -> None:
        await self._write(provider_waits.close_wait, uuid.UUID(wait_id), told, self._mask)

    async def record_note(self, note: Note) -> None:
        await self._write(recording.record_note, note, self._mask)

    async def record_fallback(self, switch: ModelSwitch) -> None:
        await self._write(recording.record_fallback, switch, self._mask)

    def report_progress(self, phase: Phase, message: str) -> None:
        progress = execution_progress(self._execution, phase, message)
        self._loop.send_soon(publish_live, (self._channel, progress))

    def report_tool_progress(self, number: int, text: str) -> None:
        told = self._told.get(number, 0)
        if told >= MAX_PROGRESS:
            return
        line = f"{text}\n"
        self._told[number] = told + len(line)
        self._show(str(tool_event_id(self._execution.pk, number)), told, line)

    def _show(self, event_id: str, offset: int, masked: str) -> None:
        chunk = stream_chunk(self._execution, event_id, offset, masked)
        self._loop.send_soon(publish_live, (self._channel, chunk))


class SessionResults:
    """`agents.ports.ResultReader` and `EvidenceReader` over the database: results of a session."""

    def __init__(self, session_id: uuid.UUID, loop: WorkerLoop) -> None:
        self._session_id = session_id
        self._loop = loop

    async def read_result(self, number: int) -> StoredResult | None:
        return await self._loop.db(read_tool_result, self._session_id, number)

    async def read_evidence(
        self, numbers: Collection[int], quoted: Collection[int]
    ) -> Mapping[int, StoredResult]:
        return await self._loop.db(read_tool_results, self._session_id, numbers, with_text=quoted)
