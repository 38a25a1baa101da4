"""When nothing of a session went on but that it waited for a person."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from investigations.models import AgentExecution, ApprovalRequest
from investigations.selectors.trace.scale import Span, merge, subtract


def find_idle(
    executions: Iterable[AgentExecution], approvals: Iterable[ApprovalRequest], now: datetime
) -> list[Span]:
    """The times in which every agent that had begun waited for a person, or for a sub-agent that
    did."""
    agents = list(executions)
    callers = {agent.pk: agent.parent_execution_id for agent in agents}
    waits: dict[uuid.UUID, list[Span]] = defaultdict(list)
    asked = [(each.execution_id, (each.created_at, each.decided_at or now)) for each in approvals]
    for execution_id, span in asked:
        waiting: uuid.UUID | None = execution_id
        while waiting is not None:
            waits[waiting].append(span)
            waiting = callers.get(waiting)
    busy = [
        part
        for agent in agents
        if agent.started_at is not None
        for part in subtract([(agent.started_at, agent.completed_at or now)], waits[agent.pk])
    ]
    return subtract(merge(span for _, span in asked), busy)
