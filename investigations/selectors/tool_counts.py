"""How many tool calls there were, the same on every page.

A tool call is what an agent asked for, whether it was let run or not, and what TARSy itself looked
at to see whether a write took effect. What a server offers is looked at too, and is none.
"""

import uuid
from collections.abc import Mapping, Sequence

from django.db.models import Count, Q

from investigations.models import AlertSession, MCPInteraction, TimelineEvent

IS_TOOL_CALL = Q(event_type=TimelineEvent.Type.LLM_TOOL_CALL)
"""Of timeline events: what still runs is among them."""


def count_of_executions(session_id: uuid.UUID) -> Mapping[uuid.UUID, int]:
    """Those that each agent of a session has begun."""
    begun = TimelineEvent.objects.filter(IS_TOOL_CALL, session_id=session_id).order_by()
    return dict(begun.values_list("execution_id").annotate(number=Count("pk")))


def count_of_sessions(sessions: Sequence[AlertSession]) -> Mapping[uuid.UUID, int]:
    """Those of each session, with those of its chat. Only what agents ask for is numbered."""
    checks = (
        MCPInteraction.objects.filter(
            session__in=sessions,
            interaction_type=MCPInteraction.Type.TOOL_CALL,
            tool_number=None,
        )
        .order_by()
        .values_list("session_id")
        .annotate(number=Count("pk"))
    )
    by_us = dict(checks)
    return {each.pk: each.last_tool_number + by_us.get(each.pk, 0) for each in sessions}
