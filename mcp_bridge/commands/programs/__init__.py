"""The table of all programs of which some use is known to be a read. Anything else is refused."""

from functools import cache

from mcp_bridge.commands.policy import Table
from mcp_bridge.commands.programs.cloud import CLOUD
from mcp_bridge.commands.programs.containers import CONTAINERS
from mcp_bridge.commands.programs.data import DATA
from mcp_bridge.commands.programs.git import GIT
from mcp_bridge.commands.programs.hosts import HOSTS
from mcp_bridge.commands.programs.kubernetes import KUBERNETES
from mcp_bridge.commands.programs.network import NETWORK
from mcp_bridge.commands.programs.platforms import PLATFORMS
from mcp_bridge.commands.programs.requests import REQUESTS
from mcp_bridge.commands.programs.runtimes import RUNTIMES
from mcp_bridge.commands.programs.services import SERVICES
from mcp_bridge.commands.programs.special import SPECIAL
from mcp_bridge.commands.programs.system import FILES, SYSTEM
from mcp_bridge.commands.programs.text import TEXT
from mcp_bridge.commands.refusal import Category

_TABLES = (
    TEXT,
    FILES,
    SYSTEM,
    NETWORK,
    SERVICES,
    KUBERNETES,
    CONTAINERS,
    GIT,
    DATA,
    CLOUD,
    RUNTIMES,
    HOSTS,
    PLATFORMS,
    SPECIAL,
    REQUESTS,
)


@cache
def all_programs() -> Table:
    """Every program with its row; a name stands in one table only."""
    merged = {name: entry for table in _TABLES for name, entry in table.items()}
    assert len(merged) == sum(map(len, _TABLES)), "a program stands in two tables"
    return merged


def _why(names: str, category: Category, reason: str) -> dict[str, tuple[Category, str]]:
    return dict.fromkeys(names.split(), (category, reason))


# Programs that do not end by themselves and have no honest use here, or only a part of them has.
ENDLESS_PROGRAMS = {
    **_why(
        "less more most view vi vim nvim nano emacs pico ed man info",
        Category.PAGER,
        "it waits for somebody at a terminal",
    ),
    **_why(
        "htop atop iotop iftop nload btop glances powertop nethogs",
        Category.UNBOUNDED_STREAM,
        "it draws on a terminal until somebody ends it",
    ),
    **_why(
        "mysql mariadb psql sqlite3 mongo mongosh redis-cli irb pry ipython bc dc gdb telnet ftp "
        "sftp",
        Category.INTERACTIVE_REPL,
        "without a command it waits for input",
    ),
}
