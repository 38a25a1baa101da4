"""The question that makes a summary of a tool's result."""

import json
from collections.abc import Mapping, Sequence

from agents.estimating import cut_at_line
from agents.prompts.rendering import join_sections, render
from agents.types import JSON, Message

SUMMARIZER = "ResultSummarizer"
"""The name under which it works; a scripted model knows by it what it is asked."""
CONVERSATION_SHARE = 0.25
"""Of the room for the result, what the conversation so far may take."""
LONGEST_CONVERSATION = 24_000
LONGEST_MESSAGE = 6_000
LONGEST_ARGUMENTS = 2_000


def build_result_summary(
    *,
    server: str,
    tool: str,
    arguments: Mapping[str, JSON],
    max_tokens: int,
    conversation: Sequence[Message],
    output: str,
    room: int,
) -> tuple[Message, Message]:
    """Ask for what matters of `output` to who leads `conversation`, in `room` bytes or less."""
    system = join_sections(
        render("every_agent/name", name=SUMMARIZER),
        render("result_summary/rules", server=server, tool=tool, max_tokens=max_tokens),
        render("every_agent/outside_rules", is_reader=True),
    )
    context = _describe(conversation, min(LONGEST_CONVERSATION, int(room * CONVERSATION_SHARE)))
    user = render(
        "result_summary/task",
        name=f"{server}.{tool}",
        arguments=json.dumps(dict(arguments), ensure_ascii=False)[:LONGEST_ARGUMENTS],
        conversation=context,
        output=_cut(output, room - len(context.encode())),
    )
    return Message("system", system), Message("user", user)


def _describe(conversation: Sequence[Message], room: int) -> str:
    """The question it began with and what came last; what lies between goes first."""
    turns = [_describe_turn(each) for each in conversation if each.role != "system"]
    if not turns:
        return ""
    first = cut_at_line(turns[0], room // 2)
    left = room - len(first)
    latest: list[str] = []
    for turn in reversed(turns[1:]):
        if len(turn) > left:
            break
        latest.append(turn)
        left -= len(turn)
    gap = ["(…)"] if len(latest) < len(turns) - 1 else []
    return "\n\n".join([first, *gap, *reversed(latest)])


def _describe_turn(message: Message) -> str:
    text = cut_at_line(message.content.strip(), LONGEST_MESSAGE)
    calls = [
        f"calls {call.name} {call.arguments[:LONGEST_ARGUMENTS]}" for call in message.tool_calls
    ]
    return "\n".join([f"{message.role}:", *([text] if text else []), *calls])


def _cut(output: str, room: int) -> str:
    size = len(output.encode("utf-8", "replace"))
    if size <= room:
        return output
    kept = cut_at_line(output, max(0, room) * len(output) // size)
    return f"{kept}\n[cut here: {len(kept):,} of {len(output):,} characters are shown]"
