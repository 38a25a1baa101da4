"""The report that stands where no model would write one: what each tool call brought, unweighed."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.estimating import cut_at_line
from agents.result_texts import read_result
from agents.types import Message

WRITTEN_BY_CODE = "**Written by code, not by a model:**"
MOST_CALLS = 60
LONGEST_RESULT = 600
LONGEST_ARGUMENTS = 300


@dataclass(frozen=True)
class _Found:
    number: int
    name: str
    arguments: str
    text: str
    is_failed: bool


def write_code_report(messages: Sequence[Message], reason: str) -> str:
    """Markdown in the usual form of a report; empty when no tool call brought anything."""
    found = list(_find_results(messages))
    if not found:
        return ""
    left_out = len(found) - MOST_CALLS
    more = [f"\n{left_out} more calls are on the timeline."] if left_out > 0 else []
    return "\n".join(
        [
            "## Conclusion",
            f"{WRITTEN_BY_CODE} the tools were called, and no conclusion could be had. {reason}",
            "",
            "Nothing below was weighed or compared: it is what each call brought, as it came.",
            "",
            "## Evidence",
            *(_write(each) for each in found[:MOST_CALLS]),
            *more,
        ]
    )


def _find_results(messages: Sequence[Message]) -> Iterator[_Found]:
    asked = {call.id: call for message in messages for call in message.tool_calls}
    for message in messages:
        result = read_result(message)
        call = asked.get(message.tool_call_id)
        if result is not None and call is not None:
            yield _Found(
                result.number, call.name, call.arguments, result.inside, _is_failed(result.head)
            )


def _is_failed(head: str) -> bool:
    return head.endswith(" failed")


def _write(found: _Found) -> str:
    arguments = _write_line(found.arguments)
    text = found.text.strip()
    shown = text if len(text) <= LONGEST_RESULT else f"{cut_at_line(text, LONGEST_RESULT)}\n…"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    lines = [f"   {line}" for line in [fence, *shown.splitlines(), fence]]
    failed = ", which failed" if found.is_failed else ""
    head = (
        f"{found.number}. [T{found.number}] {found.name.replace('__', '.', 1)}{arguments}{failed}"
    )
    return "\n".join([head, *lines])


def _write_line(arguments: str) -> str:
    """Arguments in backticks, on one line that no text in them breaks out of."""
    try:
        text = json.dumps(json.loads(arguments or "{}"), ensure_ascii=False)
    except (ValueError, RecursionError):
        text = arguments
    text = " ".join(text.replace("`", "'").split())
    cut = text if len(text) <= LONGEST_ARGUMENTS else f"{text[:LONGEST_ARGUMENTS]}…"
    return f" with `{cut}`" if cut not in ("", "{}") else ""
