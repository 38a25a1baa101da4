"""The texts of others that an agent has read: whoever quotes them does not speak for itself."""

from collections.abc import Sequence
from itertools import takewhile

from agents.fencing import find_fenced
from agents.task import AgentTask
from agents.types import Message


def find_outside(task: AgentTask, messages: Sequence[Message]) -> tuple[str, ...]:
    """What the task brought from outside, and what the tools of a conversation returned."""
    results = (message.content for message in messages if message.tool_call_id)
    return (*(inside for _, inside in find_given(task)), *results)


def find_given(task: AgentTask) -> tuple[tuple[str, str], ...]:
    """What the task brought from outside: the alert, a runbook, what earlier agents found."""
    opening = takewhile(
        lambda message: message.role in ("system", "user"), task.history or task.opening
    )
    return tuple(
        block for message in opening if message.role == "user"
        for block in find_fenced(message.content)
    )  # fmt: skip
