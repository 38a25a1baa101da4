"""Which writes need no person in `autonomous`: what repairs, and what the operator named exactly.

Everything else asks. What a tool destroys is known by no list of words, so nothing passes because
of what it is called: it passes because our own table or the configuration says so.
"""

from collections.abc import Mapping

from mcp_types import Tool

from agents.types import JSON
from safety.gate.policy import is_own_server
from safety.gate_port import Licence
from safety.tool_rules import Acts, ClassedServer, ToolRule

_STARTED = frozenset({"service", "container", "guest"})
_DECIDING = frozenset({"action", "operation", "type"})
"""The arguments of our own tools that say what is done."""


def license_call(
    server_id: str, server: ClassedServer, tool: Tool, arguments: Mapping[str, JSON]
) -> Licence:
    """What the configuration lets this call do without a person."""
    rule = server.tools.get(tool.name)
    accepts = rule.accepts if rule is not None else {}
    if is_own_server(server_id, server):
        objection = _object_to_own(tool.name, arguments, rule)
        return Licence(objection, _DECIDING, accepts)
    if rule is None:
        return Licence()
    judged_by = frozenset({rule.argument}) if rule.argument else frozenset()
    return Licence(_object_to(tool, arguments, rule), judged_by, accepts)


def own_act(tool: str, arguments: Mapping[str, JSON]) -> str:
    """What a call of our own server does, in the one word that the configuration names it by."""
    names = {"docker": "action", "kubernetes": "type"}
    act = arguments.get(names.get(tool, "action"))
    if tool == "docker" and act == "control":
        act = arguments.get("operation")
    return act if isinstance(act, str) else ""


def _object_to_own(tool: str, arguments: Mapping[str, JSON], rule: ToolRule | None) -> str:
    act = own_act(tool, arguments)
    if _repairs(tool, act, arguments):
        return ""
    if rule is not None and (_names(rule.repairs, act) or _names(rule.autonomous, act)):
        return ""
    return f"{act or tool} is not among what repairs, and the configuration does not name it"


def _repairs(tool: str, act: str, arguments: Mapping[str, JSON]) -> bool:
    """Whether what is down or hangs comes up again, and nothing else happens."""
    match tool, act:
        case "control", "start" | "restart" | "reload":
            kind = arguments.get("type", "service")
            return isinstance(kind, str) and kind in _STARTED
        case ("docker", "start" | "restart") | ("kubernetes", "restart"):
            return True
    return False


def _object_to(tool: Tool, arguments: Mapping[str, JSON], rule: ToolRule) -> str:
    value = arguments.get(rule.argument) if rule.argument else ""
    act = value if isinstance(value, str) else ""
    shown = f"{rule.argument} {act[:80]}" if rule.argument else tool.name
    if _names(rule.autonomous, act):
        return ""
    if not _names(rule.repairs, act):
        return f"{shown} is not configured as what repairs"
    if tool.annotations is not None and tool.annotations.destructive_hint is True:
        return f"its server says that {tool.name} destroys, and autonomous does not name it"
    return ""


def _names(acts: Acts, act: str) -> bool:
    return acts if isinstance(acts, bool) else act in acts
