"""Tables of cases that one test checks, so that a thousand of them cost no more than their checks.

A test for each case costs more than most checks do, and is collected by every process.
"""

from collections.abc import Callable, Coroutine, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")
Waiting = Coroutine[None, None, None]


def for_each(
    cases: Iterable[T], *, name: Callable[[T], str] = str
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Make one test of a check and its cases: it checks all, and fails with each that fails.

    `name` tells a case from the others, in the list of those that failed.
    """
    table = list(cases)

    def make_test(check: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            check_each(check, table, name)

        _call_it_as(check, test)
        return test

    return make_test


def wait_for_each(
    cases: Iterable[T], *, name: Callable[[T], str] = str
) -> Callable[[Callable[[T], Waiting]], Callable[[], Waiting]]:
    """The same for a check that is a coroutine: one after the other, in one loop."""
    table = list(cases)

    def make_test(check: Callable[[T], Waiting]) -> Callable[[], Waiting]:
        async def test() -> None:
            assert table, "there is no case to check"
            failed: list[str] = []
            for case in table:
                try:
                    await check(case)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(_tell(name(case), error))
            _fail_with(failed, len(table))

        _call_it_as(check, test)
        return test

    return make_test


def check_each(check: Callable[[T], None], table: list[T], name: Callable[[T], str]) -> None:
    """Check every case; fails, naming all that fail with what each of them says."""
    assert table, "there is no case to check"
    failed: list[str] = []
    for case in table:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            failed.append(_tell(name(case), error))
    _fail_with(failed, len(table))


def _call_it_as(check: Callable[..., object], test: Callable[..., object]) -> None:
    # Not `functools.wraps`: pytest would take the check's parameter for a fixture.
    test.__name__ = test.__qualname__ = check.__name__
    test.__module__, test.__doc__ = check.__module__, check.__doc__


def _tell(name: str, error: BaseException) -> str:
    return f"{name}\n    {type(error).__name__}: {error}"


def _fail_with(failed: list[str], count: int) -> None:
    if failed:
        told = "\n\n".join(failed)
        pytest.fail(f"{len(failed)} of {count} cases failed:\n\n{told}", pytrace=False)
