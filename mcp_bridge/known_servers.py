"""What tools of well-known servers do, by a table that people have reviewed.

A server says who it is when it is opened. What the table says of it counts where the server's own
word would: the operator's configuration comes first, the server's hints come after. That a tool
reads is said of the versions that were reviewed, and not of one that says of itself that it acts;
that a tool writes is said of all. Some servers tell a version that says nothing: that of their
framework, or the same in every release. Of these a tool reads as long as it takes no parameter that
was not reviewed.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    tools: Mapping[str, ClassRule]
    versions: tuple[str, str] | None = None
    """From, below; None where what the server tells of its version says nothing."""
    parameters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of the tools that read, where there are no versions to go by."""

    def covers(self, version: str) -> bool:
        """Whether this version was reviewed, or lies between two that were."""
        if self.versions is None:
            return True
        since, below = self.versions
        return _parts(since) <= _parts(version) < _parts(below)

    def knows(self, tool: Tool) -> bool:
        """Whether a tool that reads has no parameter that was not reviewed."""
        reviewed = self.parameters.get(tool.name)
        listed = tool.input_schema.get("properties")
        return reviewed is None or reviewed.issuperset(listed if isinstance(listed, dict) else ())


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


def find_known_rules(name: str, version: str, tools: Collection[Tool]) -> dict[str, ClassRule]:
    """What the table says of a server that calls itself so and lists these tools, by tool."""
    rows = sorted(
        (row for row in read_table() if row.name == name), key=lambda row: row.covers(version)
    )
    found: dict[str, ClassRule] = {}
    for row in rows:
        is_reviewed = row.covers(version)
        for tool in tools:
            rule = row.tools.get(tool.name)
            if rule is None:
                continue
            if rule.default == "write":
                # In another version, the read that would show its effect may be another one.
                found[tool.name] = rule if is_reviewed else replace(rule, verify=None)
            elif is_reviewed and row.knows(tool) and not _says_that_it_acts(tool):
                found[tool.name] = rule
    return found


def with_known_tools(
    config: ServerConfig, name: str, version: str, tools: Collection[Tool]
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
        listed: Iterable[str] = row.get(kind) or ()
        tools.update(dict.fromkeys(listed, ClassRule(kind)))
    for name, split in (row.get("by_value") or {}).items():
        values: dict[str, ToolClass] = dict.fromkeys(split["reads"], "read")
        tools[name] = ClassRule("write", split["argument"], values)
    for name, arguments in (row.get("identifies") or {}).items():
        tools[name] = replace(tools[name], identifies=tuple(arguments))
    for name, check in (row.get("verify") or {}).items():
        tools[name] = replace(tools[name], verify=_read_check(check))
    reads = row.get("read")
    parameters = reads if isinstance(reads, dict) else {}
    return KnownServer(
        row["name"], row["package"], tools,
        versions=tuple(row["versions"]) if "versions" in row else None,
        parameters={tool: frozenset(names) for tool, names in parameters.items()},
    )  # fmt: skip


def _read_check(check: dict[str, Any]) -> _Check:
    return _Check(check["tool"], check.get("arguments") or {}, _Expected(**check["expect"]))


def _says_that_it_acts(tool: Tool) -> bool:
    hints = tool.annotations
    return hints is not None and (hints.destructive_hint is True or hints.read_only_hint is False)


def _parts(version: str) -> tuple[int, ...]:
    """The numbers of a version; none where one is longer than that of any version."""
    parts = re.findall(r"\d+", version, re.ASCII)[:4]
    return tuple(map(int, parts)) if all(len(part) <= _MOST_DIGITS for part in parts) else ()
