"""Programs of the machine at hand."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ops.envelope import ToolFailure
from ops.executors.base import check_argv
from safety.commands.running import PATH, clean_environment
from safety.commands.script import Finished

_CHUNK = 65_536
# What a program left in its pipes when it ended is read within this time.
_GRACE_SECONDS = 0.5


class LocalExecutor:
    """Runs programs of the fixed search path, in a clean environment and a group of their own."""

    def __init__(self, path: str = PATH) -> None:
        self._path = path

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        """Nothing of the program's process group outlives the call, however it ends."""
        check_argv(argv)
        output = _Output(max_bytes)
        timed_out = False
        async with (
            _reading(output, output.stdout) as (normal, to_stdout),
            _reading(output, output.stderr) as (errors, to_stderr),
        ):
            try:
                process = await self._start(argv, to_stdout, to_stderr, has_input=bool(stdin))
            finally:
                os.close(to_stdout)
                os.close(to_stderr)
            try:
                async with asyncio.timeout(seconds):
                    await _follow(process, output, (normal, errors), stdin)
            except TimeoutError:
                timed_out = True
            finally:
                await _end(process)
        return Finished(
            None if timed_out or output.is_cut else process.returncode,
            bytes(output.stdout),
            bytes(output.stderr),
            timed_out=timed_out,
            cut=output.is_cut,
        )

    async def _start(
        self, argv: tuple[str, ...], stdout: int, stderr: int, *, has_input: bool
    ) -> asyncio.subprocess.Process:
        program = shutil.which(argv[0], path=self._path)
        if program is None:
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"{argv[0]} is not on this machine.",
                details={"program": argv[0]},
            )
        try:
            return await asyncio.create_subprocess_exec(
                program,
                *argv[1:],
                stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**clean_environment(), "PATH": self._path},
                cwd="/",
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolFailure(
                "EXECUTION_FAILED", f"{argv[0]} could not be started: {error}."
            ) from error


class _Output:
    """Both streams of a program under one cap."""

    def __init__(self, max_bytes: int) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.is_cut = False
        self._left = max_bytes

    async def read(self, stream: asyncio.StreamReader, target: bytearray) -> None:
        while not self.is_cut and (chunk := await stream.read(_CHUNK)):
            target += chunk[: self._left]
            self.is_cut = self.is_cut or len(chunk) > self._left
            self._left -= min(self._left, len(chunk))


@asynccontextmanager
async def _reading(
    output: _Output, target: bytearray
) -> AsyncIterator[tuple[asyncio.Task[None], int]]:
    """A task that reads and a descriptor to write to, which whoever gets it has to close.

    A pipe of our own: what left the program's group could keep one of `asyncio` open for ever.
    """
    reading, writing = os.pipe()
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reading, "rb", buffering=0)
    )
    task = asyncio.create_task(output.read(stream, target))
    try:
        yield task, writing
    finally:
        task.cancel()
        transport.close()
        await asyncio.gather(task, return_exceptions=True)


async def _follow(
    process: asyncio.subprocess.Process,
    output: _Output,
    readers: tuple[asyncio.Task[None], ...],
    stdin: bytes,
) -> None:
    """Feeds and reads until the program has ended or printed too much."""
    feeder = asyncio.create_task(_feed(process, stdin))
    ends = asyncio.create_task(process.wait())
    try:
        while not ends.done():
            waiting = {ends, *(task for task in readers if not task.done())}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if output.is_cut:
                return
        await asyncio.wait(readers, timeout=_GRACE_SECONDS)
    finally:
        feeder.cancel()
        ends.cancel()
        await asyncio.gather(feeder, ends, return_exceptions=True)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    if process.stdin is None:
        return
    # Some versions of Python log that nobody reads any more unless somebody has asked.
    asyncio.ensure_future(process.stdin.wait_closed()).add_done_callback(_note_closed)
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


def _note_closed(closed: asyncio.Future[None]) -> None:
    if not closed.cancelled():
        closed.exception()


async def _end(process: asyncio.subprocess.Process) -> None:
    # Also where the leader has ended: something of its group may go on in the background.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    # A killed process ends at once; nothing may interrupt that.
    await asyncio.shield(process.wait())
