"""What tool servers gave an execution, kept at its opening and whenever it changes."""

from collections.abc import Sequence
from dataclasses import replace

from agents.records import OffersRecord
from agents.types import JSON, Note, ServerOffer
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
    message = (
        replace(record.message, content=mask(record.message.content)) if record.message else None
    )
    with lease_write(execution) as write:
        replaced = [row for row in rows if _takes_place_of_another(row)]
        for row in rows:
            if row in replaced:
                write.rows.update(row, _KEPT_ANEW)
            else:
                write.rows.insert(row)
            write.tell(interaction_created(execution, row.pk, "mcp"))
        if (told := _say_what_is_left_out(record.note, replaced)) is not None:
            note = mask_note(told, mask)
            add_note(write, execution, note.kind, note.content, note.metadata)
        if message is not None:
            add_messages(write, execution, [message])


def _takes_place_of_another(row: MCPInteraction) -> bool:
    """Make it the newest of the kept lists where there are enough of them.

    That a server was away is kept each time: it is short, and no list.
    """
    if row.error_message:
        return False
    lists = MCPInteraction.objects.filter(
        execution_id=row.execution_id,
        interaction_type=MCPInteraction.Type.TOOL_LIST,
        server_name=row.server_name,
        error_message="",
    )
    kept = list(lists.order_by("-created_at").values_list("pk", flat=True)[:MOST_LISTS])
    if len(kept) < MOST_LISTS:
        return False
    row.pk, row.created_at = kept[0], database_now()
    return True


def _say_what_is_left_out(note: Note | None, replaced: Sequence[MCPInteraction]) -> Note | None:
    if note is None or not replaced:
        return note
    names = ", ".join(row.server_name for row in replaced)
    said = (
        f"Tools changed so often that of the lists of {names} only the first "
        f"{MOST_LISTS - 1} and the newest are kept."
    )
    return replace(note, content=f"{note.content}\n{said}")


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
