import math

import pytest

from safety.commands import prove
from safety.commands.durations import seconds_of
from tests.cases import for_each
from tests.safety.commands.samples import lines
from tests.safety.commands.ways_of_bounds import SHORT, TOO_LONG


@for_each(lines(TOO_LONG))
def test_what_ends_only_after_the_time_of_a_call_is_not_bounded(command: str):
    assert not prove(command).may_run


@for_each(lines(SHORT))
def test_what_ends_within_the_time_of_a_call_may_run(command: str):
    proof = prove(command)

    assert proof.may_run, proof.reason


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5h", 5400), ("1h30m", 5400), ("250ms", 0.25), ("2d", 172800), ("0", 0),
     ("", math.inf), ("-1s", math.inf), ("soon", math.inf), ("1x", math.inf)],
)  # fmt: skip
def test_durations_are_read_as_programs_read_them(text: str, seconds: float):
    assert seconds_of(text) == seconds
