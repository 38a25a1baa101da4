"""The calls of a session that have ended, as a review of what is written about them sees them."""

import uuid
from collections.abc import Collection, Iterator
from dataclasses import replace

from investigations.models import MCPInteraction, TimelineEvent
from safety.evidence import SettledCall, judge_outcome

_OWN_SERVER = "ops"
MAX_READ = 20_000_000
"""Characters of results; of more than that the newest are read."""
MAX_CALLS = 1_000
LONGEST_OLD = 10_000
"""Characters of what a write returned before those."""


def read_settled_calls(session_id: uuid.UUID, but_of: uuid.UUID) -> list[SettledCall]:
    """In order, but for those of one execution, and for what only brought back another result.

    Writes are among them however much was read since: who tells of them says what is true.
    """
    writes = _numbers_of_writes(session_id)
    calls = (
        MCPInteraction.objects.filter(
            session_id=session_id, interaction_type=MCPInteraction.Type.TOOL_CALL
        )
        .exclude(execution_id=but_of)
        .exclude(server_name="")
        .order_by("-created_at")
    )
    newest = list(_take(calls[:MAX_CALLS].iterator(chunk_size=50)))
    known = [row.pk for row in newest]
    older = calls.filter(tool_number__in=writes).exclude(pk__in=known)[:MAX_CALLS]
    settled = [
        *(_settle(row, writes) for row in newest),
        *(replace(call, text=call.text[:LONGEST_OLD])
          for call in (_settle(row, writes) for row in older.iterator(chunk_size=50))),
    ]  # fmt: skip
    return settled[::-1]


def _numbers_of_writes(session_id: uuid.UUID) -> set[int]:
    events = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__may_write=True,
    )
    numbers = events.values_list("metadata__tool_number", flat=True)
    return {number for number in numbers if isinstance(number, int)}


def _take(rows: Iterator[MCPInteraction]) -> Iterator[MCPInteraction]:
    read = 0
    for row in rows:
        read += len(_text_of(row))
        if read > MAX_READ:
            return
        yield row


def _settle(row: MCPInteraction, writes: Collection[int]) -> SettledCall:
    text = _text_of(row)
    is_error = bool((row.tool_result or {}).get("is_error"))
    return SettledCall(
        call_id="",
        server=row.server_name,
        tool=row.tool_name,
        tool_class="write" if row.tool_number in writes else "read",
        arguments=row.tool_arguments if isinstance(row.tool_arguments, dict) else {},
        outcome=judge_outcome(text, is_error=is_error),
        text=text,
        is_own_server=row.server_name == _OWN_SERVER,
        number=row.tool_number,
    )


def _text_of(row: MCPInteraction) -> str:
    return str((row.tool_result or {}).get("content", ""))
