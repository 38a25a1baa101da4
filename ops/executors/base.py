"""What every way to run a program has in common."""

from typing import Protocol

from ops.envelope import ToolFailure
from safety.commands.script import Finished

_MAX_ARGUMENT_BYTES = 100_000


class Executor(Protocol):
    """Runs one program where a resource is. It judges no command: who calls it has."""

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        """Runs the program as given, without a shell that could read its words again.

        At the deadline, at `max_bytes` and when cancelled it is killed with all it started.
        Raises `ToolFailure` where the way there is broken, so that the program was not started.
        """
        ...


def check_argv(argv: tuple[str, ...]) -> None:
    """Refuses what is no program with arguments, or could be taken for something else."""
    if not argv or not argv[0] or argv[0].startswith("-") or "=" in argv[0]:
        raise ToolFailure("INVALID_INPUT", "The command names no program.")
    try:
        size = sum(len(argument.encode("utf-8", "surrogateescape")) for argument in argv)
    except UnicodeEncodeError as error:
        raise ToolFailure("INVALID_INPUT", "The command holds what is no text.") from error
    if any("\0" in argument for argument in argv):
        raise ToolFailure("INVALID_INPUT", "The command holds a NUL character.")
    if size > _MAX_ARGUMENT_BYTES:
        raise ToolFailure(
            "INVALID_INPUT", f"The command is longer than {_MAX_ARGUMENT_BYTES} bytes."
        )
