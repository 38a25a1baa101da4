"""What tool servers gave an execution, kept at its opening and whenever it changes."""

from dataclasses import replace

from agents.records import OffersRecord
from agents.types import JSON, ServerOffer
from investigations.models import AgentExecution, MCPInteraction
from investigations.services.ledger import lease_write
from investigations.services.recording import Mask, add_messages, add_note, mask_note
from investigations.stream_messages import interaction_created


def record_offers(execution: AgentExecution, record: OffersRecord, mask: Mask) -> None:
    """Keep one row for each server, with what people and the model are told of it."""
    rows = [_row_of(execution, offer) for offer in record.offers]
    note = mask_note(record.note, mask) if record.note else None
    message = (
        replace(record.message, content=mask(record.message.content)) if record.message else None
    )
    with lease_write(execution) as write:
        for row in rows:
            write.rows.insert(row)
            write.tell(interaction_created(execution, row.pk, "mcp"))
        if note is not None:
            add_note(write, execution, note.kind, note.content, note.metadata)
        if message is not None:
            add_messages(write, execution, [message])


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
