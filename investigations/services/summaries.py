"""Summaries of tool results, kept: on the timeline, as a model call, and in the conversation."""

import uuid

from django.utils import timezone

from agents.records import SummaryLabel, SummaryRecord
from agents.types import JSON
from investigations.models import AgentExecution, LLMInteraction, Message, TimelineEvent
from investigations.rendering.markdown import render_markdown
from investigations.services.ledger import LeaseWrite, lease_write
from investigations.services.step_rows import Mask, describe_call, new_event
from investigations.stream_messages import interaction_created, timeline_event_completed


def open_summary(execution: AgentExecution, label: SummaryLabel) -> TimelineEvent:
    """Begin a summary on the timeline; its text streams from here on."""
    with lease_write(execution) as write:
        event = new_event(execution, TimelineEvent.Type.MCP_TOOL_SUMMARY)
        event.metadata = _describe(label)
        write.announce(event)
        event.save(force_insert=True)
        return event


def record_summary(execution: AgentExecution, record: SummaryRecord, mask: Mask) -> None:
    """Keep an attempt at a summary. A good one takes the place of the result in the conversation.

    All in one transaction: who finds the execution without it finds the result as it was.
    """
    # Before the session is locked: what was asked may be long.
    interaction = _interaction_of(execution, record, mask)
    message = mask(record.message.content) if record.message else None
    content = mask(record.content)
    with lease_write(execution) as write:
        if interaction is not None:
            interaction.save(force_insert=True)
            write.tell(interaction_created(execution, interaction.pk, "llm"))
        if message is not None:
            Message.objects.filter(
                execution_id=execution.pk, tool_number=record.label.number
            ).update(content=message)
        if record.status != "streaming":
            _close(write, record, interaction, content)
        write.touch()


def _interaction_of(
    execution: AgentExecution, record: SummaryRecord, mask: Mask
) -> LLMInteraction | None:
    if record.call is None:
        return None
    interaction = describe_call(execution, record.call, mask)
    # Its question stands in no conversation of the execution, so it is kept here.
    interaction.llm_request = {
        **interaction.llm_request,
        "tool_number": record.label.number,
        "conversation": [
            {"role": message.role, "content": mask(message.content)}
            for message in (*record.call.asked, *filter(None, [record.call.message]))
        ],
    }
    return interaction


def _close(
    write: LeaseWrite, record: SummaryRecord, interaction: LLMInteraction | None, content: str
) -> None:
    event = TimelineEvent.objects.get(pk=uuid.UUID(record.block_id))
    event.status = record.status
    event.content = content
    event.content_html = render_markdown(content)
    event.metadata = _describe(record.label)
    event.llm_interaction_id = interaction.pk if interaction else None
    event.updated_at = timezone.now()
    event.save(
        update_fields=[
            "status", "content", "content_html", "metadata", "llm_interaction_id", "updated_at",
        ]
    )  # fmt: skip
    write.tell(timeline_event_completed(event))


def _describe(label: SummaryLabel) -> dict[str, JSON]:
    metadata: dict[str, JSON] = {
        "server_name": label.target.server,
        "tool_name": label.target.tool,
        "tool_number": label.number,
        "original_tokens": label.original_tokens,
        "summarization_model": label.model.model,
        "summarization_provider": label.model.provider_name,
    }
    if label.is_fallback:
        metadata["summarization_fallback"] = True
    return metadata
