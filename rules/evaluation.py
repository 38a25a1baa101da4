"""Expressions and templates of packs over values: bounded, and never an error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
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

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def bind(self, name: str, value: object) -> None:
        self._values[name] = value
        self._context.add_variable(name, value)

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

    def evaluate(self, source: str) -> object:
        """The value of an expression; MISSING where it asks for what is not there."""
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
            value = _cut(_plain(self.evaluate(source)))
            is_code = told.count("`") % 2 == 1
            told += value.replace("`", "'") if is_code else as_words(value)
        return told


def _plain(value: object) -> str:
    return "" if value is MISSING else show(value)


def _cut(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_VALUE else f"{line[:LONGEST_VALUE]}…"
