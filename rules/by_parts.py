"""Conditions by their parts, in Python, where Python says what CEL would.

A call of the library, with the row that it is given, costs many times what a comparison does, and
there are dozens for each of thousands of rows. What is compiled here knows texts, numbers and
truths, what compares and combines them, and the functions of packs. For everything else it asks
the library: within an expression for a part that it does not know (`Names.ask`), and for all of it
where a value is of another kind or is not there (`Unsure`). So there is nothing here of what CEL
calls an error.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol

import cel

from config.schema.expressions import (
    FUNCTIONS,
    MATCHES,
    Sign,
    compile_condition,
    find_signs,
    is_balanced,
    is_plain,
    split_at,
    split_conjunction,
    split_disjunction,
)

_COMPARISONS: Final[Mapping[str, Callable[..., object]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
KINDS: Final[Mapping[type, str]] = {str: "text", bool: "truth", float: "number", int: "number"}
"""What values are compared as. One of another kind comes back from the library as something else
than it went in."""
_LARGEST = 2**53
"""Up to it, whole numbers and fractions are compared exactly."""
_ARITHMETIC = frozenset("+-*/%")
_DEEPEST = 40
"""Parts within parts."""
_NAME = re.compile(r"[a-z]\w*")
FIELD = re.compile(r"([a-z]\w*)\.([A-Za-z_]\w*)")
_CALL = re.compile(r"([a-z]\w*)\s*\((.*)\)", re.DOTALL)
_METHOD = re.compile(r"(.+)\.(contains|startsWith|endsWith|matches)\((.*)\)", re.DOTALL)
_WORDS = frozenset({"true", "false", "null", "in"})


class Unsure(Exception):
    """Only the library can tell."""


class Names(Protocol):
    """What names stand for, and the library to ask."""

    @property
    def values(self) -> Mapping[str, object]: ...

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]: ...

    def ask(self, source: str) -> object: ...


Reader = Callable[[Names], object]
"""The value of an expression. Raises Unsure, and LookupError or TypeError where something that is
read is not there."""


@lru_cache(maxsize=4_096)
def compile_parts(source: str) -> Reader | None:
    """An expression by its parts; None where it is of no form that is known here."""
    if not is_plain(source):
        return None
    try:
        return _read(source.strip(), 0)
    except ValueError:
        return None


def _read(source: str, depth: int) -> Reader | None:
    """By the operator that binds least. Raises ValueError where it goes too deep."""
    if depth > _DEEPEST:
        raise ValueError(f"has more than {_DEEPEST} parts within parts")
    signs = find_signs(source)
    kinds = {sign for sign, _, _ in signs}
    if "?" in kinds:
        return _choose(source, signs, depth)
    if "||" in kinds:
        return _combine(split_disjunction(source), depth, ends_at=True)
    if "&&" in kinds:
        return _combine(split_conjunction(source), depth, ends_at=False)
    if comparing := [each for each in signs if each[0] in _COMPARISONS or each[0] == "in"]:
        return _compare(source, comparing, depth) if len(comparing) == 1 else None
    if kinds & _ARITHMETIC:
        return _as_constant(source)
    if source.startswith("!"):
        return _negate(source[1:].strip(), depth)
    return _read_operand(source, depth)


def _read_part(source: str, depth: int) -> Reader:
    """A part of an expression, by the library where it is of no form that is known here."""
    read = _read(source, depth + 1)
    return read if read is not None else _ask_for(source)


def _ask_for(source: str) -> Reader:
    compile_condition(source)

    def ask(names: Names) -> object:
        value = names.ask(source)
        if _is_plain(value):
            return value
        raise Unsure

    return ask


def _is_plain(value: object) -> bool:
    return type(value) in KINDS and not (isinstance(value, int) and abs(value) > _LARGEST)


def _choose(source: str, signs: Sequence[Sign], depth: int) -> Reader | None:
    first = next(place for place, each in enumerate(signs) if each[0] == "?")
    open_ones = 0
    for place in range(first, len(signs)):
        open_ones += {"?": 1, ":": -1}.get(signs[place][0], 0)
        if open_ones == 0:
            break
    else:
        return None
    parts = split_at(source, (signs[first], signs[place]))
    condition, yes, no = [_read_part(each, depth) for each in parts]

    def choose(names: Names) -> object:
        return yes(names) if _is_true(condition(names)) else no(names)

    return choose


def _combine(sources: Sequence[str], depth: int, *, ends_at: bool) -> Reader:
    parts = [_read_part(each, depth) for each in sources]

    def combine(names: Names) -> object:
        for part in parts:
            if _is_true(part(names)) is ends_at:
                return ends_at
        return not ends_at

    return combine


def _negate(source: str, depth: int) -> Reader:
    part = _read_part(source, depth)

    def negate(names: Names) -> object:
        return not _is_true(part(names))

    return negate


def _is_true(value: object) -> bool:
    if value is True or value is False:
        return value
    raise Unsure


def _compare(source: str, signs: Sequence[Sign], depth: int) -> Reader | None:
    sign = signs[0][0]
    one, other = split_at(source, signs)
    left = _read_part(one, depth)
    if sign == "in":
        return _find_in(left, _find_constant(other))
    if _is_plain(known := _find_constant(other)):
        return _compare_with(left, sign, known)
    return _compare_both(left, sign, _read_part(other, depth))


def _compare_with(left: Reader, sign: str, known: object) -> Reader:
    """What most comparisons are: with a value that is written down, and of its kind."""
    kind = type(known)
    operate, compare_both = _COMPARISONS[sign], _compare_both(left, sign, lambda names: known)

    def compare(names: Names) -> object:
        value = left(names)
        if type(value) is kind and value == value:
            return operate(value, known)
        return compare_both(names)

    return compare


def _compare_both(left: Reader, sign: str, right: Reader) -> Reader:
    operate, is_equality = _COMPARISONS[sign], sign in ("==", "!=")

    def compare(names: Names) -> object:
        one, other = left(names), right(names)
        if KINDS[type(one)] is not KINDS[type(other)]:
            if is_equality:
                return sign == "!="
            raise Unsure
        # What is no number equals nothing, and is in no order.
        if not is_equality and (one != one or other != other):
            raise Unsure
        return operate(one, other)

    return compare


def _find_in(left: Reader, listed: object) -> Reader | None:
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return None
    texts = frozenset(listed)

    def find(names: Names) -> object:
        value = left(names)
        if type(value) not in KINDS:
            raise Unsure
        return value in texts

    return find


def _read_operand(source: str, depth: int) -> Reader | None:
    if source.startswith("(") and source.endswith(")") and is_balanced(source[1:-1]):
        return _read(source[1:-1].strip(), depth + 1)
    if found := FIELD.fullmatch(source):
        thing, field = found[1], found[2]
        return lambda names: names.values[thing][field]  # type: ignore[index]  # Unsure if none
    if source not in _WORDS and _NAME.fullmatch(source):
        return lambda names: names.values[source]
    if (found := _METHOD.fullmatch(source)) and is_balanced(found[1]) and is_balanced(found[3]):
        return _call_method(found[2], found[1], found[3], depth)
    if (found := _CALL.fullmatch(source)) and is_balanced(found[2]):
        return _call(found[1], found[2], depth)
    return _as_constant(source)


def _call_method(method: str, text: str, part: str, depth: int) -> Reader:
    left, right = _read_part(text.strip(), depth), _read_part(part.strip(), depth)

    def call(names: Names) -> object:
        one, other = left(names), right(names)
        if type(one) is not str or type(other) is not str:
            raise Unsure
        match method:
            case "contains":
                return other in one
            case "startsWith":
                return one.startswith(other)
            case "endsWith":
                return one.endswith(other)
        return names.functions[MATCHES](one, other)

    return call


def _call(name: str, given: str, depth: int) -> Reader | None:
    if name != "size" and name not in FUNCTIONS:
        return None
    commas = [each for each in find_signs(given) if each[0] == ","]
    parts = [_read_part(each, depth) for each in split_at(given, commas)]
    if name == "size":
        return _measure(parts[0]) if len(parts) == 1 else None

    def call(names: Names) -> object:
        values = [part(names) for part in parts]
        if any(type(each) not in KINDS for each in values):
            raise Unsure
        return names.functions[name](*values)

    return call


def _measure(part: Reader) -> Reader:
    def measure(names: Names) -> object:
        value = part(names)
        # The library counts the bytes of a text.
        if type(value) is list or (type(value) is str and value.isascii()):
            return len(value)
        raise Unsure

    return measure


def _as_constant(source: str) -> Reader | None:
    value = _find_constant(source)
    return (lambda names: value) if _is_plain(value) else None


def _find_constant(source: str) -> object:
    """The value of what reads no name, and None where it is not that."""
    try:
        program = compile_condition(source)
        return None if program.variables() else program.execute(cel.Context({}))
    except Exception:
        return None
