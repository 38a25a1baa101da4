"""What browsers were told, in order."""

from django.db import models
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField
from investigations.models.keys import cascading_key


class Event(models.Model):
    """One message of a session's stream. `seq` is gapless and in commit order; on the wire it is
    `db_event_id`."""

    id = models.BigAutoField(primary_key=True)
    session = cascading_key("investigations.AlertSession", related_name="events", db_index=False)
    seq = models.BigIntegerField()
    channel = models.CharField(max_length=100)
    payload = ForeignJSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["session_id", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="event_seq_unique"),
        ]
        indexes = [models.Index(fields=["created_at"], name="event_created")]

    @override
    def __str__(self) -> str:
        return f"{self.payload.get('type', '?')} #{self.seq}"
