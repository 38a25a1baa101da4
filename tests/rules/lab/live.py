"""The tools of `ops` on such a machine, and a record of what they answered."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from agents.ports import ReportProgress
from agents.types import ToolCall, ToolResult
from tests.rules.worlds import World, WorldToolbox, answer_call

_HOW_MUCH = ("lines", "limit")
"""A world says the same to a look that asks for a little more or less."""
_ALWAYS_LIVE = ("ss ", "nginx ", "psql ", "redis-cli ", "rabbitmq", "tail ")
NEVER_LIVE = ("kubectl ", "journalctl ", "systemctl ", "timedatectl ", "chronyc ", "dmesg ", "ps ")


@dataclass
class LiveToolbox(WorldToolbox):
    """Of the machine around a server the world tells, of the server itself the server."""

    client: Client | None = None
    of_the_host: Collection[str] = ()
    not_here: tuple[str, ...] = NEVER_LIVE
    recorded: list[Mapping[str, Any]] = field(default_factory=list)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        target = self.identify(call)
        command = str(target.arguments.get("command", ""))
        told = answer_call(self.world, target)
        of_the_host = target.tool in self.of_the_host or command.startswith(self.not_here)
        if of_the_host or (told is not None and not command.startswith(_ALWAYS_LIVE)):
            return await super().execute(call, report_progress=report_progress)
        self.executed.append(call)
        assert self.client is not None
        result = await self.client.call_tool(target.tool, dict(target.arguments))
        text = "".join(getattr(part, "text", "") for part in result.content)
        if target.tool == "changes":
            text = _without_boot(text)
        arguments = {
            name: value for name, value in target.arguments.items() if name not in _HOW_MUCH
        }
        self.recorded.append(
            {"tool": target.tool, "arguments": arguments, "text": without_chance(text),
             **({"failed": True} if result.is_error else {})}
        )  # fmt: skip
        return ToolResult(text, text, is_error=bool(result.is_error), size_bytes=len(text))


def without_chance(text: str) -> str:
    """An answer without what differs from call to call, which nobody reads in a record."""
    try:
        told = json.loads(text)
    except ValueError:
        return text
    kept = ("host", "truncated", "cuts", "notes")
    told["meta"] = {key: value for key, value in told["meta"].items() if key in kept and value}
    if isinstance(told["data"], dict):
        told["data"].pop("execution", None)
    return json.dumps(told, ensure_ascii=False)


def _without_boot(text: str) -> str:
    """Without the start of the machine that lends its programs: this one has run for long."""
    told = json.loads(text)
    if told["ok"]:
        data = told["data"]
        data["changes"] = [each for each in data["changes"] if each["kind"] != "boot"]
        data["total"] = len(data["changes"])
    return json.dumps(told, ensure_ascii=False)


def dump(world: World, host: Mapping[str, Any], recorded: list[Mapping[str, Any]]) -> str:
    """A world as one line of a file."""
    unlike = [*_unlike(recorded)]
    return json.dumps(
        {"world": world.name, "alert": world.alert, "words": list(world.words),
         "now": world.now.isoformat(timespec="seconds"), "host": host, "answers": unlike},
        ensure_ascii=False,
    )  # fmt: skip


def _unlike(recorded: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    seen = set()
    for each in recorded:
        key = json.dumps([each["tool"], each["arguments"]], sort_keys=True)
        if key not in seen:
            seen.add(key)
            yield each
