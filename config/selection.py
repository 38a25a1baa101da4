"""`mcp` of an alert: which servers, tools and native tools this one investigation gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from config.model import Config
from config.schema.agents import NativeToolsConfig
from config.words import suggest
from tarsy.errors import InvalidInput

_MOST = 200
_LONGEST_NAME = 128


class ServerSelection(NamedTuple):
    """A server that was chosen. `tools` None means all of its tools."""

    name: str
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ToolSelection:
    """What an alert chose.

    Named servers take the place of all configured ones. Without any, the servers of the
    configuration stay, unless native tools alone were switched on and the model has them: it takes
    either kind, and these were asked for.
    """

    servers: tuple[ServerSelection, ...] = ()
    native_tools: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_native_only(self) -> bool:
        return not self.servers and any(self.native_tools.values())


def parse_selection(value: object, config: Config) -> ToolSelection:
    """A selection as it came with an alert; None chooses nothing.

    Raises InvalidInput that names the part which is wrong, from `mcp` down.
    """
    if value is None:
        return ToolSelection()
    body = _mapping(value, "mcp", ("servers", "native_tools"))
    known = config.mcp_servers
    items = _list(body.get("servers"), "mcp.servers")
    servers = tuple(
        _server(item, f"mcp.servers[{index}]", known) for index, item in enumerate(items)
    )
    seen: set[str] = set()
    for index, server in enumerate(servers):
        if server.name in seen:
            raise InvalidInput(f"mcp.servers[{index}].name", "names a server for the second time")
        seen.add(server.name)
    return ToolSelection(servers, _native_tools(body.get("native_tools")))


def _server(item: object, place: str, known: Mapping[str, object]) -> ServerSelection:
    body = _mapping(item, place, ("name", "tools"))
    name = body.get("name")
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"{place}.name", "must be the name of an MCP server")
    if name not in known:
        shown = name[:60] if name.isprintable() else "with this name"
        raise InvalidInput(
            f"{place}.name", f"there is no MCP server {shown!r}{suggest(name, known)}"
        )
    tools = _list(body.get("tools"), f"{place}.tools")
    names = tuple(_tool(tool, f"{place}.tools[{index}]") for index, tool in enumerate(tools))
    return ServerSelection(name, names or None)


def _tool(value: object, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(place, "must be the name of a tool")
    if len(value) > _LONGEST_NAME or not value.isprintable():
        raise InvalidInput(place, f"must be printable and at most {_LONGEST_NAME} characters")
    return value


def _native_tools(value: object) -> Mapping[str, bool]:
    if value is None:
        return MappingProxyType({})
    place = "mcp.native_tools"
    body = _mapping(value, place, tuple(NativeToolsConfig.model_fields))
    for name, switch in body.items():
        if not isinstance(switch, bool):
            raise InvalidInput(f"{place}.{name}", "must be true or false")
    return MappingProxyType({name: switch is True for name, switch in body.items()})


def _mapping(value: object, place: str, keys: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput(place, f"must be an object with the keys {', '.join(keys)}")
    for key in value:
        if key not in keys:
            shown = key[:60] if isinstance(key, str) and key.isprintable() else "?"
            raise InvalidInput(place, f"unknown key {shown!r}{suggest(str(key), keys)}")
    return value


def _list(value: object, place: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInput(place, "must be a list")
    if len(value) > _MOST:
        raise InvalidInput(place, f"must have at most {_MOST} entries")
    return value
