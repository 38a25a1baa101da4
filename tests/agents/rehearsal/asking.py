"""Questions to a rehearsal server, and what came back of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Spoken = dict[str, Any]
"""A message or a tool as it goes over the wire."""


@dataclass
class Heard:
    """A streamed answer put together again."""

    text: str = ""
    thinking: str = ""
    chunks: int = 0
    calls: list[dict[str, str]] = field(default_factory=list)
    finish_reasons: list[str] = field(default_factory=list)
    usage: Any = None


def user(text: str = "what is wrong?") -> Spoken:
    return {"role": "user", "content": text}


def system(agent: str) -> Spoken:
    return {"role": "system", "content": f"You investigate.\nAgent: {agent}\nBe brief."}


def called(call_id: str, name: str, arguments: str = "{}") -> Spoken:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(call_id: str, content: str) -> Spoken:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def offer(*names: str) -> list[Spoken]:
    schema = {"type": "object", "properties": {}}
    return [{"type": "function", "function": {"name": n, "parameters": schema}} for n in names]


async def listen_to(client: Any, messages: Sequence[Spoken], **options) -> Heard:
    """Ask with streaming and put the chunks together."""
    options.setdefault("stream_options", {"include_usage": True})
    heard = Heard()
    stream = await client.chat.completions.create(
        model=options.pop("model", "rehearsal"), messages=messages, stream=True, **options
    )
    async for chunk in stream:
        heard.chunks += 1
        heard.usage = chunk.usage or heard.usage
        for choice in chunk.choices:
            if choice.finish_reason:
                heard.finish_reasons.append(choice.finish_reason)
            heard.text += choice.delta.content or ""
            heard.thinking += getattr(choice.delta, "reasoning_content", None) or ""
            for fragment in choice.delta.tool_calls or ():
                _join(heard.calls, fragment)
    return heard


async def ask(client: Any, messages: Sequence[Spoken], **options) -> str:
    """Ask without streaming and return the text."""
    answer = await client.chat.completions.create(
        model=options.pop("model", "rehearsal"), messages=messages, **options
    )
    return answer.choices[0].message.content or ""


def _join(calls: list[dict[str, str]], fragment) -> None:
    if fragment.index == len(calls):
        assert fragment.id
        assert fragment.function.name
        calls.append({"id": fragment.id, "name": fragment.function.name, "arguments": ""})
    else:
        assert fragment.id is None
        assert fragment.function.name is None
    calls[fragment.index]["arguments"] += fragment.function.arguments or ""
