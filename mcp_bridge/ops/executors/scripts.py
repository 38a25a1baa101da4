"""A proven script through an executor: each of its programs on its own, without any shell."""

import os
import time
from dataclasses import dataclass

from typing_extensions import override

from mcp_bridge.commands.course import Course
from mcp_bridge.commands.finished import Finished
from mcp_bridge.commands.script import Command, Pipeline, Sink, Step
from mcp_bridge.ops.executors.base import Executor

MAX_PIPED_BYTES = 8 << 20
"""What one command may hand on to the next one; the next one sees no more."""


async def run_script(
    executor: Executor, script: Step, *, seconds: float, max_bytes: int
) -> Finished:
    """Runs what `Proof.script` holds where the executor leads.

    What comes down a pipe passes through here, so no program of it runs on any other machine.
    """
    run = _Run(max_bytes, executor, time.monotonic() + seconds)
    exit_code: int | None = None
    timed_out = False
    try:
        exit_code = await run.step(script)
    except TimeoutError:
        timed_out = True
    return Finished(
        None if run.is_full else exit_code,
        bytes(run.stdout),
        bytes(run.stderr),
        timed_out=timed_out,
        cut=run.is_full or run.is_cut,
    )


@dataclass
class _Run(Course):
    executor: Executor
    ends_at: float
    is_cut: bool = False
    """Something was lost on its way through a pipe."""

    @override
    async def run_pipeline(self, pipeline: Pipeline) -> int:
        piped = b""
        code = 0
        for command in pipeline.commands:
            if command.stdin is not None:
                code, piped = await self._run(Command(("cat", _absolute(command.stdin))), b"")
            code, piped = await self._run(command, piped)
        self.take(self.stdout, piped)
        return code

    async def _run(self, command: Command, piped: bytes) -> tuple[int, bytes]:
        """The exit code and what goes on to whoever comes next."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
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
        code = finished.exit_code
        return 1 if code is None else code, bytes(goes_on[Sink.OUTPUT])


def _absolute(path: str) -> str:
    return os.path.join("/", path)  # noqa: PTH118 - text that may not be a path
