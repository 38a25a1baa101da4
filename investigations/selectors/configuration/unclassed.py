"""The tools that agents which only read are not offered because nobody has classed them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from config.checks.tools import unclassed_topic
from config.model import Config
from config.unclassed import count_unclassed, explain_classing
from config.usage import servers_only_read
from investigations.selectors.system.tool_servers import ToolServer


@dataclass(frozen=True)
class Unclassed:
    """How many such tools each server has, of all its tools; only servers that have some."""

    servers: Mapping[str, tuple[int, int]]

    def __bool__(self) -> bool:
        return bool(self.servers)

    @property
    def sentence(self) -> str:
        tools = sum(unclassed for unclassed, _ in self.servers.values())
        return count_unclassed(len(self.servers), tools)

    @property
    def details(self) -> str:
        """Which, and what to do about it."""
        listed = ", ".join(
            f"{name} ({unclassed} of {total})" for name, (unclassed, total) in self.servers.items()
        )
        return (
            f"{listed}. Agents that may only read do not get them; they count as writes. "
            f"{explain_classing(self.servers)}"
        )


def find_unclassed(servers: Mapping[str, ToolServer], among: Iterable[str]) -> Unclassed:
    """Those of these servers, as far as their tools have been seen."""
    return Unclassed(
        {
            name: (len(server.unclassed), server.tool_count)
            for name in among
            if (server := servers.get(name)) is not None and server.unclassed
        }
    )


def find_unclassed_in_use(config: Config, servers: Mapping[str, ToolServer]) -> Unclassed:
    """Of the servers that are in use where nothing may be written."""
    return find_unclassed(servers, servers_only_read(config))


def topics_seen(servers: Iterable[ToolServer]) -> frozenset[str]:
    """What the warnings of the files need not say: these tools have been counted."""
    return frozenset(unclassed_topic(server.id) for server in servers if server.tools)
