"""The calls of a session that have ended, as a review of what is written about them sees them."""

import uuid
from collections.abc import Iterator

from investigations.models import MCPInteraction, TimelineEvent
from safety.evidence import SettledCall, judge_outcome

_OWN_SERVER = "ops"
MAX_READ = 20_000_000
"""Characters of results; of more than that the newest are read."""
MAX_CALLS = 1_000


def read_settled_calls(session_id: uuid.UUID, but_of: uuid.UUID) -> list[SettledCall]:
    """In order, but for those of one execution, and for what only brought back another result."""
    writes = _numbers_of_writes(session_id)
    newest = (
        MCPInteraction.objects.filter(
            session_id=session_id, interaction_type=MCPInteraction.Type.TOOL_CALL
        )
        .exclude(execution_id=but_of)
        .exclude(server_name="")
        .order_by("-created_at")[:MAX_CALLS]
    )
    return list(reversed(list(_settle(newest.iterator(chunk_size=50), writes))))


def _numbers_of_writes(session_id: uuid.UUID) -> set[int]:
    events = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__may_write=True,
    )
    numbers = events.values_list("metadata__tool_number", flat=True)
    return {number for number in numbers if isinstance(number, int)}


def _settle(rows: Iterator[MCPInteraction], writes: set[int]) -> Iterator[SettledCall]:
    read = 0
    for row in rows:
        result = row.tool_result or {}
        text = str(result.get("content", ""))
        read += len(text)
        if read > MAX_READ:
            return
        arguments = row.tool_arguments if isinstance(row.tool_arguments, dict) else {}
        yield SettledCall(
            call_id="",
            server=row.server_name,
            tool=row.tool_name,
            tool_class="write" if row.tool_number in writes else "read",
            arguments=arguments,
            outcome=judge_outcome(text, is_error=bool(result.get("is_error"))),
            text=text,
            is_own_server=row.server_name == _OWN_SERVER,
        )
