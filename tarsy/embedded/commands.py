"""Gives a Django command the servers it needs, before the settings are read."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tarsy.embedded.files import REPOSITORY
from tarsy.embedded.protocol import ServerName
from tarsy.embedded.servers import ensure, locate
from tarsy.errors import ConfigError, Mistake

VARIABLES: dict[ServerName, str] = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}

# Everything else gets servers: a command that is missing here starts slowly, and works.
COMMANDS_WITHOUT_SERVERS = frozenset(
    {
        "check",
        "check_config",
        "collectstatic",
        "compilemessages",
        "diffsettings",
        "findstatic",
        "help",
        "makemessages",
        "mask",
        "spectacular",
        "startapp",
        "test",
        "version",
    }
)
COMMANDS_THAT_JOIN = frozenset({"investigate"})
"""They want something of those who run already: a directory with nobody in it is the wrong one."""
WORDS_WITHOUT_SERVERS = frozenset({"--help", "-h", "--version"})


@contextmanager
def servers_for(arguments: Sequence[str]) -> Iterator[None]:
    """Inside, DATABASE_URL and REDIS_URL are set if the command line needs them.

    A variable that is set already stands, and its server is not started. The servers live in
    TARSY_VAR_DIR (default: `var` in the repository) and stop with their last user. Raises
    ConfigError where a command wants those that run already and there are none.
    """
    wanted = [name for name, variable in VARIABLES.items() if not _is_given(variable)]
    if not wanted or not _needs_servers(arguments):
        yield
        return
    if arguments[0] in COMMANDS_THAT_JOIN and locate(var_dir()) is None:
        raise ConfigError([Mistake("environment", 0, explain_nobody(var_dir()))])
    with ensure(var_dir(), wanted=wanted) as servers:
        if "postgres" in wanted:
            os.environ[VARIABLES["postgres"]] = servers.database_url
        if "valkey" in wanted:
            os.environ[VARIABLES["valkey"]] = servers.redis_url
        yield


def var_dir() -> Path:
    """Where everything that is kept between runs lies."""
    return Path(os.environ.get("TARSY_VAR_DIR") or REPOSITORY / "var").absolute()


def are_ours(directory: Path) -> bool:
    """Whether this process uses the servers of that directory, and none that it was given."""
    servers = locate(directory)
    return servers is not None and os.environ.get("DATABASE_URL") == servers.database_url


def explain_nobody(directory: Path) -> str:
    return (
        f"nothing runs from {directory}, so nobody would answer. Start `make run` there, or set "
        "TARSY_VAR_DIR to the directory from which TARSy runs"
    )


def _needs_servers(arguments: Sequence[str]) -> bool:
    if not arguments or WORDS_WITHOUT_SERVERS & set(arguments):
        return False
    if arguments[0] == "makemigrations" and "--check" in arguments:
        return False
    return arguments[0] not in COMMANDS_WITHOUT_SERVERS


def _is_given(variable: str) -> bool:
    """As the settings read it: blank counts as unset, and a file may hold the value."""
    return any(os.environ.get(name, "").strip() for name in (variable, f"{variable}_FILE"))
