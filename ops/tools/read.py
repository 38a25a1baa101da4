"""The `read` tool: files, logs, and commands that only read."""

from typing import Annotated, Literal

from pydantic import Field

from ops import files
from ops.bounded import Deadline, run_in_thread
from ops.command_reader import CommandReader
from ops.envelope import Answer, ToolFailure
from ops.envelope_server import EnvelopeServer
from ops.file_search import find_files
from ops.line_filter import build_line_filter
from ops.logs import LogRequest, read_logs
from ops.settings import OpsSettings
from ops.since import parse_since
from ops.tools.fields import (
    READ_SECONDS,
    AbsolutePath,
    Grep,
    Lines,
    PodContainer,
    Reply,
    ResourceId,
    Since,
    describe_reader,
)
from safety.paths.sensitive_paths import SensitivePaths

Action = Annotated[
    Literal["file", "tail", "find", "logs", "exec"],
    Field(
        description="file: a text file from start_line on. tail: its last lines. find: "
        "files below a directory by name. logs: the system journal, or the log files. "
        "exec: a command that reads and ends by itself; pipes into filters are fine, "
        "variables, substitutions and redirections are not."
    ),
]
Command = Annotated[str, Field(max_length=4096, description="The command, for exec.")]
Place = Annotated[
    ResourceId,
    Field(
        description="Where exec runs: id of a host, container, guest or pod. Empty is this machine."
    ),
]
PlaceName = Annotated[
    str, Field(max_length=253, description="The same by name; resource_id goes first.")
]
Path = Annotated[AbsolutePath, Field(description="Absolute path, needed for file, tail and find.")]
StartLine = Annotated[int, Field(ge=1, le=100_000_000, description="First line, for file.")]
Glob = Annotated[str, Field(max_length=200, description="Glob on file names, for find: *.log")]
Depth = Annotated[int, Field(ge=1, le=12, description="Levels below path, for find.")]
Unit = Annotated[
    str, Field(max_length=200, description="Service whose logs are wanted, such as nginx.")
]


def add_read(server: EnvelopeServer, settings: OpsSettings, commands: CommandReader) -> None:
    server.add_tool(
        ReadTool(server, settings, commands).read,
        title="Read",
        annotations=describe_reader("Read"),
        description=(
            "Text files, their last lines, files by name, logs, and the output of commands that "
            "are proven to only read. Nothing is changed. Keys, passwords, other secrets and "
            "binary files are refused."
        ),
    )


class ReadTool:
    """The function that is offered, with what it asks."""

    def __init__(
        self, server: EnvelopeServer, settings: OpsSettings, commands: CommandReader
    ) -> None:
        self._server = server
        self._settings = settings
        self._commands = commands
        self._sensitive = SensitivePaths(settings.protected, settings.open_files)

    async def read(
        self,
        action: Action,
        command: Command = "",
        resource_id: Place = "",
        target_host: PlaceName = "",
        container: PodContainer = "",
        path: Path = "",
        grep: Grep = "",
        lines: Lines = 100,
        start_line: StartLine = 1,
        pattern: Glob = "*",
        depth: Depth = 4,
        unit: Unit = "",
        since: Since = "",
    ) -> Reply:
        target = resource_id or target_host
        if action == "exec":
            return await self._server.deliver(self._commands.run(command, target, container))
        self._refuse_elsewhere(action, target)
        accepts, guard = build_line_filter(grep), self._sensitive
        request = LogRequest(unit, lines, parse_since(since), accepts)

        def take(deadline: Deadline) -> Answer:
            match action:
                case "file":
                    return files.read_file(
                        path, guard, deadline, start_line=start_line, lines=lines, accepts=accepts
                    )
                case "tail":
                    return files.tail_file(path, guard, deadline, lines=lines, accepts=accepts)
                case "find":
                    return find_files(
                        path, guard, deadline, pattern=pattern, depth=depth, limit=lines
                    )
                case "logs":
                    return read_logs(request, self._settings, guard, deadline)

        return await self._server.deliver(run_in_thread(take, READ_SECONDS))

    def _refuse_elsewhere(self, action: str, target: str) -> None:
        if target in self._settings.names_of_here:
            return
        raise ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"Action '{action}' reads this machine only; elsewhere use action 'exec'.",
            details={"target_host": target},
        )
