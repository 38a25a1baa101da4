"""JSON columns that can always be read and shown, whatever a tool or a model put there."""

from collections.abc import Mapping
from typing import Any

from django.db import models
from typing_extensions import override

from investigations.foreign_json import read_column

Types = Mapping[str, "type | Types | list[Types]"]
"""By name the type of each value; for an object, the types of what is in it, for a list of objects
those of each."""


class ForeignJSONField(models.JSONField):
    """A JSON column: what it holds beyond what Python and a page can bear is given as text.

    PostgreSQL keeps numbers of any length and nests thousands of levels deep. Where an object is
    the default, an object is what everybody gets: any other value stands in it under `value`.
    `types` are those of values that our own code reckons with: a value of another type stands
    under `mistyped`, so that no reader has to ask.
    """

    def __init__(self, *args: Any, types: Types | None = None, **kwargs: Any) -> None:
        self._types = types or {}
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
        if isinstance(read, dict):
            return _set_mistyped_apart(read, self._types)
        return {"value": read} if self.default is dict else read

    @override
    def deconstruct(self) -> Any:
        """As Django's own: the column is the same one."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs


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
