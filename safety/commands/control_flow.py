"""How a proven script goes on from step to step, as a shell would have it, without one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from safety.commands.script import Branch, Chain, Pipeline, Repeat, Sequence, Step


@dataclass
class ControlFlow(ABC):
    """One run of a script and what it has printed. How a pipeline runs is said by who derives."""

    max_bytes: int
    stdout: bytearray = field(default_factory=bytearray, init=False)
    stderr: bytearray = field(default_factory=bytearray, init=False)
    is_full: bool = field(default=False, init=False)
    """It printed more than is kept, so nothing more of it is run."""

    @abstractmethod
    async def run_pipeline(self, pipeline: Pipeline) -> int:
        """The exit code of its last command."""

    async def step(self, step: Step) -> int:
        """The exit code, as a shell would have it."""
        if self.is_full:
            return 1
        match step:
            case Pipeline():
                code = await self.run_pipeline(step)
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

    def take(self, target: bytearray, output: bytes | bytearray) -> bool:
        """Keeps what still fits; False once the cap is reached."""
        room = self.max_bytes - len(self.stdout) - len(self.stderr)
        target += output[: max(0, room)]
        self.is_full = self.is_full or len(output) > room
        return not self.is_full

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
