"""Expressions and templates of packs over values: bounded, and never an error."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final

import cel

from agents.our_lines import as_words
from config.schema.expressions import compile_condition, split_template
from rules.by_parts import FIELD, KINDS, Reader, Unsure, compile_parts
from rules.functions import make_functions, show
from rules.readable import make_readable

LONGEST_VALUE = 300
"""Characters of one value in a sentence."""
MOST_KNOWN = 20_000
"""Values of one expression that are remembered."""
MOST_CALLS = 4_096
"""Calls of one function that are."""


_OF_OURS = frozenset({"_call", "_line"})
"""Fields of a row that citations read."""


class _Missing:
    """Stands for a value that an expression could not give."""


MISSING: Final = _Missing()


@dataclass(frozen=True)
class _Plan:
    """How an expression is evaluated: as one field of a row, by the fields of `it` that it reads
    where it reads nothing else that changes, or, without a name, anew each time."""

    name: str = ""
    fields: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    is_field: bool = False
    is_lasting: bool = False
    """Whether nothing that it reads ever changes."""
    read: Reader | None = None
    """How it is evaluated by its parts, as long as each of them is of a usual kind."""
    known: dict[tuple[object, ...], object] = field(default_factory=dict)
    """Its values by those of the fields."""


class Scope:
    """Names with values that expressions read. What is bound within `having` is gone after it."""

    def __init__(self, values: Mapping[str, object], now: datetime) -> None:
        self.now = now
        self.values: dict[str, object] = {**values, "now": now}
        self._lasting = frozenset(self.values)
        self._functions = make_functions(now)
        self.functions = {
            name: lru_cache(MOST_CALLS, typed=True)(function)
            for name, function in self._functions.items()
        }
        self._context = cel.Context({}, self._functions)
        self._stale = set(self.values)
        self._fields: frozenset[str] | None = None
        self._plans: dict[str, _Plan] = {}

    def __getitem__(self, name: str) -> object:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def bind(self, name: str, value: object) -> None:
        # Giving a row to the library costs more than most expressions: only those that are read.
        if isinstance(value, list) and self.values.get(name) is value:
            return
        self.values[name] = value
        self._stale.add(name)

    @contextmanager
    def having(self, **values: object) -> Iterator["Scope"]:
        before = dict(self.values)
        for name, value in values.items():
            self.bind(name, value)
        try:
            yield self
        finally:
            self.values = before
            self._context = cel.Context({}, self._functions)
            self._stale = set(before)

    @contextmanager
    def reading(self, fields: frozenset[str]) -> Iterator[None]:
        """Expressions that read no other fields of rows than these: only they are handed over."""
        before = self._fields
        self._fields = fields | _OF_OURS
        self._stale = set(self.values)
        try:
            yield
        finally:
            self._fields = before
            self._stale = set(self.values)

    def evaluate(self, source: str) -> object:
        """The value of an expression; MISSING where it asks for what is not there."""
        plan = self._plans.get(source) or self._find_plan(source)
        if plan.is_field:
            row = self.values.get(plan.name)
            return row.get(plan.fields[0], MISSING) if isinstance(row, dict) else MISSING
        if plan.read is not None and not plan.is_lasting:
            try:
                value = plan.read(self)
            except (Unsure, LookupError, TypeError):
                return self.ask(source)
            if type(value) in KINDS:
                return value
        return self.ask(source)

    def ask(self, source: str) -> object:
        """The value of an expression as the library says, asked once for rows that are alike."""
        plan = self._find_plan(source)
        if plan.is_lasting:
            if () not in plan.known:
                plan.known[()] = self._compute(source, plan.names)
            return plan.known[()]
        row = self.values.get("it")
        if not plan.fields or not isinstance(row, dict):
            return self._compute(source, plan.names)
        # Thousands of rows are alike in the few fields that an expression reads.
        key: tuple[object, ...] = tuple([row.get(name, MISSING) for name in plan.fields])
        kinds = tuple(map(type, key))
        if list in kinds or dict in kinds:
            return self._compute(source, plan.names)
        # As a key, True is 1.0.
        key = (*key, *kinds) if bool in kinds else key
        value = plan.known.get(key, _Missing)
        if value is not _Missing:
            return value
        # Those few fields are handed over in place of the row.
        self._context.add_variable("it", {name: row[name] for name in plan.fields if name in row})
        self._stale.discard("it")
        value = self._compute(source, plan.names)
        self._stale.add("it")
        if len(plan.known) < MOST_KNOWN:
            plan.known[key] = value
        return value

    def _find_plan(self, source: str) -> "_Plan":
        plan = self._plans.get(source)
        if plan is None:
            plan = self._plans[source] = self._plan(source)
        return plan

    def _plan(self, source: str) -> "_Plan":
        if (parts := _read_field(source)) is not None:
            return _Plan(parts[0], parts[1:], is_field=True)
        fields, names, read = _fields_of_row(source), names_read(source), compile_parts(source)
        if fields is not None and names <= self._lasting | {"it"}:
            return _Plan("", fields, names, read=read)
        return _Plan(names=names, read=read, is_lasting=names <= self._lasting)

    def _compute(self, source: str, names: frozenset[str]) -> object:
        for name in self._stale & names:
            self._context.add_variable(name, self._choose(self.values[name]))
            self._stale.discard(name)
        try:
            return compile_condition(source).execute(self._context)
        except Exception:
            return MISSING

    def _choose(self, value: object) -> object:
        """A row or rows with no more than what is read of them."""
        fields = self._fields
        if fields is None:
            return value
        if isinstance(value, list):
            return [self._choose(each) for each in value]
        if isinstance(value, dict) and "_call" in value:
            return {name: value[name] for name in fields & value.keys()}
        return value

    def holds(self, source: str | None) -> bool:
        """Whether a condition is true; one that is not there is, one without a value is not."""
        return source is None or self.evaluate(source) is True

    def fill(self, template: str) -> str:
        """A template as plain text: for names, and for what is compared."""
        return "".join(
            plain + (_plain(self.evaluate(source)) if source else "")
            for plain, source in split_template(template)
        )

    def fill_value(self, template: str) -> object:
        """A template that is one expression as its value, any other one as text."""
        parts = split_template(template)
        if len(parts) == 2 and parts[0][0] == "" and parts[1][0] == "":
            value = self.evaluate(parts[0][1])
            return "" if value is MISSING else value
        return self.fill(template)

    def tell(self, template: str) -> str:
        """A template as Markdown: nothing that a value says is Markdown. Within backticks it is
        code, elsewhere words, with sizes and moments as people read them."""
        told = ""
        for plain, source in split_template(template):
            told += plain
            if not source:
                continue
            text = _plain(self.evaluate(source))
            # A part that is there only sometimes brings the blank in front of it.
            told += " " if text[:1].isspace() else ""
            value = _cut(text)
            is_code = told.count("`") % 2 == 1
            told += value.replace("`", "'") if is_code else as_words(value)
        return make_readable(told)


@lru_cache(maxsize=4_096)
def _read_field(source: str) -> tuple[str, str] | None:
    """The row and the field where an expression is nothing but that."""
    found = FIELD.fullmatch(source.strip())
    return (found[1], found[2]) if found else None


@lru_cache(maxsize=4_096)
def _fields_of_row(source: str) -> tuple[str, ...] | None:
    """The fields of `it` that an expression reads; None where it reads more of it than fields."""
    fields = re.findall(r"\bit\.([A-Za-z_]\w*)", source)
    if not fields or len(re.findall(r"\bit\b", source)) != len(fields):
        return None
    return tuple(dict.fromkeys(fields))


@lru_cache(maxsize=4_096)
def names_read(source: str) -> frozenset[str]:
    """The names that an expression reads."""
    return frozenset(compile_condition(source).variables())


def _plain(value: object) -> str:
    return "" if value is MISSING else show(value)


def _cut(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_VALUE else f"{line[:LONGEST_VALUE]}…"
