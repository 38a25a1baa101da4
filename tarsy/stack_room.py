"""Room for the frames of deep calls, taken once instead of again and again.

CPython keeps the frames of a thread in pieces of 16 kB and gives the last piece back to the system
as soon as the call that began it returns. Where a loop stands right at the end of a piece, each of
its calls costs two system calls and a page fault: 60 of the 170 ms of a long session's page, or
nothing, depending on how deep it happens to be called. A frame that is large itself makes the
interpreter take one piece that holds all frames below it.
"""

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_WORDS = 100_000
"""Of 8 bytes. Pieces double until a frame fits, so this one is of 1 MiB and leaves 200 kB."""


def _call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)


def call_with_room(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function returns, called where all calls that it makes have their frames at hand."""
    return cast(T, _roomy(function, *args, **kwargs))


_roomy = FunctionType(_call.__code__.replace(co_stacksize=_WORDS), globals())
