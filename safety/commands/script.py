"""A shell script as data: what is left of a command once every word of it is known."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from safety.commands.output_shape import Shape


class Sink(StrEnum):
    """Where one of a command's two outputs goes."""

    OUTPUT = "output"
    ERRORS = "errors"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its arguments. `stdin` is a path, or None for what comes down the pipe.

    The proof adds what `ProgramTraits` says about the text that it reads.
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    stdout: Sink = Sink.OUTPUT
    stderr: Sink = Sink.ERRORS
    reads: tuple[str, ...] = field(default=(), compare=False)
    reads_trees: bool = field(default=False, compare=False)
    takes_names: bool = field(default=False, compare=False)
    shape: Shape = field(default=Shape.PARTS, compare=False)
    whole: tuple[str, ...] = field(default=(), compare=False)
    runs: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """`left && right` or `left || right`."""

    left: "Step"
    operator: Literal["&&", "||"]
    right: "Step"


@dataclass(frozen=True, slots=True)
class Sequence:
    steps: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`: the first body whose condition succeeds, or `otherwise`."""

    arms: tuple[tuple["Step", "Step"], ...]
    otherwise: "Step | None" = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """`for` over words that are all written down. No command can use the word."""

    times: int
    body: "Step"


@dataclass(frozen=True, slots=True)
class While:
    condition: "Step"
    body: "Step"


Step = Pipeline | Chain | Sequence | Branch | Repeat | While


def pipelines_of(step: Step) -> Iterator[Pipeline]:
    """Every pipeline in a script, in the order in which it is written."""
    match step:
        case Pipeline():
            yield step
        case Chain():
            yield from pipelines_of(step.left)
            yield from pipelines_of(step.right)
        case Sequence():
            for inner in step.steps:
                yield from pipelines_of(inner)
        case Branch():
            for condition, body in step.arms:
                yield from pipelines_of(condition)
                yield from pipelines_of(body)
            if step.otherwise:
                yield from pipelines_of(step.otherwise)
        case Repeat():
            yield from pipelines_of(step.body)
        case While():
            yield from pipelines_of(step.condition)
            yield from pipelines_of(step.body)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program or a whole script printed, not yet masked.

    `exit_code` is None where it was killed.

    `timed_out`: the deadline ended it. `cut`: it printed more than was allowed.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    cut: bool = False
