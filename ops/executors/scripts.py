"""A proven script through an executor: each of its programs on its own, without any shell."""

import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from typing_extensions import override

from ops.executors.base import Executor
from safety.commands.control_flow import ControlFlow
from safety.commands.file_screening import refuse_large, text_of
from safety.commands.git_filters import Armed, filters_question, without_filters
from safety.commands.output_shape import Shape
from safety.commands.pipe_screening import only_measures
from safety.commands.screen import AROUND_SECONDS, MAX_AROUND_LINES, Screen, Withheld
from safety.commands.script import Command, Finished, Pipeline, Sink, Step

_STDIN = "/dev/stdin"
_NOTHING = Finished(0, b"", b"")
_NOT_STARTED = 126
MAX_PIPED_BYTES = 8 << 20
"""What one command may hand on to the next one; the next one sees no more."""


async def run_script(
    executor: Executor,
    script: Step,
    *,
    seconds: float,
    max_bytes: int,
    screen: Screen | None = None,
) -> Finished:
    """Runs what `Proof.script` holds where the executor leads.

    What comes down a pipe passes through here, so no program of it runs on any other machine. With
    a screen no program reads a secret but in whole lines, or `Withheld` is raised.
    """
    run = _Run(max_bytes, executor, time.monotonic() + seconds, screen)
    exit_code: int | None = None
    timed_out = False
    try:
        exit_code = await run.step(script)
    except TimeoutError:
        timed_out = True
    finished = Finished(
        None if run.is_full else exit_code,
        bytes(run.stdout),
        bytes(run.stderr),
        timed_out=timed_out,
        cut=run.is_full or run.is_cut,
    )
    return screen.sweep(finished) if screen else finished


class _Late(Exception):
    """A look at something took longer than it may."""


@dataclass
class _Run(ControlFlow):
    executor: Executor
    ends_at: float
    screen: Screen | None = None
    is_cut: bool = False
    """Something was lost on its way through a pipe."""

    @override
    async def run_pipeline(self, pipeline: Pipeline) -> int:
        try:
            commands = [await self._disarm(command) for command in pipeline.commands]
        except Armed as refusal:
            self.take(self.stderr, f"git: not run: {refusal}\n".encode())
            return _NOT_STARTED
        return await self._run_commands(replace(pipeline, commands=tuple(commands)))

    async def _disarm(self, command: Command) -> Command:
        """The command, in which git runs nothing that a repository names."""
        question = filters_question(command.argv)
        if question is None:
            return command
        listed = (await self._look(Command(question))).stdout
        return replace(command, argv=without_filters(command.argv, listed))

    async def _run_commands(self, pipeline: Pipeline) -> int:
        piped = b""
        code = 0
        screen = None if only_measures(pipeline.commands) else self.screen
        for place, command in enumerate(pipeline.commands):
            to_run = command
            if command.stdin is not None:
                code, piped = await self._run(Command(("cat", _absolute(command.stdin))), b"")
                piped = await _mask(screen, piped, command, command.stdin)
            elif place > 0:
                before = pipeline.commands[place - 1].argv[0]
                piped = await _mask(screen, piped, command, f"the output of {before}")
            if screen and not piped:
                if code := await self._learn_whole(command, screen):
                    # It would print nothing either, and what comes behind it reads nothing.
                    continue
                to_run, piped = await self._substitute(command, screen)
            elif screen and command.reads:
                await self._learn_files(command, screen)
            code, printed = await self._run(to_run, piped)
            piped = _name_again(printed, command) if to_run is not command else printed
        self.take(self.stdout, piped)
        return code

    async def _substitute(self, command: Command, screen: Screen) -> tuple[Command, bytes]:
        """The command over a masked copy of its file, where that holds secrets."""
        if command.argv[0] == "cat" or command.shape is Shape.MEASURE:
            return command, b""
        if len(command.reads) != 1 or command.reads[0] not in command.argv:
            await self._learn_files(command, screen)
            return command, b""
        [path] = command.reads
        data = await self._read(path, command)
        masked = await screen.mask(data, path) if data else data
        if masked is data:
            return command, b""
        argv = list(command.argv)
        argv[len(argv) - 1 - argv[::-1].index(path)] = _STDIN
        return replace(command, argv=tuple(argv)), masked

    async def _learn_files(self, command: Command, screen: Screen) -> None:
        for path in command.reads:
            data = await self._read(path, command)
            if data and await screen.learn(data, path) and command.shape is Shape.PARTS:
                raise Withheld(
                    f"{path} holds secrets, and {command.argv[0]} would print parts of lines of "
                    "several files there: name one file at a time, or print whole lines"
                )

    async def _read(self, path: str, command: Command) -> bytes:
        """The text of a file over there, as far as it is looked at."""
        data = (await self._look(Command(("cat", "--", _absolute(path))))).stdout
        if command.reads_trees and not data and command.shape is Shape.PARTS:
            raise Withheld(
                f"what is below {path} cannot be looked at for secrets there, and "
                f"{command.argv[0]} would print parts of lines: let it print whole lines"
            )
        if len(data) >= MAX_PIPED_BYTES:
            refuse_large(path, command)
            return b""
        return text_of(data, command)

    async def _learn_whole(self, command: Command, screen: Screen) -> int:
        """The exit code of what prints the whole of what the command takes parts from, where that
        prints nothing but why it failed: the command is not run then."""
        if not command.whole:
            return 0
        keeps_lines = command.shape is Shape.LINES
        look, is_all = _NOTHING, False
        with suppress(_Late):
            seconds = AROUND_SECONDS if keeps_lines else math.inf
            look = await self._look(await self._disarm(Command(command.whole)), seconds)
            is_all = not keeps_lines or len(look.stdout) <= MAX_AROUND_LINES
        if is_all and look.exit_code and not look.stdout:
            if command.stderr is not Sink.NOWHERE:
                self.take(self.stderr, look.stderr)
            return look.exit_code
        seen = look.stdout[:MAX_AROUND_LINES] if keeps_lines else look.stdout
        await screen.learn_whole(seen, command, is_all=is_all)
        return 0

    async def _look(self, command: Command, seconds: float = math.inf) -> Finished:
        """What a command prints for us alone, of which nothing is part of the output.

        Raises `TimeoutError` where the call has no time left, `_Late` after so many seconds.
        """
        left = self._time_left()
        finished = await self.executor.run(
            command.argv, seconds=min(left, seconds), max_bytes=MAX_PIPED_BYTES
        )
        if finished.timed_out:
            raise _Late if seconds < left else TimeoutError
        return replace(finished, exit_code=_code_of(finished))

    async def _run(self, command: Command, piped: bytes) -> tuple[int, bytes]:
        """The exit code and what goes on to whoever comes next.

        Raises `TimeoutError` where the call has no time left.
        """
        left = self._time_left()
        finished = await self.executor.run(
            command.argv, seconds=left, max_bytes=MAX_PIPED_BYTES, stdin=piped
        )
        goes_on = {Sink.OUTPUT: bytearray(), Sink.ERRORS: bytearray(), Sink.NOWHERE: bytearray()}
        goes_on[command.stdout] += finished.stdout
        goes_on[command.stderr] += finished.stderr
        self.take(self.stderr, goes_on[Sink.ERRORS])
        if finished.timed_out:
            self.take(self.stdout, goes_on[Sink.OUTPUT])
            raise TimeoutError
        self.is_cut |= finished.cut
        return _code_of(finished), bytes(goes_on[Sink.OUTPUT])

    def _time_left(self) -> float:
        """Seconds. Raises `TimeoutError` where there are none."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _code_of(finished: Finished) -> int:
    return 1 if finished.exit_code is None else finished.exit_code


async def _mask(screen: Screen | None, piped: bytes, command: Command, source: str) -> bytes:
    """What a command is given, without its secrets."""
    if screen is None or not piped:
        return piped
    if command.takes_names and command.shape is Shape.PARTS:
        raise Withheld(
            f"which files {command.argv[0]} reads there, and whether they hold secrets, is not "
            "known, and parts of their lines would be printed: let it print whole lines"
        )
    if len(piped) >= MAX_PIPED_BYTES and command.shape is Shape.PARTS:
        refuse_large(source, command)
    return await screen.mask(piped, source)


def _name_again(printed: bytes, command: Command) -> bytes:
    return printed.replace(_STDIN.encode(), command.reads[0].encode("utf-8", "surrogateescape"))


def _absolute(path: str) -> str:
    return os.path.join("/", path)  # noqa: PTH118 - text that may not be a path
