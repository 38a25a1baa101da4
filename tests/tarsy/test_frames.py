"""A loop costs the same however deep it is called."""

import resource
import sys

import pytest

from tarsy.stack_room import call_with_room

CALLS = 2_000
LEVELS = 400


def leaf(a, b, c):
    return a, b, c


def loop_at(level: int) -> int:
    """How many pages were taken anew by calls in a loop at this depth."""
    if level:
        return loop_at(level - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        leaf(1, 2, 3)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def worst() -> int:
    return max(loop_at(level) for level in range(LEVELS))


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults of one thread")
def test_no_loop_takes_its_memory_anew_with_each_call_however_deep_it_stands():
    assert call_with_room(worst) < CALLS / 10


def test_what_is_called_gets_its_arguments_and_its_error_comes_through():
    def divide(a: int, *, by: int) -> float:
        return a / by

    assert call_with_room(divide, 6, by=3) == 2
    with pytest.raises(ZeroDivisionError):
        call_with_room(divide, 6, by=0)
