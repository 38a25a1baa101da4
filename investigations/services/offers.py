"""What tool servers gave an execution, kept at its opening and whenever it changes."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from agents.records import OffersRecord
from agents.types import JSON, ServerOffer
from investigations.models import AgentExecution, MCPInteraction
from investigations.services.ledger import database_now, lease_write
from investigations.services.step_rows import Mask, add_messages, add_note, mask_note
from investigations.stream_messages import interaction_created

MOST_LISTS = 5
"""Lists that are kept of what one server gives an execution: the first ones and the newest."""
_KEPT_ANEW = ("available_tools", "hidden_tools", "duration_ms", "created_at")


def record_offers(execution: AgentExecution, record: OffersRecord, mask: Mask) -> None:
    """Keep one row for each server, with what people and the model are told of it.

    A server may have other tools at every question: the newest list takes the place of the one
    before it once there are `MOST_LISTS`, and the notice says so.
    """
    rows = [_row_of(execution, offer) for offer in record.offers]
    # Masking may take a while: before the session is locked.
    note = mask_note(record.note, mask) if record.note else None
    message = (
        replace(record.message, content=mask(record.message.content)) if record.message else None
    )
    with lease_write(execution) as write:
        replaced = _replace_newest(execution, rows)
        for row in rows:
            if row in replaced:
                write.rows.update(row, _KEPT_ANEW)
            else:
                write.rows.insert(row)
            write.tell(interaction_created(execution, row.pk, "mcp"))
        if note is not None:
            content = note.content + mask(_say_what_is_left_out(replaced))
            add_note(write, execution, note.kind, content, note.metadata)
        if message is not None:
            add_messages(write, execution, [message])


def _replace_newest(
    execution: AgentExecution, rows: Sequence[MCPInteraction]
) -> list[MCPInteraction]:
    """Those of the rows that were made the newest of the kept lists, where there are enough.

    That a server was away is kept each time: it is short, and no list.
    """
    lists = [row for row in rows if not row.error_message]
    found = MCPInteraction.objects.filter(
        execution_id=execution.pk,
        interaction_type=MCPInteraction.Type.TOOL_LIST,
        server_name__in=[row.server_name for row in lists],
        error_message="",
    )
    kept: dict[str, list[uuid.UUID]] = defaultdict(list)
    for server, pk in found.order_by("-created_at").values_list("server_name", "pk"):
        kept[server].append(pk)
    replaced = [row for row in lists if len(kept[row.server_name]) >= MOST_LISTS]
    for row in replaced:
        row.pk, row.created_at = kept[row.server_name][0], database_now()
    return replaced


def _say_what_is_left_out(replaced: Sequence[MCPInteraction]) -> str:
    """A line for the notice; empty where nothing is."""
    if not replaced:
        return ""
    names = ", ".join(row.server_name for row in replaced)
    return (
        f"\nTools changed so often that of the lists of {names} only the first "
        f"{MOST_LISTS - 1} and the newest are kept."
    )


def _row_of(execution: AgentExecution, offer: ServerOffer) -> MCPInteraction:
    offered: list[JSON] = [
        {"name": tool.name, "description": tool.description} for tool in offer.offered
    ]
    hidden: list[JSON] = [
        {"name": tool.name, "reason": tool.hidden} for tool in offer.tools if tool.hidden
    ]
    return MCPInteraction(
        session_id=execution.session_id,
        stage_id=execution.stage_id,
        execution_id=execution.pk,
        interaction_type=MCPInteraction.Type.TOOL_LIST,
        server_name=offer.server,
        available_tools=offered,
        hidden_tools=hidden,
        duration_ms=offer.duration_ms,
        error_message=offer.error,
    )
