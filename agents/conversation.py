"""The messages of one execution and what can be read from them."""

import json
from collections.abc import Iterable, Sequence

from agents.prompts.nudges import ALERTS_CHANGED, CALL_BY_TEXT, TOOLS_CHANGED
from agents.types import Message, ToolCall


class Conversation:
    """The messages of an execution, in the order providers demand.

    Every assistant message with tool calls is followed by exactly one result per call, in the
    order the calls were proposed. A result is a message with a `tool_call_id`: a tool message, or
    a user message where the model knows no tool messages.
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = order_tool_messages(tuple(messages))

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def add(self, *messages: Message) -> None:
        self._messages.extend(messages)

    def count_identical(self, call: ToolCall) -> int:
        """How often a call of the last answer was proposed, with these arguments, up to itself."""
        answers = [message.tool_calls for message in self._messages if message.tool_calls]
        # As it was kept, which is without its secrets.
        kept = next((other for other in answers[-1] if other.id == call.id), call)
        wanted = _identify(kept)
        earlier = sum(_identify(other) == wanted for calls in answers[:-1] for other in calls)
        for other in answers[-1]:
            earlier += _identify(other) == wanted
            if other.id == call.id:
                break
        return earlier

    def find_open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last assistant message that have no result yet."""
        position = _last_assistant(self._messages)
        if position is None:
            return ()
        answered = {message.tool_call_id for message in self._messages[position + 1 :]}
        return tuple(c for c in self._messages[position].tool_calls if c.id not in answered)

    def place_results(self, results: Sequence[Message]) -> None:
        """Add results, then restore the order of proposal."""
        self._messages = order_tool_messages((*self._messages, *results))

    def find_answer(self) -> str:
        """The text of a last message that is an answer, empty when the work goes on."""
        last = self._messages[-1] if self._messages else None
        if last is None or last.role != "assistant" or last.tool_calls:
            return ""
        return last.content

    @property
    def calls_by_text(self) -> bool:
        """Whether the model was told to write its calls, because it can make no others."""
        return any(m.role == "user" and m.content.startswith(CALL_BY_TEXT) for m in self._messages)

    def count_iterations(self) -> int:
        """Model calls this conversation has seen: answers, and questions asked after the first."""
        answers = sum(1 for message in self._messages if message.role == "assistant")
        questions = sum(
            1 for message in self._messages if message.role == "user" and not _is_aside(message)
        )
        return answers + max(0, questions - 1)


def order_tool_messages(messages: Sequence[Message]) -> list[Message]:
    """Sort the results after each assistant message as their calls were proposed."""
    ordered: list[Message] = []
    waiting: list[Message] = []
    ranks: dict[str, int] = {}
    for message in messages:
        if _is_result(message):
            waiting.append(message)
            continue
        ordered.extend(_sort_by_rank(waiting, ranks))
        waiting = []
        ranks = {call.id: rank for rank, call in enumerate(message.tool_calls)}
        ordered.append(message)
    ordered.extend(_sort_by_rank(waiting, ranks))
    return ordered


def _sort_by_rank(results: list[Message], ranks: dict[str, int]) -> list[Message]:
    return sorted(results, key=lambda message: ranks.get(message.tool_call_id, len(ranks)))


def _last_assistant(messages: Sequence[Message]) -> int | None:
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].role == "assistant":
            return position
        if not _is_result(messages[position]):
            return None
    return None


def _is_aside(message: Message) -> bool:
    """A result, or news of tools or alerts, which comes with a question and is none."""
    news = (ALERTS_CHANGED, TOOLS_CHANGED, CALL_BY_TEXT)
    return _is_result(message) or message.content.startswith(news)


def _is_result(message: Message) -> bool:
    return message.role == "tool" or bool(message.tool_call_id)


def _identify(call: ToolCall) -> tuple[str, str]:
    try:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments.strip()
    return call.name, arguments
