"""Runs a proven script: its argument vectors, no shell, and nothing of it outlives the call."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from typing_extensions import override

from mcp_bridge.commands.course import Course
from mcp_bridge.commands.finished import Finished
from mcp_bridge.commands.script import Command, Pipeline, Sink, Step

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_STARTED = 126
_NOT_FOUND = 127
_CHUNK = 65_536
# What feeds a command that has ended gets this long to notice.
_GRACE_SECONDS = 0.5
# Taken over from the service, as clients find their configuration by it.
_INHERITED = ("HOME", "USER", "LOGNAME", "TZ")
FIXED_ENVIRONMENT = {
    "PATH": PATH,
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "AWS_PAGER": "",
    "LESSSECURE": "1",
    "SYSTEMD_PAGER": "",
    "SYSTEMD_COLORS": "0",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # What a repository's own configuration could run.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_COUNT": "6",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
    "GIT_CONFIG_KEY_2": "log.showSignature",
    "GIT_CONFIG_VALUE_2": "false",
    "GIT_CONFIG_KEY_3": "gpg.program",
    "GIT_CONFIG_VALUE_3": "false",
    "GIT_CONFIG_KEY_4": "gpg.ssh.program",
    "GIT_CONFIG_VALUE_4": "false",
    "GIT_CONFIG_KEY_5": "gpg.x509.program",
    "GIT_CONFIG_VALUE_5": "false",
    "PGOPTIONS": "-c default_transaction_read_only=on",
    "PGCONNECT_TIMEOUT": "10",
}


async def run_proven(
    script: Step,
    *,
    seconds: float,
    max_bytes: int,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Runs what `Proof.script` holds. At the deadline, at `max_bytes` and when cancelled, every
    process of it is killed. `environment` is added to the fixed one and cannot replace it.
    """
    run = _Run(max_bytes, {**(environment or {}), **clean_environment()})
    exit_code: int | None = None
    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            exit_code = await run.step(script)
    except TimeoutError:
        timed_out = True
    return Finished(
        None if run.is_full else exit_code,
        bytes(run.stdout),
        bytes(run.stderr),
        timed_out=timed_out,
        cut=run.is_full,
    )


def clean_environment() -> dict[str, str]:
    """The whole environment of what is run, but for what a caller adds."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, **FIXED_ENVIRONMENT}


@dataclass
class _Run(Course):
    environment: dict[str, str]

    @override
    async def run_pipeline(self, pipeline: Pipeline) -> int:
        programs = []
        for command in pipeline.commands:
            program = shutil.which(command.argv[0], path=PATH)
            if program is None:
                self.stderr += f"{command.argv[0]}: this program is not on this machine\n".encode()
                return _NOT_FOUND
            programs.append(program)
        last = len(programs) - 1
        try:
            async with _Plumbing(self) as plumbing:
                for place, command in enumerate(pipeline.commands):
                    await plumbing.start(programs[place], command, is_last=place == last)
                return await plumbing.finish()
        except OSError as error:
            self.stderr += f"{error.filename or programs[0]}: {error.strerror}\n".encode()
            return _NOT_STARTED


class _Plumbing:
    """The processes and pipes of one pipeline. Leaving it leaves neither behind."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._processes: list[asyncio.subprocess.Process] = []
        self._readers: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.ReadTransport] = []
        self._open: set[int] = set()
        self._next_input: int | None = None

    async def __aenter__(self) -> "_Plumbing":
        self._output = await self._collect(self._run.stdout)
        self._errors = await self._collect(self._run.stderr)
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self._processes:
            # Also where the leader has ended: something of its group may still hold a pipe.
            if process.returncode is None or not all(task.done() for task in self._readers):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
        for descriptor in tuple(self._open):
            self._close(descriptor)
        for reader in self._readers:
            reader.cancel()
        for transport in self._transports:
            transport.close()
        # Killed processes end at once; nothing may interrupt that.
        waits = [process.wait() for process in self._processes]
        await asyncio.shield(asyncio.gather(*waits, *self._readers, return_exceptions=True))

    async def start(self, program: str, command: Command, *, is_last: bool) -> None:
        """Starts a command behind those that run already."""
        feeds: int | None = None
        output = self._output
        if not is_last:
            feeds, output = os.pipe()
            self._open |= {feeds, output}
        source = self._source(command)
        errors = {Sink.ERRORS: self._errors, Sink.OUTPUT: output}
        normal = {Sink.OUTPUT: output, Sink.ERRORS: self._errors}
        process = await asyncio.create_subprocess_exec(
            program,
            *command.argv[1:],
            stdin=source,
            stdout=normal.get(command.stdout, asyncio.subprocess.DEVNULL),
            stderr=errors.get(command.stderr, asyncio.subprocess.DEVNULL),
            env=self._run.environment,
            cwd="/",
            start_new_session=True,
        )
        self._processes.append(process)
        if source >= 0:
            self._close(source)
        if not is_last:
            self._close(output)
        self._next_input = feeds

    async def finish(self) -> int:
        """Waits until the last command has ended and all output is read."""
        self._close(self._output)
        self._close(self._errors)
        last = self._processes[-1]
        ends = asyncio.create_task(last.wait())
        try:
            while not ends.done():
                waiting = {ends, *(task for task in self._readers if not task.done())}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if self._run.is_full:
                    return 1
        finally:
            ends.cancel()
        await asyncio.wait(self._readers, timeout=_GRACE_SECONDS)
        return last.returncode if last.returncode is not None else 1

    def _source(self, command: Command) -> int:
        if self._next_input is not None:
            return self._next_input
        if command.stdin is None:
            return asyncio.subprocess.DEVNULL
        # A pipe without a writer must not hang here; a directory fails when it is read.
        path = os.path.join("/", command.stdin)  # noqa: PTH118 - text that may not be a path
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(descriptor, True)
        self._open.add(descriptor)
        return descriptor

    async def _collect(self, target: bytearray) -> int:
        """A descriptor to write to; what comes through it ends in `target`."""
        reading, writing = os.pipe()
        self._open.add(writing)
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reading, "rb", buffering=0)
        )
        self._transports.append(transport)
        self._readers.append(asyncio.create_task(self._read(stream, target)))
        return writing

    async def _read(self, stream: asyncio.StreamReader, target: bytearray) -> None:
        while chunk := await stream.read(_CHUNK):
            if not self._run.take(target, chunk):
                return

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.remove(descriptor)
            os.close(descriptor)
