"""Who did what, when."""

from django.db import models
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField


class AuditEvent(models.Model):
    """One act of a person or machine. Append-only: a trigger refuses change and removal.

    Another trigger puts a row at the end of the chain when it is inserted: it gives it the next
    `id`, the moment, the `hash` of the row before it, and a SHA-256 over all of these and what the
    row says. An instance that was just created does not know the last two.
    Outlives what it speaks of, so `target_id` is text and no key.
    """

    id = models.BigAutoField(primary_key=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=100)
    target_type = models.CharField(max_length=50)
    target_id = models.CharField(max_length=100)
    details = ForeignJSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    previous_hash = models.CharField(max_length=64, default="", editable=False)
    hash = models.CharField(max_length=64, default="", editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["target_type", "target_id"], name="audit_target"),
            models.Index(fields=["actor", "-created_at"], name="audit_actor"),
            models.Index(fields=["action", "-id"], name="audit_action"),
            models.Index(fields=["-created_at"], name="audit_newest"),
            models.Index(  # what `/metrics` counts
                fields=["created_at"],
                condition=models.Q(details__has_key="counts"),
                name="audit_counted",
            ),
        ]
        constraints = [
            # No two rows follow the same one, whatever became of the trigger.
            models.UniqueConstraint(fields=["previous_hash"], name="audit_never_forks"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.target_type} {self.target_id}"
