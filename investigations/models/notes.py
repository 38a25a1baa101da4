"""What agents wrote down about resources, for those who investigate later."""

import uuid

from django.db import models
from django.db.models.functions import Length, Now
from django.db.models.lookups import GreaterThan, LessThanOrEqual
from typing_extensions import override

from investigations.models.keys import cascading_key


class ResourceNote(models.Model):
    """A note about one resource, told by an agent: evidence with an author, never an instruction.

    Told once more, by whomever, it is the same note with a newer `told_at` and author. Written and
    deleted only in `investigations.services.notes`, and by retention, which lets it go at the age
    at which sessions are hidden; so its session is always there to be looked up.
    """

    LONGEST = 2000
    """Characters. Masking may make a text longer than what was told."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    resource_id = models.CharField(max_length=512)
    category = models.CharField(max_length=40, blank=True)
    text = models.TextField(help_text="Masked, and free of what nobody can see.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")

    session = cascading_key("investigations.AlertSession", related_name="notes")
    execution = cascading_key("investigations.AgentExecution", related_name="notes")
    agent_name = models.CharField(max_length=200)

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    told_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-told_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["resource_id", "digest"], name="note_told_once"),
            models.CheckConstraint(
                name="note_text_bounded", condition=LessThanOrEqual(Length("text"), 2000)
            ),
            models.CheckConstraint(
                name="note_says_something", condition=GreaterThan(Length("text"), 0)
            ),
        ]
        indexes = [
            models.Index(fields=["resource_id", "-told_at", "-id"], name="note_of_resource"),
            models.Index(fields=["-told_at", "-id"], name="note_newest"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.resource_id} ({self.agent_name})"
