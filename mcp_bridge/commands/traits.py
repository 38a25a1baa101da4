"""What a proof says about one program with its arguments."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known about one program with its arguments."""

    argv: tuple[str, ...]
    is_bounded: bool = True
    stops_early: bool = False
    is_filter: bool = False
    is_conditional: bool = False
    reaches_out: bool = False
    hands_to_shell: bool = False
