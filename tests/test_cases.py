"""A test of many cases checks them all and names those that fail."""

import asyncio

import pytest

from tests.cases import for_each, wait_for_each


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


async def test_a_check_that_waits_is_waited_for_with_every_case():
    checked: list[int] = []

    @wait_for_each(range(3), name=lambda number: f"number {number}")
    async def test_it(number: int) -> None:
        await asyncio.sleep(0)
        checked.append(number)
        assert number == 1, f"{number} is not 1"

    with pytest.raises(pytest.fail.Exception) as failed:
        await test_it()

    assert checked == [0, 1, 2]
    said = str(failed.value)
    assert said.startswith("2 of 3 cases failed:")
    for words in ("number 0\n    AssertionError: 0 is not 1", "number 2"):
        assert words in said
    assert "number 1" not in said


async def test_a_table_without_a_case_fails():
    @for_each([])
    def test_it(case: object) -> None:
        pass

    @wait_for_each([])
    async def test_that_waits(case: object) -> None:
        pass

    with pytest.raises(AssertionError, match="no case"):
        test_it()
    with pytest.raises(AssertionError, match="no case"):
        await test_that_waits()
