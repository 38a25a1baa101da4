"""Patterns mean the same in every Python 3.11.

Before 3.11.5 `re` lost its place in a possessive group whose inside can itself give back what it
took (https://github.com/python/cpython/issues/106052), and Debian 12 still ships 3.11.2.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _parser

import masking
from tests.cases import for_each

GIVES_BACK = ("MAX_REPEAT", "MIN_REPEAT", "BRANCH")


def all_patterns() -> Iterator[tuple[str, "re.Pattern[str]"]]:
    for module in pkgutil.iter_modules(masking.__path__, "masking."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield f"{module.name}.{name}", value


def unsafe_groups(parsed, in_possessive: bool = False) -> Iterator[str]:
    for code, argument in parsed:
        name = str(code)
        if in_possessive and name in GIVES_BACK and not _is_fixed(name, argument):
            yield name
        possessive = in_possessive or name in ("POSSESSIVE_REPEAT", "ATOMIC_GROUP")
        for inner in _inner_patterns(argument):
            yield from unsafe_groups(inner, possessive)


def _is_fixed(name: str, argument) -> bool:
    return name != "BRANCH" and argument[0] == argument[1]


def _inner_patterns(argument) -> Iterator:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in argument:
            yield from _inner_patterns(each)


def test_the_guard_knows_the_pattern_that_was_wrong():
    wrong = r"a(?:(?:\\n|\r?\n[ \t]*)[a-z]++)*+b"

    assert set(unsafe_groups(_parser.parse(wrong))) == {"MAX_REPEAT", "BRANCH"}


@for_each(list(all_patterns()), name=lambda named: named[0])
def test_no_possessive_group_can_give_back_inside(named: "tuple[str, re.Pattern[str]]"):
    _, pattern = named

    assert list(unsafe_groups(_parser.parse(pattern.pattern, pattern.flags))) == []
