"""How many tokens a text may cost, without asking any tokenizer."""

import json
from collections.abc import Sequence

from agents.types import Message, ToolSpec

CHARACTERS_PER_TOKEN = 4
"""For thresholds and figures that people read."""
BYTES_PER_TOKEN = 3
"""For what has to fit: logs and JSON cost more than prose, and too low a guess is refused."""
TOKENS_PER_MESSAGE = 6


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, as configuration and people count them."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def weigh_message(message: Message) -> int:
    """Tokens to reckon with for one message, its calls and what is replayed with it included."""
    size = _count_bytes(message.content)
    for call in message.tool_calls:
        size += _count_bytes(call.name) + _count_bytes(call.arguments) + len(call.id)
    if len(message.provider_fields) > 1:
        size += len(json.dumps(message.provider_fields))
    return TOKENS_PER_MESSAGE + -(-size // BYTES_PER_TOKEN)


def weigh_messages(messages: Sequence[Message]) -> int:
    return sum(weigh_message(message) for message in messages)


def weigh_tools(tools: Sequence[ToolSpec]) -> int:
    """Tokens to reckon with for the tools that are offered."""
    size = sum(
        len(tool.wire_name) + _count_bytes(tool.description) + len(json.dumps(tool.input_schema))
        for tool in tools
    )
    return TOKENS_PER_MESSAGE * len(tools) + -(-size // BYTES_PER_TOKEN)


def find_cap(sizes: Sequence[int], room: int) -> int:
    """The largest size to which each may be cut so that all together fit; 0 when nothing does."""
    waiting = sorted(size for size in sizes if size > 0)
    left = max(0, room)
    while waiting:
        share = left // len(waiting)
        if waiting[0] > share:
            return share
        left -= waiting.pop(0)
    return max(sizes, default=0)


def cut_at_line(text: str, characters: int) -> str:
    """The beginning of a text, up to the end of a line where one is near."""
    if len(text) <= characters:
        return text
    kept = text[: max(0, characters)]
    line_end = kept.rfind("\n")
    return kept[:line_end] if line_end > characters // 2 else kept


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
