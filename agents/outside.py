"""The texts of others that an agent has read: whoever quotes them does not speak for itself."""

from collections.abc import Sequence
from itertools import takewhile

from agents.fencing import find_fenced
from agents.task import AgentTask
from agents.types import BLOCKS_OF_AGENTS, Message


def find_outside(
    task: AgentTask, messages: Sequence[Message], *, with_agents: bool = True
) -> tuple[str, ...]:
    """What the task brought from outside, and what the tools of a conversation returned.

    With what other agents have said unless they are not to count.
    """
    results = (message.content for message in messages if message.tool_call_id)
    news = (
        inside
        for message in messages if message.role == "user"
        for label, inside in find_fenced(message.content) if label == "alerts"
    )  # fmt: skip
    given = (
        inside for label, inside in find_given(task)
        if with_agents or not label.startswith(BLOCKS_OF_AGENTS)
    )  # fmt: skip
    return (*given, *news, *results)


def find_given(task: AgentTask) -> tuple[tuple[str, str], ...]:
    """What the task brought from outside: the alert, a runbook, what earlier agents found."""
    opening = takewhile(
        lambda message: message.role in ("system", "user"), task.history or task.opening
    )
    return tuple(
        block for message in opening if message.role == "user"
        for block in find_fenced(message.content)
    )  # fmt: skip
