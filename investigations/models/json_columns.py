"""JSON columns that can always be read and shown, whatever a tool or a model put there."""

from typing import Any

from django.db import models
from typing_extensions import override

from investigations.foreign_json import read_column


class ForeignJSONField(models.JSONField):
    """A JSON column: what it holds beyond what Python and a page can bear is given as text.

    PostgreSQL keeps numbers of any length and nests thousands of levels deep. Where an object is
    the default, an object is what everybody gets: any other value stands in it under `value`.
    """

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
        return read

    @override
    def deconstruct(self) -> Any:
        """As Django's own: the column is the same one."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs
