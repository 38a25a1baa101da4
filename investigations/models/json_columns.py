"""JSON columns that can always be read and shown, whatever a tool or a model put there."""

from collections.abc import Mapping
from typing import Any

from django.db import models
from typing_extensions import override

from investigations.models.foreign_json import read_column

Types = Mapping[str, "type | Types | list[Types]"]
"""By name the type of each value; for an object, the types of what is in it, for a list of objects
those of each."""


class ForeignJSONField(models.JSONField):
    """A JSON column: what it holds beyond what Python and a page can bear is given as text.

    PostgreSQL keeps numbers of any length and nests thousands of levels deep. Where an object is
    the default, an object is what everybody gets: any other value stands in it under `value`.
    `types` are those of values that our own code reckons with: a value of another type stands
    under `mistyped`, so that no reader has to ask. A column of `rows` is a list of objects in which
    each of these names has a value of its type: whatever else stands there is left out.
    """

    def __init__(
        self,
        *args: Any,
        types: Types | None = None,
        rows: Mapping[str, type] | None = None,
        **kwargs: Any,
    ) -> None:
        self._types = types or {}
        self._rows = rows
        super().__init__(*args, **kwargs)

    @override
    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            read = read_column(value)
        except ValueError:
            read = value
        if hasattr(expression, "key_name"):  # A value out of the column.
            return read
        if self._rows is not None:
            return _rows_of(read, self._rows)
        if isinstance(read, dict):
            return _set_mistyped_apart(read, self._types)
        return {"value": read} if self.default is dict else read

    @override
    def deconstruct(self) -> Any:
        """As Django's own: the column is the same one."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs


def _rows_of(read: Any, types: Mapping[str, type]) -> list[dict[str, Any]] | None:
    if not isinstance(read, list):
        return None if read is None else []
    return [
        each
        for each in read
        if isinstance(each, dict) and all(type(each.get(name)) is types[name] for name in types)
    ]


def _set_mistyped_apart(read: dict[str, Any], types: Types) -> dict[str, Any]:
    known, mistyped = {}, {}
    for name, value in read.items():
        kind = types.get(name)
        if kind is None or value is None:
            known[name] = value
        elif isinstance(kind, Mapping) and isinstance(value, dict):
            known[name] = _set_mistyped_apart(value, kind)
        elif isinstance(kind, list) and _is_list_of_objects(value):
            known[name] = [_set_mistyped_apart(each, kind[0]) for each in value]
        # A truth value is an `int` to `isinstance`, and never one of ours.
        elif type(value) is kind:
            known[name] = value
        else:
            mistyped[name] = value
    return {**known, "mistyped": mistyped} if mistyped else known


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)
