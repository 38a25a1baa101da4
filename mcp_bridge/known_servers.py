"""What tools of well-known servers do, by a table that people have reviewed.

A server says who it is when it is opened. What the table says of it counts where the server's own
word would: the operator's configuration comes first, the server's hints come after. That a tool
reads is said of the versions that were reviewed, and not of one that says of itself that it acts;
that a tool writes is said of all.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from mcp_types import Tool

from mcp_bridge.server_config import ServerConfig, TransportConfig
from safety.tool_rules import ClassRule, ToolClass, ToolRule

TABLE = Path(__file__).with_name("known_servers.yaml")
_MOST_DIGITS = 9


@dataclass(frozen=True)
class KnownServer:
    """One row: the server as it names itself, the package it comes in, and what its tools do."""

    name: str
    package: str
    since: str
    below: str
    tools: Mapping[str, ClassRule]

    def covers(self, version: str) -> bool:
        """Whether this version was reviewed, or lies between two that were."""
        return _parts(self.since) <= _parts(version) < _parts(self.below)


@dataclass(frozen=True)
class _Expected:
    path: str = ""
    equals: str = ""
    contains: str = ""


@dataclass(frozen=True)
class _Check:
    """A read that shows whether a write took effect."""

    tool: str
    arguments: Mapping[str, str]
    expect: _Expected


@dataclass(frozen=True)
class _Classed:
    """A server's configuration with the rules of the table below those of the operator."""

    transport: TransportConfig
    instructions: str
    data_masking: Any
    tools: Mapping[str, ToolRule]
    max_result_tokens: int
    tool_call_timeout: Any
    tool_call_timeouts: Any
    tool_call_limit: Any
    trusts_annotations: bool


def find_known_rules(name: str, version: str, tools: Iterable[Tool]) -> dict[str, ClassRule]:
    """What the table says of a server that calls itself so and lists these tools, by tool."""
    rows = sorted(
        (row for row in read_table() if row.name == name), key=lambda row: row.covers(version)
    )
    found: dict[str, ClassRule] = {}
    for row in rows:
        is_reviewed = row.covers(version)
        for tool, rule in row.tools.items():
            if is_reviewed:
                found[tool] = rule
            elif rule.default == "write":
                # The read that would show its effect may be another one by now.
                found[tool] = replace(rule, verify=None)
    acting = {tool.name for tool in tools if _says_that_it_acts(tool)}
    return {
        tool: rule for tool, rule in found.items() if rule.default == "write" or tool not in acting
    }


def with_known_tools(
    config: ServerConfig, name: str, version: str, tools: Iterable[Tool]
) -> ServerConfig:
    """The configuration of a server, with what is known of it where its own word would count."""
    if not config.trusts_annotations:
        return config
    known = find_known_rules(name, version, tools)
    if not known:
        return config
    return _Classed(
        config.transport, config.instructions, config.data_masking,
        {**known, **config.tools}, config.max_result_tokens, config.tool_call_timeout,
        config.tool_call_timeouts, config.tool_call_limit, config.trusts_annotations,
    )  # fmt: skip


@lru_cache(maxsize=1)
def read_table() -> tuple[KnownServer, ...]:
    """Every row, once."""
    rows: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return tuple(_read_row(row) for row in rows)


def _read_row(row: dict[str, Any]) -> KnownServer:
    tools: dict[str, ClassRule] = {}
    for kind in ("resolve", "read", "write"):
        listed: list[str] = row.get(kind) or []
        tools.update(dict.fromkeys(listed, ClassRule(kind)))
    for name, split in (row.get("by_value") or {}).items():
        values: dict[str, ToolClass] = dict.fromkeys(split["reads"], "read")
        tools[name] = ClassRule("write", split["argument"], values)
    for name, check in (row.get("verify") or {}).items():
        tools[name] = replace(tools[name], verify=_read_check(check))
    since, below = row["versions"]
    return KnownServer(row["name"], row["package"], since, below, tools)


def _read_check(check: dict[str, Any]) -> _Check:
    return _Check(check["tool"], check.get("arguments") or {}, _Expected(**check["expect"]))


def _says_that_it_acts(tool: Tool) -> bool:
    hints = tool.annotations
    return hints is not None and (hints.destructive_hint is True or hints.read_only_hint is False)


def _parts(version: str) -> tuple[int, ...]:
    """The numbers of a version; none where one is longer than that of any version."""
    parts = re.findall(r"\d+", version, re.ASCII)[:4]
    return tuple(map(int, parts)) if all(len(part) <= _MOST_DIGITS for part in parts) else ()
