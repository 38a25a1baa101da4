"""Expressions and templates of packs over values: bounded, and never an error."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Final

import cel

from agents.our_lines import as_words
from config.schema.expressions import compile_condition, split_template
from rules.functions import make_functions, show

LONGEST_VALUE = 300
"""Characters of one value in a sentence."""


class _Missing:
    """Stands for a value that an expression could not give."""


MISSING: Final = _Missing()


class Scope:
    """Names with values that expressions read. What is bound within `having` is gone after it."""

    def __init__(self, values: Mapping[str, object], now: datetime) -> None:
        self.now = now
        self._context = cel.Context({**values, "now": now}, make_functions(now))
        self._values: dict[str, object] = {**values, "now": now}
        self._stale: set[str] = set()

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def bind(self, name: str, value: object) -> None:
        # Giving a row to the library costs more than most expressions: only those that are read.
        self._values[name] = value
        self._stale.add(name)

    @contextmanager
    def having(self, **values: object) -> Iterator["Scope"]:
        before = dict(self._values)
        for name, value in values.items():
            self.bind(name, value)
        try:
            yield self
        finally:
            self._values = before
            self._context = cel.Context(before, make_functions(self.now))
            self._stale.clear()

    def evaluate(self, source: str) -> object:
        """The value of an expression; MISSING where it asks for what is not there."""
        if (field := _read_field(source)) is not None:
            row = self._values.get(field[0])
            return row.get(field[1], MISSING) if isinstance(row, Mapping) else MISSING
        for name in self._stale & _names_in(source):
            self._context.add_variable(name, self._values[name])
            self._stale.discard(name)
        try:
            return compile_condition(source).execute(self._context)
        except Exception:
            return MISSING

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
        code, elsewhere words."""
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
        return told


@lru_cache(maxsize=4_096)
def _read_field(source: str) -> tuple[str, str] | None:
    """The row and the field where an expression is nothing but that."""
    found = re.fullmatch(r"\s*([a-z]\w*)\.([A-Za-z_]\w*)\s*", source)
    return (found[1], found[2]) if found else None


@lru_cache(maxsize=4_096)
def _names_in(source: str) -> frozenset[str]:
    return frozenset(compile_condition(source).variables())


def _plain(value: object) -> str:
    return "" if value is MISSING else show(value)


def _cut(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_VALUE else f"{line[:LONGEST_VALUE]}…"
