"""The table of all programs of which some use is known to be a read. Anything else is refused."""

from functools import cache

from safety.commands.policy import Table
from safety.commands.programs.cloud import CLOUD
from safety.commands.programs.containers import CONTAINERS
from safety.commands.programs.data import DATA
from safety.commands.programs.files import FILES
from safety.commands.programs.git import GIT
from safety.commands.programs.hardware import HARDWARE
from safety.commands.programs.hosts import HOSTS
from safety.commands.programs.hypervisors import HYPERVISORS
from safety.commands.programs.kubernetes import KUBERNETES
from safety.commands.programs.network import NETWORK
from safety.commands.programs.packages import PACKAGES
from safety.commands.programs.platforms import PLATFORMS
from safety.commands.programs.requests import REQUESTS
from safety.commands.programs.runtimes import RUNTIMES
from safety.commands.programs.services import SERVICES
from safety.commands.programs.special import SPECIAL
from safety.commands.programs.system import SYSTEM
from safety.commands.programs.text import TEXT
from safety.commands.refusal import Category

_TABLES = (
    TEXT,
    FILES,
    SYSTEM,
    HARDWARE,
    NETWORK,
    SERVICES,
    PACKAGES,
    HYPERVISORS,
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
