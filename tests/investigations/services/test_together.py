"""Items that threads bring at the same time are taken together, and each gets its own result."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from investigations.services.together import Together, _Place
from tests.processes import wait_for


class Desk:
    """Takes numbers and doubles them; the first one as long as it is held up."""

    def __init__(
        self,
        *,
        most: int = 100,
        decide: Callable[[int], int | None] | None = None,
        patience: float = 20,
    ):
        self.taken: list[list[int]] = []
        self.goes_on = threading.Event()
        self._decide = decide or (lambda number: 2 * number)
        self.together: Together[int, int] = Together(
            self._take, weigh=lambda _: 1, most=most, patience=patience
        )

    def _take(self, numbers: Sequence[int]) -> Sequence[int | None]:
        self.taken.append(list(numbers))
        if len(self.taken) == 1:
            assert self.goes_on.wait(20)
        return [self._decide(each) for each in numbers]

    def bring(self, *numbers: int) -> list[Future[int | None]]:
        """The first alone, and the others in order while it is being taken."""
        with ThreadPoolExecutor(len(numbers)) as pool:
            brought = [pool.submit(self.together.take, numbers[0])]
            wait_for(lambda: self.taken, what="the first to be taken")
            for count, number in enumerate(numbers[1:], start=1):
                brought.append(pool.submit(self.together.take, number))
                wait_for(lambda count=count: self.together.waiting == count, what="the queue")
            self.goes_on.set()
            done = wait(brought, timeout=20)
        assert not done.not_done
        return brought


def test_what_comes_while_one_is_taken_is_taken_together_after_it():
    desk = Desk()

    brought = desk.bring(1, 2, 3, 4)

    assert [each.result() for each in brought] == [2, 4, 6, 8]
    assert desk.taken == [[1], [2, 3, 4]]


def test_no_more_are_taken_together_than_may_be():
    desk = Desk(most=2)

    brought = desk.bring(1, 2, 3, 4, 5, 6)

    assert [each.result() for each in brought] == [2, 4, 6, 8, 10, 12]
    assert desk.taken == [[1], [2, 3], [4, 5], [6]]


def test_one_that_is_left_has_no_result_and_the_others_have_theirs():
    desk = Desk(decide=lambda number: None if number == 3 else number)

    brought = desk.bring(1, 2, 3, 4)

    assert [each.result() for each in brought] == [1, 2, None, 4]


def test_those_that_fail_together_are_left_to_their_callers_and_the_log_says_why(caplog):
    def refuse(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    desk = Desk(decide=refuse)

    brought = desk.bring(1, 2, 3, 4)

    assert [each.result() for each in brought] == [1, None, None, None]
    (told,) = caplog.records
    assert told.getMessage() == "3 items failed together: each is taken alone"
    assert "ValueError: three" in caplog.text
    assert desk.together.take(4) == 4


def test_what_is_wrong_with_one_that_is_alone_is_told_to_its_caller_and_holds_up_nobody():
    def refuse(number: int) -> int:
        if number == 1:
            raise ValueError("one")
        return number

    desk = Desk(decide=refuse)

    first, second = desk.bring(1, 2)

    with pytest.raises(ValueError, match="one"):
        first.result()
    assert second.result() == 2


def test_whoever_waits_behind_one_that_hangs_goes_alone_and_is_not_taken_later():
    desk = Desk(patience=0.05)

    with ThreadPoolExecutor(2) as pool:
        hangs = pool.submit(desk.together.take, 1)
        wait_for(lambda: desk.taken, what="the first to be taken")
        impatient = pool.submit(desk.together.take, 2)

        assert impatient.result(timeout=20) is None
        assert desk.together.waiting == 0
        desk.goes_on.set()
        assert hangs.result(timeout=20) == 2
    assert desk.together.take(3) == 6
    assert desk.taken == [[1], [3]]


def test_one_that_is_called_to_lead_and_leaves_hands_on_to_the_next():
    desk = Desk()
    together = desk.together
    leaves: _Place[int, int] = _Place(1)
    next_one: _Place[int, int] = _Place(2)
    together._waiting.extend([leaves, next_one])
    leaves.is_called.set()

    assert together._leave(leaves)

    assert next_one.is_called.is_set()
    assert not together._leave(leaves)
