"""Runs a proven script: its argument vectors, no shell, and nothing of it outlives the call."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from typing_extensions import override

from safety.commands.control_flow import ControlFlow
from safety.commands.file_screening import Substitutes
from safety.commands.git_filters import Armed, filters_question, without_filters
from safety.commands.output_shape import Shape
from safety.commands.pipe_screening import Pump, only_measures, open_ends, places_to_mask
from safety.commands.screen import AROUND_SECONDS, MAX_AROUND_LINES, MAX_LOOKED_AT, Screen, Withheld
from safety.commands.script import Command, Finished, Pipeline, Sink, Step

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_STARTED = 126
_NOT_FOUND = 127
_SILENT = ("true",)
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
    "GIT_CONFIG_COUNT": "8",
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
    "GIT_CONFIG_KEY_6": "status.submoduleSummary",
    "GIT_CONFIG_VALUE_6": "false",
    "GIT_CONFIG_KEY_7": "submodule.recurse",
    "GIT_CONFIG_VALUE_7": "false",
    "PGOPTIONS": "-c default_transaction_read_only=on",
    "PGCONNECT_TIMEOUT": "10",
}


async def run_proven(
    script: Step,
    *,
    seconds: float,
    max_bytes: int,
    environment: Mapping[str, str] | None = None,
    screen: Screen | None = None,
) -> Finished:
    """Runs what `Proof.script` holds. At the deadline, at `max_bytes` and when cancelled, every
    process of it is killed. `environment` is added to the fixed one and cannot replace it.

    With a screen its programs read no secret but in whole lines, and `Withheld` is raised where
    that cannot be had.
    """
    run = _Run(max_bytes, {**(environment or {}), **clean_environment()}, screen)
    exit_code: int | None = None
    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            exit_code = await run.step(script)
    except TimeoutError:
        timed_out = True
        if run.delay and not run.stdout:
            raise Withheld(run.delay) from None
    finished = Finished(
        None if run.is_full else exit_code,
        bytes(run.stdout),
        bytes(run.stderr),
        timed_out=timed_out,
        cut=run.is_full,
    )
    return screen.sweep(finished) if screen else finished


def clean_environment() -> dict[str, str]:
    """The whole environment of what is run, but for what a caller adds."""
    return {**plain_environment(), **FIXED_ENVIRONMENT}


def plain_environment() -> dict[str, str]:
    """The same for what is meant to change something: nothing in it holds a program to reading."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, "PATH": PATH, "LC_ALL": FIXED_ENVIRONMENT["LC_ALL"]}


@dataclass
class _Run(ControlFlow):
    environment: dict[str, str]
    screen: Screen | None = None
    delay: str = ""
    """Why nothing was printed yet, where something is waited for."""

    @override
    async def run_pipeline(self, pipeline: Pipeline) -> int:
        programs = []
        if self.screen:
            for place, command in enumerate(pipeline.commands):
                if code := await self._learn_whole(command, self.screen):
                    if place == len(pipeline.commands) - 1:
                        return code
                    pipeline = _silence(pipeline, place)
        for command in pipeline.commands:
            program = shutil.which(command.argv[0], path=PATH)
            if program is None:
                self.stderr += f"{command.argv[0]}: this program is not on this machine\n".encode()
                return _NOT_FOUND
            programs.append(program)
        last = len(programs) - 1
        try:
            pipeline = replace(pipeline, commands=await self._disarm(pipeline, programs))
            async with _Plumbing(self, pipeline) as plumbing:
                for place, command in enumerate(pipeline.commands):
                    await plumbing.start(programs[place], command, is_last=place == last)
                return await plumbing.finish()
        except OSError as error:
            self.stderr += f"{error.filename or programs[0]}: {error.strerror}\n".encode()
            return _NOT_STARTED
        except Armed as refusal:
            self.stderr += f"git: not run: {refusal}\n".encode()
            return _NOT_STARTED

    async def _disarm(self, pipeline: Pipeline, programs: list[str]) -> tuple[Command, ...]:
        """The commands, in which git runs nothing that a repository names."""
        commands = []
        for program, command in zip(programs, pipeline.commands, strict=True):
            question = filters_question(command.argv)
            if question is not None:
                asked = await asyncio.create_subprocess_exec(
                    program,
                    *question[1:],
                    cwd="/",
                    env=self.environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                )
                listed, _ = await asked.communicate()
                command = replace(command, argv=without_filters(command.argv, listed))
            commands.append(command)
        return tuple(commands)

    async def _learn_whole(self, command: Command, screen: Screen) -> int:
        """Where a command takes parts of something, the whole of it says what is secret in it.

        The exit code of what prints the whole, where that prints nothing but why it failed: the
        command is not run then, since it would print nothing either.
        """
        if not command.whole:
            return 0
        keeps_lines = command.shape is Shape.LINES
        whole = _Run(MAX_AROUND_LINES if keeps_lines else MAX_LOOKED_AT, self.environment)
        code, is_all = 0, False
        with suppress(TimeoutError):
            async with asyncio.timeout(AROUND_SECONDS if keeps_lines else None):
                code = await whole.run_pipeline(Pipeline((Command(command.whole),)))
            is_all = not whole.is_full
        if is_all and code and not whole.stdout:
            if command.stderr is not Sink.NOWHERE:
                self.take(self.stderr, whole.stderr)
            return code
        await screen.learn_whole(bytes(whole.stdout), command, is_all=is_all)
        return 0


def _silence(pipeline: Pipeline, place: int) -> Pipeline:
    """The pipeline, in which the command at `place` prints nothing to the one behind it."""
    commands = list(pipeline.commands)
    commands[place] = Command(_SILENT)
    return replace(pipeline, commands=tuple(commands))


class _Plumbing:
    """The processes and pipes of one pipeline. Leaving it leaves neither behind."""

    def __init__(self, run: _Run, pipeline: Pipeline) -> None:
        self._run = run
        self._commands = pipeline.commands
        self._screen = None if only_measures(self._commands) else run.screen
        self._masked_behind = places_to_mask(self._commands) if self._screen else {}
        self._substitutes = Substitutes(self._screen) if self._screen else None
        self._pumps: list[asyncio.Task[None]] = []
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
        for reader in (*self._readers, *self._pumps):
            reader.cancel()
        for transport in self._transports:
            transport.close()
        # Killed processes end at once; nothing may interrupt that.
        waits = [process.wait() for process in self._processes]
        tasks = (*self._readers, *self._pumps)
        await asyncio.shield(asyncio.gather(*waits, *tasks, return_exceptions=True))
        if self._substitutes:
            self._substitutes.name_again(self._run.stdout)
            self._substitutes.name_again(self._run.stderr)

    async def start(self, program: str, command: Command, *, is_last: bool) -> None:
        """Starts a command behind those that run already."""
        feeds: int | None = None
        output = self._output
        if not is_last:
            feeds, output = os.pipe()
            self._open |= {feeds, output}
        argv, copies = await self._substitute(command)
        source = await self._source(command)
        errors = {Sink.ERRORS: self._errors, Sink.OUTPUT: output}
        normal = {Sink.OUTPUT: output, Sink.ERRORS: self._errors}
        process = await asyncio.create_subprocess_exec(
            program,
            *argv[1:],
            pass_fds=copies,
            stdin=source,
            stdout=normal.get(command.stdout, asyncio.subprocess.DEVNULL),
            stderr=errors.get(command.stderr, asyncio.subprocess.DEVNULL),
            env=self._run.environment,
            cwd="/",
            start_new_session=True,
        )
        self._processes.append(process)
        for descriptor in (source, *copies):
            if descriptor >= 0:
                self._close(descriptor)
        if feeds is None:
            return
        self._close(output)
        place = len(self._processes) - 1
        if place in self._masked_behind:
            feeds = await self._mask(feeds, place)
        self._next_input = feeds

    async def _substitute(self, command: Command) -> tuple[tuple[str, ...], list[int]]:
        if self._substitutes is None:
            return command.argv, []
        argv, copies = await self._substitutes.open(command)
        self._open.update(copies)
        return argv, copies

    async def _mask(self, feeds: int, place: int) -> int:
        """A descriptor to read what comes through this one from, once it is masked."""
        assert self._screen is not None
        masked, writing = os.pipe()
        self._open.add(masked)
        self._open.remove(feeds)
        stream, writer, transport = await open_ends(feeds, writing)
        self._transports.append(transport)
        before, behind = self._commands[place : place + 2]
        pump = Pump(self._screen, before, behind, is_strict=self._masked_behind[place])
        self._pumps.append(asyncio.create_task(self._follow(pump, stream, writer)))
        return masked

    async def _follow(
        self, pump: Pump, stream: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._run.delay = pump.delay
        await pump.run(stream, writer)
        self._run.delay = ""

    async def finish(self) -> int:
        """Waits until the last command has ended and all output is read."""
        self._close(self._output)
        self._close(self._errors)
        last = self._processes[-1]
        ends = asyncio.create_task(last.wait())
        try:
            while not ends.done():
                going_on = (task for task in (*self._readers, *self._pumps) if not task.done())
                await asyncio.wait({ends, *going_on}, return_when=asyncio.FIRST_COMPLETED)
                self._raise_withheld()
                if self._run.is_full:
                    return 1
        finally:
            ends.cancel()
        self._raise_withheld()
        await asyncio.wait(self._readers, timeout=_GRACE_SECONDS)
        return last.returncode if last.returncode is not None else 1

    def _raise_withheld(self) -> None:
        for pump in self._pumps:
            if pump.done() and (error := pump.exception()):
                raise error

    async def _source(self, command: Command) -> int:
        if self._next_input is not None:
            return self._next_input
        if command.stdin is None:
            return asyncio.subprocess.DEVNULL
        copy = None
        if self._substitutes:
            copy = await self._substitutes.open_masked(command.stdin, command)
        if copy is not None:
            self._open.add(copy)
            return copy
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
