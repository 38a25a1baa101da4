"""What a proof says about one program with its arguments."""

from dataclasses import dataclass

from safety.commands.output_shape import Shape


@dataclass(frozen=True, slots=True)
class ProgramTraits:
    """What is known about one program with its arguments.

    `reads` are the files whose text it prints, and with `reads_trees` all below those that are
    directories; with `takes_names` they come in through the pipe. `shape` is what it makes of that
    text, `whole` a command that prints all of what a template takes parts from. `runs` is what
    a program that runs others runs in the end, as it was written. `seconds`: how long it lasts at
    least by what it is told, where it is bounded at all.
    """

    argv: tuple[str, ...]
    is_bounded: bool = True
    stops_early: bool = False
    is_filter: bool = False
    is_conditional: bool = False
    reaches_out: bool = False
    hands_to_shell: bool = False
    reads: tuple[str, ...] = ()
    reads_trees: bool = False
    takes_names: bool = False
    shape: Shape = Shape.PARTS
    whole: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    seconds: float = 0.0
