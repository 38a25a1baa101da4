"""An execution's journal: what the agent tells, kept through services on the database threads."""

from collections.abc import Callable, Sequence

from agents.types import (
    BlockKind,
    LLMCallRecord,
    Message,
    ModelSwitch,
    Note,
    Phase,
    SummaryLabel,
    SummaryRecord,
    ToolCallRecord,
)
from investigations.models import AgentExecution
from investigations.publish import publish, publish_chunk
from investigations.services import recording, summaries
from investigations.timeline import (
    execution_progress,
    session_channel,
    stream_chunk,
    tool_event_id,
)
from tarsy.aio import WorkerLoop

# Characters of progress shown of one tool call; a server may report without end.
MAX_PROGRESS = 4_000


class ExecutionJournal:
    """`agents.ports.Journal` over the database. Raises LeaseLost once the lease is gone."""

    def __init__(
        self, execution: AgentExecution, loop: WorkerLoop, mask: Callable[[str], str]
    ) -> None:
        self._execution = execution
        self._loop = loop
        self._mask = mask
        self._channel = session_channel(execution.session_id)
        self._told: dict[int, int] = {}
        """How many characters of progress were told of each tool call, by its number."""

    async def record_prompt(self, messages: Sequence[Message]) -> None:
        await self._loop.db(recording.record_prompt, self._execution, messages)

    async def open_block(self, kind: BlockKind) -> str:
        event = await self._loop.db(recording.open_block, self._execution, kind)
        return str(event.pk)

    def extend_block(self, block_id: str, offset: int, delta: str) -> None:
        chunk = stream_chunk(
            self._execution.session_id, block_id, offset, delta, self._execution.pk
        )
        self._loop.send_soon(publish_chunk, self._channel, chunk)

    async def record_llm_call(self, record: LLMCallRecord) -> tuple[int, ...]:
        return await self._loop.db(recording.record_llm_call, self._execution, record, self._mask)

    async def record_tool_call(self, record: ToolCallRecord) -> None:
        await self._loop.db(recording.record_tool_call, self._execution, record)

    async def open_summary(self, label: SummaryLabel) -> str:
        event = await self._loop.db(summaries.open_summary, self._execution, label)
        return str(event.pk)

    async def record_summary(self, record: SummaryRecord) -> None:
        await self._loop.db(summaries.record_summary, self._execution, record, self._mask)

    async def record_note(self, note: Note) -> None:
        await self._loop.db(recording.record_note, self._execution, note, self._mask)

    async def record_fallback(self, switch: ModelSwitch) -> None:
        await self._loop.db(recording.record_fallback, self._execution, switch, self._mask)

    def report_progress(self, phase: Phase, message: str) -> None:
        progress = execution_progress(self._execution, phase, message)
        self._loop.send_soon(publish, self._channel, [progress])

    def report_tool_progress(self, number: int, text: str) -> None:
        told = self._told.get(number, 0)
        if told >= MAX_PROGRESS:
            return
        line = f"{text}\n"
        self._told[number] = told + len(line)
        self.extend_block(str(tool_event_id(self._execution.pk, number)), told, line)
