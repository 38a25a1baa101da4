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
from ops.tools.fields import READ_SECONDS, Grep, Lines, Reply, Since, describe_reader
from safety.paths.sensitive_paths import SensitivePaths


def add_read(server: EnvelopeServer, settings: OpsSettings, commands: CommandReader) -> None:
    sensitive = SensitivePaths(settings.protected, settings.open_files)

    @server.tool(
        title="Read",
        annotations=describe_reader("Read"),
        description=(
            "Text files, their last lines, files by name, logs, and the output of commands that "
            "are proven to only read. Nothing is changed. Keys, passwords, other secrets and "
            "binary files are refused."
        ),
    )
    async def read(
        action: Annotated[
            Literal["file", "tail", "find", "logs", "exec"],
            Field(
                description="file: a text file from start_line on. tail: its last lines. find: "
                "files below a directory by name. logs: the system journal, or the log files. "
                "exec: a command that reads and ends by itself; pipes into filters are fine, "
                "variables, substitutions and redirections are not."
            ),
        ],
        command: Annotated[str, Field(max_length=4096, description="The command, for exec.")] = "",
        resource_id: Annotated[
            str,
            Field(
                max_length=512,
                description="Where exec runs: id of a host, container, guest or pod. Empty is "
                "this machine.",
            ),
        ] = "",
        target_host: Annotated[
            str, Field(max_length=253, description="The same by name; resource_id goes first.")
        ] = "",
        container: Annotated[
            str, Field(max_length=63, description="Container of the pod, where it has several.")
        ] = "",
        path: Annotated[
            str,
            Field(max_length=4096, description="Absolute path, needed for file, tail and find."),
        ] = "",
        grep: Grep = "",
        lines: Lines = 100,
        start_line: Annotated[
            int, Field(ge=1, le=100_000_000, description="First line, for file.")
        ] = 1,
        pattern: Annotated[
            str, Field(max_length=200, description="Glob on file names, for find: *.log")
        ] = "*",
        depth: Annotated[int, Field(ge=1, le=12, description="Levels below path, for find.")] = 4,
        unit: Annotated[
            str,
            Field(max_length=200, description="Service whose logs are wanted, such as nginx."),
        ] = "",
        since: Since = "",
    ) -> Reply:
        target = resource_id or target_host
        if action == "exec":
            return await server.deliver(commands.run(command, target, container))
        if target and target not in (settings.host, f"host:{settings.host}"):
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"Action '{action}' reads this machine only; elsewhere use action 'exec'.",
                details={"target_host": target},
            )
        accepts = build_line_filter(grep)
        newer_than = parse_since(since)

        def take(deadline: Deadline) -> Answer:
            match action:
                case "file":
                    return files.read_file(
                        path,
                        start_line=start_line,
                        lines=lines,
                        accepts=accepts,
                        sensitive=sensitive,
                        deadline=deadline,
                    )
                case "tail":
                    return files.tail_file(
                        path, lines=lines, accepts=accepts, sensitive=sensitive, deadline=deadline
                    )
                case "find":
                    return find_files(
                        path,
                        pattern=pattern,
                        depth=depth,
                        limit=lines,
                        sensitive=sensitive,
                        deadline=deadline,
                    )
                case "logs":
                    request = LogRequest(unit, lines, newer_than, accepts)
                    return read_logs(request, settings, sensitive, deadline)

        return await server.deliver(run_in_thread(take, READ_SECONDS))
