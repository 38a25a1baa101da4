"""A test of many cases checks them all and names those that fail."""

import pytest

from tests.cases import for_each


def test_every_case_is_checked_and_each_that_fails_is_named_with_what_it_says():
    checked: list[int] = []

    @for_each(range(5), name=lambda number: f"number {number}")
    def test_it(number: int) -> None:
        checked.append(number)
        assert number % 2 == 0, f"{number} is odd"
        if number == 4:
            raise ValueError("four")

    with pytest.raises(pytest.fail.Exception) as failed:
        test_it()

    assert checked == [0, 1, 2, 3, 4]
    said = str(failed.value)
    assert said.startswith("3 of 5 cases failed:")
    for words in ("number 1\n    AssertionError: 1 is odd", "number 3", "ValueError: four"):
        assert words in said
    assert "number 2" not in said


def test_a_table_without_a_case_fails():
    @for_each([])
    def test_it(case: object) -> None:
        pass

    with pytest.raises(AssertionError, match="no case"):
        test_it()
