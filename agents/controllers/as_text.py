"""A conversation with tools as text alone, in turns: calls and results become words."""

from collections.abc import Sequence
from dataclasses import replace

from agents.types import Message

OBSERVATION = "Observation: "
BY_TEXT = "react_"
"""How the id of a call begins that the model wrote itself, so that its text has it already."""


def present_as_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """For models that know no tools, and where a provider refuses what the tools left behind.

    Many chat templates refuse two messages of one role in a row, so such become one.
    """
    shown: list[Message] = []
    for message in messages:
        plain = _write(message)
        if shown and shown[-1].role == plain.role == "user":
            joined = f"{shown[-1].content}\n\n{plain.content}"
            shown[-1] = replace(plain, content=joined)
        else:
            shown.append(plain)
    return tuple(shown)


def _write(message: Message) -> Message:
    if message.role == "tool":
        return Message("user", f"{OBSERVATION}{message.content}")
    written = [
        f"Action: {call.name}\nAction Input: {call.arguments or '{}'}"
        for call in message.tool_calls
        if not call.id.startswith(BY_TEXT)
    ]
    content = "\n".join([*([message.content] if message.content else []), *written])
    return replace(message, content=content, tool_calls=(), tool_call_id="", tool_name="")
