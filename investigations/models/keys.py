"""Foreign keys whose deletes cascade in the database, not in Python."""

from typing import Any

from django.db import models


def cascading_key(to: str, *, related_name: str, **options: Any) -> Any:
    """A key whose `ON DELETE` stands in the migration (`RunSQL`), so retention stays one statement.

    Django 5.2 cannot declare it: with `CASCADE` it would load every row below a session first.
    """
    return models.ForeignKey(
        to,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name=related_name,
        **options,
    )
