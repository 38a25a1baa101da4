"""JSON columns that can always be read and shown, whatever a tool or a model put there."""

from collections.abc import Mapping
from typing import Any

from django.db import models
from typing_extensions import override

from investigations.foreign_json import read_column


class ForeignJSONField(models.JSONField):
    """A JSON column: what it holds beyond what Python and a page can bear is given as text.

    PostgreSQL keeps numbers of any length and nests thousands of levels deep. Where an object is
    the default, an object is what everybody gets: any other value stands in it under `value`.
    `types` are those of values that our own code reckons with: a value of another type stands
    under `mistyped`, so that no reader has to ask.
    """

    def __init__(self, *args: Any, types: Mapping[str, type] | None = None, **kwargs: Any) -> None:
        self._types = types or {}
        super().__init__(*args, **kwargs)

    @override
    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            read = read_column(value)
        except ValueError:
            return value
        is_column = not hasattr(expression, "key_name")
        if is_column and self.default is dict and not isinstance(read, dict):
            return {"value": read}
        return self._set_mistyped_apart(read) if is_column and isinstance(read, dict) else read

    def _set_mistyped_apart(self, read: dict[str, Any]) -> dict[str, Any]:
        # A truth value is an `int` to `isinstance`, and never one of ours.
        mistyped = {
            name: read[name]
            for name, kind in self._types.items()
            if read.get(name) is not None and type(read[name]) is not kind
        }
        if not mistyped:
            return read
        known = {name: value for name, value in read.items() if name not in mistyped}
        return {**known, "mistyped": mistyped}

    @override
    def deconstruct(self) -> Any:
        """As Django's own: the column is the same one."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs
