"""Forms of answers: how rows are read from JSON, tables, patterns and logs."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from agents.types import JSON
from config.schema.expressions import compile_pattern
from config.schema.packs import FormConfig
from rules.documents import Reply
from rules.functions import show
from rules.logs import Told, cut_last_run, read_log
from rules.paths import search
from rules.tables import read_table

Row = dict[str, object]
"""Fields by name: texts, numbers as floats, lists. `_call` is the number of the call it was read
from, `_line` the line where it stands on one."""

MOST_MATCHES = 20_000
LONGEST_FIELD = 4_000
"""Characters of one field."""
LOG_FIELDS = tuple(
    each.name for each in dataclasses.fields(Told) if each.name not in ("raw", "parts")
)
"""What a row has that was read from a log."""


def read_form(reply: Reply, form: FormConfig, text: str) -> Sequence[Row] | None:
    """The rows of a reply of this form; None where it has another one."""
    if form.pattern is not None:
        read = cut_last_run(text) if form.log else text
        found = list(_read_pattern(read, form.pattern))
        return found or None
    if form.log:
        return [_as_row(each) for each in read_log(form.log, text)] or None
    if form.columns:
        rows: list[Row] = [{**row, "_line": line} for row, line in read_table(text, form.columns)]
        return rows or None
    return _read_rows(reply.document, form)


def _read_pattern(text: str, source: str) -> Iterator[Row]:
    for count, found in enumerate(compile_pattern(source).finditer(text)):
        if count >= MOST_MATCHES:
            return
        row: Row = {name: clean(value or "") for name, value in found.groupdict().items()}
        row["_line"] = str(found.group(0)).strip()[:LONGEST_FIELD]
        yield row


def _as_row(told: Told) -> Row:
    row: Row = {name: clean(getattr(told, name)) for name in LOG_FIELDS}
    row["_line"] = told.raw[:LONGEST_FIELD]
    row["_parts"] = list(told.parts)
    return row


def _read_rows(document: JSON, form: FormConfig) -> Sequence[Row] | None:
    if not isinstance(document, dict | list) or form.rows is None:
        return None
    found = search(form.rows, document)
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list):
        return None
    return list(_read_fields(found[:MOST_MATCHES], form))


def _read_fields(found: Sequence[JSON], form: FormConfig) -> Iterator[Row]:
    for item in found:
        if form.each is None:
            yield {name: clean(search(path, item)) for name, path in form.fields.items()}
            continue
        inner = search(form.each, item)
        for each in inner if isinstance(inner, list) else ():
            both: dict[str, JSON] = {"row": item, "each": each}
            yield {name: clean(search(path, both)) for name, path in form.fields.items()}


def clean(value: object) -> object:
    """A value as expressions read it: texts of some length, numbers as floats, flat lists."""
    if isinstance(value, str):
        return value[:LONGEST_FIELD]
    if isinstance(value, bool) or value is None:
        return "" if value is None else value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, list):
        return [clean(each) for each in value[:200] if not isinstance(each, dict | list)]
    return show(value)[:LONGEST_FIELD] if not isinstance(value, Mapping) else ""
