"""Whether the programs are there that tool servers are started with."""

import shutil
from collections.abc import Mapping

from config.schema.servers import TransportConfig


def is_installed(program: str, path: str) -> bool:
    """Whether a search path leads to it, or it is a path itself that may be run."""
    return shutil.which(program, path=path) is not None


def missing_program(transport: TransportConfig, environ: Mapping[str, str]) -> str:
    """The program of a server over stdio that its start would not find; empty where it would.

    Nothing is known to be missing where the environment has no search path.
    """
    path = transport.env.get("PATH") or environ.get("PATH", "")
    if transport.type != "stdio" or not path or not transport.command:
        return ""
    return "" if is_installed(transport.command, path) else transport.command
