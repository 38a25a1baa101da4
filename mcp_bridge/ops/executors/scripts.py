"""A proven script through an executor: each of its programs on its own, without any shell."""

import os
import time
from dataclasses import dataclass, field

from mcp_bridge.commands.script import (
    Branch,
    Chain,
    Command,
    Pipeline,
    Repeat,
    Sequence,
    Sink,
    Step,
)
from mcp_bridge.ops.executors.base import Executor, Finished

MAX_PIPED_BYTES = 8 << 20
"""What one command may hand on to the next one; the next one sees no more."""


async def run_script(
    executor: Executor, script: Step, *, seconds: float, max_bytes: int
) -> Finished:
    """Runs what `Proof.script` holds where the executor leads.

    What comes down a pipe passes through here, so no program of it runs on any other machine.
    """
    run = _Run(executor, time.monotonic() + seconds, max_bytes)
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
class _Run:
    executor: Executor
    ends_at: float
    max_bytes: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    is_full: bool = False
    is_cut: bool = False

    async def step(self, step: Step) -> int:
        """The exit code, as a shell would have it."""
        if self.is_full:
            return 1
        match step:
            case Pipeline():
                code = await self._pipeline(step)
                return int(not code) if step.is_negated else code
            case Chain():
                code = await self.step(step.left)
                goes_on = (code == 0) == (step.operator == "&&")
                return await self.step(step.right) if goes_on else code
            case Sequence():
                return await self._sequence(step.steps)
            case Repeat():
                return await self._sequence((step.body,) * step.times)
            case Branch():
                return await self._branch(step)
        raise AssertionError("a loop without a known end is never run")

    async def _sequence(self, steps: tuple[Step, ...]) -> int:
        code = 0
        for step in steps:
            code = await self.step(step)
        return code

    async def _branch(self, branch: Branch) -> int:
        for condition, body in branch.arms:
            if await self.step(condition) == 0:
                return await self.step(body)
        return await self.step(branch.otherwise) if branch.otherwise else 0

    async def _pipeline(self, pipeline: Pipeline) -> int:
        piped = b""
        code = 0
        for command in pipeline.commands:
            if command.stdin is not None:
                code, piped = await self._run(Command(("cat", _absolute(command.stdin))), b"")
            code, piped = await self._run(command, piped)
        self._take(self.stdout, piped)
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
        self._take(self.stderr, goes_on[Sink.ERRORS])
        if finished.timed_out:
            self._take(self.stdout, goes_on[Sink.OUTPUT])
            raise TimeoutError
        self.is_cut |= finished.cut
        code = finished.exit_code
        return 1 if code is None else code, bytes(goes_on[Sink.OUTPUT])

    def _take(self, target: bytearray, output: bytes | bytearray) -> None:
        room = self.max_bytes - len(self.stdout) - len(self.stderr)
        target += output[: max(0, room)]
        self.is_full |= len(output) > room


def _absolute(path: str) -> str:
    return os.path.join("/", path)  # noqa: PTH118 - text that may not be a path
