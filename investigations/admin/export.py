"""All rows of a list as CSV or JSON, however many: read and sent piece by piece."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from investigations.rendering.streamed_file import stream_file
from investigations.selectors.cursors import rows_behind

CHUNK = 500
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What makes a spreadsheet calculate, and run, what stands in a cell."""

_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters by their class that are drawn as nothing."""

Row = tuple[Any, ...]


def stream_rows(
    request: HttpRequest,
    rows: QuerySet[Any],
    columns: Sequence[str],
    *,
    key: Sequence[str],
    format_name: str,
    file_name: str,
) -> StreamingHttpResponse:
    """The rows, newest `key` first, as a file. `key` must be unique, indexed and in `columns`.

    Each piece is a query of its own that goes on behind the last row, so that a slow reader holds
    no transaction and no connection.
    """
    write = _write_csv if format_name == "csv" else _write_json
    texts = write(columns, _read_chunks(rows, columns, key))
    return stream_file(request, texts, f"{file_name}.{format_name}", TYPES[format_name])


def _read_chunks(
    rows: QuerySet[Any], columns: Sequence[str], key: Sequence[str]
) -> Iterator[list[Row]]:
    ordered = rows.order_by(*(f"-{name}" for name in key)).values_list(*columns)
    places = [columns.index(name) for name in key]
    last: Row | None = None
    while chunk := list(ordered.filter(rows_behind(key, last, newest_first=True))[:CHUNK]):
        last = tuple(chunk[-1][place] for place in places)
        yield chunk


def _write_csv(columns: Sequence[str], chunks: Iterator[list[Row]]) -> Iterator[str]:
    yield _csv_lines([tuple(columns)])
    for chunk in chunks:
        yield _csv_lines([tuple(_cell(value) for value in row) for row in chunk])


def _csv_lines(rows: list[Row]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, cls=DjangoJSONEncoder).strip('"')
    begin = next((sign for sign in text if not _is_skipped(sign)), "")
    is_formula = begin in _FORMULA or text.startswith(("\t", "\r", "\n"))
    return f"'{text}" if begin and is_formula else text


def _is_skipped(sign: str) -> bool:
    """Whether a spreadsheet may take it for nothing: a space, or what nobody sees."""
    return sign.isspace() or unicodedata.category(sign) in ("Cc", "Cf", "Mn") or sign in _BLANKS


def _write_json(columns: Sequence[str], chunks: Iterator[list[Row]]) -> Iterator[str]:
    before = "[\n"
    for chunk in chunks:
        lines = (
            json.dumps(dict(zip(columns, row, strict=True)), cls=DjangoJSONEncoder) for row in chunk
        )
        yield before + ",\n".join(lines)
        before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"
