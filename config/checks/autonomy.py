"""What an agent may change without asking, said where somebody gave one so much room."""

from collections.abc import Iterator

from config.model import Config
from config.schema.servers import Acts, MCPServerConfig
from config.usage import servers_with_autonomy
from config.words import list_names
from tarsy.errors import Mistake

_FILE = "tarsy.yaml"
_OPS = "ops"


def note_autonomy(config: Config) -> Iterator[Mistake]:
    """One note for each server that some agent uses in `autonomous`."""
    for name in servers_with_autonomy(config):
        yield Mistake(_FILE, 0, _explain(name, config.mcp_servers[name]))


def _explain(name: str, server: MCPServerConfig) -> str:
    named = [*_name_acts(server)]
    if name == _OPS:
        named.insert(0, "starting, restarting and reloading what is there")
    if named:
        return (
            f"under control_level autonomous, of {name} only this runs without a person, on "
            f"targets that were looked up: {list_names(named)}; a person decides about every other "
            "write"
        )
    return (
        f"under control_level autonomous, a person decides about every write of {name}: nothing "
        f"under mcp_servers.{name}.tools says that it repairs (`repairs`) or needs nobody whatever "
        "it does (`autonomous`)"
    )


def _name_acts(server: MCPServerConfig) -> Iterator[str]:
    for tool, rule in sorted(server.tools.items()):
        acts = [*dict.fromkeys([*_list_acts(rule.repairs), *_list_acts(rule.autonomous)])]
        if True in (rule.repairs, rule.autonomous):
            yield tool
        elif acts:
            yield f"{tool} ({', '.join(acts)})"


def _list_acts(acts: Acts) -> tuple[str, ...]:
    return () if isinstance(acts, bool) else tuple(acts)
