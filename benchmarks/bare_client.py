"""The LLM client alone: reads the streams the agents read, and prints the CPU it took as JSON."""

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.llm import ProviderSettings, make_llm, warm_up
from agents.llm.http import close_sessions
from agents.ports import LLM, LLMOptions
from agents.types import Message, ToolCall, ToolSpec


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--request", type=Path, required=True, help="a request as it was received")
    parser.add_argument("--url", default="", help="empty: through litellm, wherever that goes")
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    options = parser.parse_args()
    warm_up(with_litellm=not options.url)
    request = json.loads(options.request.read_text(encoding="utf-8"))
    settings = ProviderSettings(
        provider_name="bare", type="openai", model="rehearsal", api_key="none", base_url=options.url
    )
    llm = make_llm(settings)
    cpu = asyncio.run(_read_all(llm, request, agents=options.agents, calls=options.calls))
    print(json.dumps({"cpu_per_call": cpu / (options.agents * options.calls)}))


async def _read_all(llm: LLM, request: Mapping[str, Any], *, agents: int, calls: int) -> float:
    messages, tools = _read_messages(request), _read_tools(request)

    async def read(times: int) -> None:
        for _ in range(times):
            async for _event in llm.stream(messages, tools, LLMOptions()):
                pass

    await read(1)
    before = time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(agents):
            group.create_task(read(calls))
    spent = time.process_time() - before
    await close_sessions()
    return spent


def _read_messages(request: Mapping[str, Any]) -> Sequence[Message]:
    return [
        Message(
            role=message["role"],
            content=message["content"] or "",
            tool_calls=tuple(
                ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls", ())
            ),
            tool_call_id=message.get("tool_call_id", ""),
        )
        for message in request["messages"]
    ]


def _read_tools(request: Mapping[str, Any]) -> Sequence[ToolSpec]:
    return [
        ToolSpec(
            name=tool["function"]["name"],
            wire_name=tool["function"]["name"],
            description=tool["function"]["description"],
            input_schema=tool["function"]["parameters"],
        )
        for tool in request.get("tools", ())
    ]


if __name__ == "__main__":
    main()
