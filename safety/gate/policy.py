"""What a call does to the world: resolve, read or write. Unknown is write.

The class belongs to the tool and its action, never to the text of a command.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool

from agents.types import JSON
from safety.gate.hint_splits import split_by_argument
from safety.gate.hints import object_to_hint
from safety.gate_port import GateRequest
from safety.tool_rules import ClassedServer, ClassRule, ToolClass, ToolRule

OPS = "ops"

_READ = ClassRule("read")
_RESOLVE = ClassRule("resolve")
_WRITE = ClassRule("write")


def _reads(argument: str, *values: str) -> ClassRule:
    return ClassRule("write", argument, dict.fromkeys(values, "read"))


OPS_RULES: Mapping[str, ClassRule] = {
    "query": _RESOLVE,
    "discovery": _RESOLVE,
    "read": _READ,
    "metrics": _READ,
    "storage": _READ,
    "probe": _READ,
    "changes": _READ,
    "docker": _reads(
        "action",
        "list",
        "inspect",
        "logs",
        "services",
        "tasks",
        "swarm",
        "updates",
        "check_updates",
    ),
    "kubernetes": _reads("type", "clusters", "nodes", "pods", "deployments", "logs", "events"),
    "alerts": _reads("action", "list", "get", "warnings"),
    # A note outlives the execution and is read by later ones: to remember is a write.
    "knowledge": _reads("action", "recall", "incidents"),
    "file_edit": _reads("action", "read"),
    "control": _WRITE,
}
"""Our own server's tools by what they are, and by the argument that says what they do."""


def runs_any_command(request: GateRequest) -> bool:
    """Whether a write of our own server is a command line, which could be any write."""
    return request.is_own_server and bool(request.arguments.get("command"))


def is_own_server(server_id: str, server: ClassedServer) -> bool:
    """Whether this is the ops server of this product, in this process: a name proves nothing."""
    plan = server.transport
    return plan.type == "in_process" and (plan.command or server_id) == OPS


def class_of_call(
    server_id: str, server: ClassedServer, tool: Tool, arguments: Mapping[str, JSON]
) -> ToolClass:
    """The class of one call: our table, the operator's word, the server's where trusted."""
    return rule_of(server_id, server, tool).class_of(arguments)


def may_read(server_id: str, server: ClassedServer, tool: Tool) -> bool:
    """Whether some call of this tool is no write, so that offering it makes sense."""
    rule = rule_of(server_id, server, tool)
    return any(kind != "write" for kind in (rule.default, *rule.values.values()))


def is_classed(server_id: str, server: ClassedServer, tool: Tool) -> bool:
    """Whether anybody whose word counts has said what a tool is. One that nobody classed is held
    for a write; that is another thing than a write that somebody named."""
    if find_rule(server_id, server, tool.name) is not None:
        return True
    hints = tool.annotations if server.trusts_annotations else None
    if hints is None:
        return False
    if hints.read_only_hint is True:
        # A word that the tool itself speaks against is nobody's.
        return may_read(server_id, server, tool)
    return hints.read_only_hint is not None or hints.destructive_hint is not None


def rule_of(server_id: str, server: ClassedServer, tool: Tool) -> ToolRule:
    """By what a tool is classed: what is laid down for it, else what its server says of it."""
    return find_rule(server_id, server, tool.name) or classify_by_hints(server, tool).rule


def find_rule(server_id: str, server: ClassedServer, tool: str) -> ToolRule | None:
    """What is laid down for a tool, by us or by the operator. Ours comes first."""
    if is_own_server(server_id, server) and (rule := OPS_RULES.get(tool)):
        return rule
    return server.tools.get(tool)


def without_writes(rule: ToolRule, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's schema without the values of an argument that would make a write of a call."""
    properties = schema.get("properties")
    if not rule.values or not isinstance(properties, dict):
        return dict(schema)
    return {
        **schema,
        "properties": {name: _only_reads(rule, name, each) for name, each in properties.items()},
    }


def _only_reads(rule: ToolRule, name: str, described: Any) -> Any:
    listed = described.get("enum") if isinstance(described, dict) else None
    if not isinstance(listed, list):
        return described
    # Another argument's values are none of the rule's.
    known = [value for value in listed if isinstance(value, str) and value in rule.values]
    kept = [value for value in listed if rule.class_of({name: value}) != "write"]
    return {**described, "enum": kept} if known and kept else described


@dataclass(frozen=True)
class Classification:
    """What a tool is that no rule is laid down for, and why, in a clause for people."""

    rule: ClassRule
    reason: str

    @property
    def tool_class(self) -> ToolClass:
        """That of a call whose arguments say nothing."""
        return self.rule.default


def classify_by_hints(server: ClassedServer, tool: Tool) -> Classification:
    """What a tool's own server says of it, where that may be believed; else a write."""
    hints = tool.annotations
    if hints is None or hints.read_only_hint is not True:
        return Classification(_WRITE, "nothing says that it only reads")
    if not server.trusts_annotations:
        return Classification(
            _WRITE, "its server says that it only reads, and is not trusted (trust_annotations)"
        )
    if objection := object_to_hint(tool):
        said = f"its server says that it only reads, but {objection}"
        is_read = hints.destructive_hint is not True
        return Classification((is_read and split_by_argument(tool)) or _WRITE, said)
    return Classification(_READ, "its server says that it only reads")
