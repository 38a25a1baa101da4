"""What a tool does to the world: resolve, read or write. Unknown is write."""

from collections.abc import Mapping

from mcp_types import Tool

from agents.types import JSON
from mcp_bridge.server_config import ServerConfig, ToolClass


def class_of_call(server: ServerConfig, tool: Tool, arguments: Mapping[str, JSON]) -> ToolClass:
    """The class of one call: the operator's word, then the server's where trusted, else write."""
    if rule := server.tools.get(tool.name):
        return rule.class_of(arguments)
    return _class_from_annotations(server, tool)


def may_read(server: ServerConfig, tool: Tool) -> bool:
    """Whether some call of this tool is no write, so that offering it makes sense."""
    if rule := server.tools.get(tool.name):
        return any(kind != "write" for kind in (rule.default, *rule.values.values()))
    return _class_from_annotations(server, tool) != "write"


def _class_from_annotations(server: ServerConfig, tool: Tool) -> ToolClass:
    if not server.trusts_annotations or tool.annotations is None:
        return "write"
    hints = tool.annotations
    is_read = hints.read_only_hint is True and hints.destructive_hint is not True
    return "read" if is_read else "write"
