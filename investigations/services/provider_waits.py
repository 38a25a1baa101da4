"""Waits for a model provider on the timeline: born when one begins, finished when it is over."""

import uuid
from datetime import timedelta

from django.utils import timezone

from agents.records import ProviderWait
from agents.retry_after import spell_seconds
from investigations.models import AgentExecution, TimelineEvent
from investigations.services.ledger import database_now, lease_write
from investigations.services.step_rows import Mask, new_event
from investigations.stream_messages import timeline_event_completed


def open_wait(execution: AgentExecution, wait: ProviderWait, mask: Mask) -> uuid.UUID:
    """Show that a provider is waited for, and by the database's clock until when."""
    event = new_event(execution, TimelineEvent.Type.NOTICE)
    event.content = mask(wait.reason)
    with lease_write(execution) as write:
        event.metadata = {
            "about": TimelineEvent.ABOUT_WAIT,
            "provider": wait.provider_name,
            "model": wait.model,
            "error_code": wait.error_code,
            "wait_seconds": round(wait.seconds, 3),
            "wait": spell_seconds(wait.seconds),
            "until": (database_now() + timedelta(seconds=wait.seconds)).isoformat(),
        }
        write.announce(event)
        write.rows.insert(event)
    return event.pk


def close_wait(execution: AgentExecution, event_id: uuid.UUID, told: str, mask: Mask) -> None:
    """That wait is over; `told` is what stands on the timeline from now on."""
    content = mask(told)
    with lease_write(execution) as write:
        event = execution.timeline_events.get(pk=event_id)
        event.status = TimelineEvent.Status.COMPLETED
        event.content = content
        event.updated_at = timezone.now()
        write.rows.update(event, ("status", "content", "updated_at"))
        write.tell(timeline_event_completed(event))
        write.touch()
