"""The turns of a conversation as an endpoint takes them: who may speak, and how much at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.llm.quirks import Quirks
from agents.types import Message

CALLS = "calls"
"""The provider field that has, for each call in turn, what stood beside it."""


def arrange_turns(messages: Sequence[Message], quirks: Quirks) -> Sequence[Message]:
    """The same conversation in turns that chat templates with these quirks render."""
    if quirks.single_calls:
        messages = list(_one_call_each(messages))
    return messages if quirks.system_role else _instruct_in_question(messages)


def _one_call_each(messages: Sequence[Message]) -> Iterator[Message]:
    """Several calls of one message become several messages, each before its own result."""
    done: set[int] = set()
    for place, message in enumerate(messages):
        if place in done:
            continue
        if len(message.tool_calls) < 2:
            yield message
            continue
        results = _find_results(messages, place)
        for number, call in enumerate(message.tool_calls):
            yield _keep_call(message, number)
            answered = [at for at in results if messages[at].tool_call_id == call.id]
            yield from (messages[at] for at in answered if at not in done)
            done.update(answered)


def _find_results(messages: Sequence[Message], place: int) -> list[int]:
    """Where the results stand that follow a message directly."""
    end = place + 1
    while end < len(messages) and messages[end].role == "tool":
        end += 1
    return list(range(place + 1, end))


def _keep_call(message: Message, number: int) -> Message:
    fields = dict(message.provider_fields)
    beside = fields.get(CALLS)
    if isinstance(beside, list):
        fields[CALLS] = beside[number : number + 1]
    return replace(
        message,
        content="" if number else message.content,
        tool_calls=(message.tool_calls[number],),
        provider_fields=fields,
    )


def _instruct_in_question(messages: Sequence[Message]) -> Sequence[Message]:
    """What the system says heads the first question, where there is one."""
    said = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not said:
        return rest
    if not rest or rest[0].role != "user":
        return [Message("user", said), *rest]
    return [replace(rest[0], content=f"{said}\n\n{rest[0].content}"), *rest[1:]]
