"""Tables of cases that one test checks, so that a thousand of them cost no more than their checks.

A test for each case costs more than most checks do, and is collected by every process.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


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

        # Not `functools.wraps`: pytest would take the check's parameter for a fixture.
        test.__name__ = test.__qualname__ = check.__name__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
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
            failed.append(f"{name(case)}\n    {type(error).__name__}: {error}")
    if failed:
        told = "\n\n".join(failed)
        pytest.fail(f"{len(failed)} of {len(table)} cases failed:\n\n{told}", pytrace=False)
