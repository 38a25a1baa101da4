"""What a search looks through."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from typing_extensions import override


class SessionText(models.Model):
    """The title, the alert and the report of a session in capitals, 200,000 characters of each.

    Triggers of the database keep it, and nobody else writes it. A table of its own, because a
    session's row changes with every step of its agents, and each change would put all its words
    into the index anew.
    """

    session = models.OneToOneField(
        "investigations.AlertSession",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        primary_key=True,
        related_name="searched",
    )
    text = models.TextField()

    class Meta:
        indexes = [GinIndex(OpClass("text", name="gin_trgm_ops"), name="session_text_parts")]

    @override
    def __str__(self) -> str:
        return f"words of {self.session_id}"
