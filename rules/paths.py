"""JMESPath, compiled once into functions.

The library goes through its tree anew for each of many thousands of rows, and looks up at each node
what it has to do there. Here that is known beforehand. The tree is the library's, and so are its
values, truths and mistakes; it is asked for whatever has no function of its own below.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter

from agents.types import JSON

Node = Mapping[str, Any]
"""A node of the library's tree: `type`, `value`, `children`."""
Search = Callable[[JSON], JSON]

_NUMBERS: Final = (int, float)


def search(source: str, document: JSON) -> JSON:
    """What an expression finds; None where it finds nothing, or cannot be asked of this."""
    try:
        return _compile(source)(document)
    except (JMESPathError, RecursionError, TypeError):
        # The last where a number is compared with a text, which the library leaves to Python.
        return None


@lru_cache(maxsize=2_048)
def _compile(source: str) -> Search:
    return _read(jmespath.compile(source).parsed)


@cache
def _interpreter() -> TreeInterpreter:
    return TreeInterpreter()


@cache
def _functions() -> Functions:
    return Functions()


def _read(node: Node) -> Search:
    make = _KINDS.get(node["type"])
    if make is None:
        return _ask_library(node)
    return make(node, [_read(each) for each in node["children"] if isinstance(each, Mapping)])


def _ask_library(node: Node) -> Search:
    return lambda value: _interpreter().visit(node, value)


def _is_nothing(value: JSON) -> bool:
    """0 is something."""
    return value is None or value is False or value == "" or value == [] or value == {}


def _take_field(node: Node, _: Sequence[Search]) -> Search:
    name = node["value"]
    return lambda value: value.get(name) if isinstance(value, dict) else None


def _take_place(node: Node, _: Sequence[Search]) -> Search:
    place = node["value"]

    def take(value: JSON) -> JSON:
        if isinstance(value, list) and -len(value) <= place < len(value):
            return value[place]
        return None

    return take


def _go_down(_: Node, steps: Sequence[Search]) -> Search:
    def go(value: JSON) -> JSON:
        for step in steps:
            value = step(value)
        return value

    return go


def _take_itself(_: Node, __: Sequence[Search]) -> Search:
    return lambda value: value


def _take_literal(node: Node, _: Sequence[Search]) -> Search:
    literal: JSON = node["value"]
    return lambda value: literal


def _take_either(_: Node, parts: Sequence[Search]) -> Search:
    one, other = parts

    def take(value: JSON) -> JSON:
        found = one(value)
        return other(value) if _is_nothing(found) else found

    return take


def _take_both(_: Node, parts: Sequence[Search]) -> Search:
    one, other = parts

    def take(value: JSON) -> JSON:
        found = one(value)
        return found if _is_nothing(found) else other(value)

    return take


def _compare(node: Node, parts: Sequence[Search]) -> Search:
    if node["value"] not in ("eq", "ne"):
        return _ask_library(node)
    one, other = parts
    compare = TreeInterpreter.COMPARATOR_FUNC[node["value"]]
    return lambda value: compare(one(value), other(value))


def _flatten(_: Node, parts: Sequence[Search]) -> Search:
    [inner] = parts

    def flatten(value: JSON) -> JSON:
        found = inner(value)
        if not isinstance(found, list):
            return None
        flat: list[JSON] = []
        for each in found:
            flat.extend(each if isinstance(each, list) else [each])
        return flat

    return flatten


def _project(_: Node, parts: Sequence[Search]) -> Search:
    inner, step = parts

    def project(value: JSON) -> JSON:
        found = inner(value)
        if not isinstance(found, list):
            return None
        return [one for each in found if (one := step(each)) is not None]

    return project


def _choose(_: Node, parts: Sequence[Search]) -> Search:
    inner, step, condition = parts

    def choose(value: JSON) -> JSON:
        found = inner(value)
        if not isinstance(found, list):
            return None
        chosen = (step(each) for each in found if not _is_nothing(condition(each)))
        return [one for one in chosen if one is not None]

    return choose


def _list(_: Node, parts: Sequence[Search]) -> Search:
    return lambda value: None if value is None else [part(value) for part in parts]


def _call(node: Node, parts: Sequence[Search]) -> Search:
    name = node["value"]
    short = _SHORT.get(name) if len(parts) == 1 else None

    def call(value: JSON) -> JSON:
        given = [part(value) for part in parts]
        if short is not None and type(given[0]) is list:
            found: JSON = short(given[0])
            if found is not None:
                return found
        return _functions().call_function(name, given)  # type: ignore[no-any-return]

    return call


def _sum(values: list[JSON]) -> JSON:
    """None where the library has to look at their kinds."""
    if all(type(each) in _NUMBERS for each in values):
        return sum(values)  # type: ignore[arg-type]
    return None


_SHORT: Final[Mapping[str, Callable[[list[JSON]], JSON]]] = {"length": len, "sum": _sum}
"""Functions of a list for which nothing has to be known of its kind."""
_KINDS: Final[Mapping[str, Callable[[Node, Sequence[Search]], Search]]] = {
    "field": _take_field,
    "index": _take_place,
    "subexpression": _go_down,
    "index_expression": _go_down,
    "pipe": _go_down,
    "identity": _take_itself,
    "current": _take_itself,
    "literal": _take_literal,
    "or_expression": _take_either,
    "and_expression": _take_both,
    "comparator": _compare,
    "flatten": _flatten,
    "projection": _project,
    "filter_projection": _choose,
    "multi_select_list": _list,
    "function_expression": _call,
}
