"""One alert and the investigation it started."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now
from django.utils import timezone
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField
from investigations.models.keys import cascading_key

DURATION = F("completed_at") - F("started_at")
INCONCLUSIVE = "**Inconclusive:**"
"""How an analysis begins that rests on nothing: the label of `agents.types`, kept in the schema."""
_LINES = r"^(?:\*\*[A-Z][a-z ]*:\*\*[^\n]*\n\s*)*"
"""The lines of ours at the top of a text, up to one with a label."""
UNVERIFIED = rf"{_LINES}\*\*Unverified:\*\*"
NOT_CARRIED_OUT = rf"{_LINES}\*\*Not carried out:\*\*"
CHANGED = rf"{_LINES}\*\*Changed:\*\* (?!TARSy changed nothing\.)"


class AlertSession(models.Model):
    """An alert, its investigation and what came of it.

    PENDING -> IN_PROGRESS -> COMPLETED | FAILED | TIMED_OUT, and by way of CANCELLING (or straight
    from PENDING) -> CANCELLED. Changed only by conditional updates in `investigations.services`;
    a terminal status is never overwritten.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Queued"
        IN_PROGRESS = "in_progress", "In progress"
        CANCELLING = "cancelling", "Cancelling"
        COMPLETED = "completed", "Completed"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"
        TIMED_OUT = "timed_out", "Timed out"

    class WritesTold(models.TextChoices):
        """What the lines above a report say of writes, the worst of it."""

        UNVERIFIED = "unverified", "Not every write is confirmed"
        PARTLY = "partly", "One was carried out, another was not"
        UNDONE = "undone", "None was carried out"
        CHANGED = "changed", "Each was carried out"
        NOTHING = "", "There was none"

    ACTIVE: ClassVar = (Status.IN_PROGRESS, Status.CANCELLING)
    TERMINAL: ClassVar = (Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    alert_type = models.CharField(max_length=200)
    alert_data = models.TextField(help_text="As it is shown: masked, never what was sent.")
    title = models.CharField(max_length=300, blank=True)
    chain_id = models.CharField(max_length=200)
    author = models.CharField(max_length=200, blank=True)
    runbook_url = models.TextField(blank=True)
    mcp_selection = ForeignJSONField(null=True, blank=True)
    slack_message_fingerprint = models.TextField(blank=True)
    session_metadata = ForeignJSONField(default=dict, blank=True)
    source = models.CharField(max_length=100, blank=True, db_default="")
    severity = models.CharField(max_length=20, blank=True, db_default="")
    service = models.CharField(max_length=200, blank=True, db_default="")
    cluster = models.CharField(max_length=200, blank=True, db_default="")
    incident = cascading_key(
        "investigations.Incident", related_name="sessions", null=True, blank=True
    )
    is_listed = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Whether it stands for its incident in the list: the newest one does.",
    )
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="Until then it waits, as `held_for` says why."
    )
    held_for = models.CharField(max_length=200, blank=True, db_default="")
    changes_in_alert = models.BigIntegerField(
        db_default=0, help_text="The newest change of its incident that its alert holds."
    )

    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    current_stage_index = models.PositiveIntegerField(null=True, blank=True)
    current_stage_id = models.UUIDField(null=True, blank=True)
    total_stages = models.PositiveIntegerField(
        default=0, help_text="Stages the chain will have, synthesis and summary included."
    )

    final_analysis = models.TextField(blank=True)
    is_inconclusive = models.GeneratedField(
        # A condition is an expression to Django; its stubs do not say so.
        expression=Q(final_analysis__startswith=INCONCLUSIVE),  # type: ignore[arg-type]
        output_field=models.BooleanField(),
        db_persist=True,
        help_text="Whether the analysis says itself that it rests on nothing.",
    )
    writes_told = models.GeneratedField(
        expression=Case(
            When(final_analysis__regex=UNVERIFIED, then=Value(WritesTold.UNVERIFIED)),
            When(
                final_analysis__regex=NOT_CARRIED_OUT,
                then=Case(
                    When(final_analysis__regex=CHANGED, then=Value(WritesTold.PARTLY)),
                    default=Value(WritesTold.UNDONE),
                ),
            ),
            When(final_analysis__regex=CHANGED, then=Value(WritesTold.CHANGED)),
            default=Value(WritesTold.NOTHING),
        ),
        output_field=models.CharField(max_length=20, choices=WritesTold),
        db_persist=True,
        help_text="What the lines above the analysis say of writes.",
    )
    executive_summary = models.TextField(blank=True)
    executive_summary_error = models.TextField(blank=True)
    error_message = models.TextField(blank=True)

    last_seq = models.BigIntegerField(default=0, help_text="`seq` of the newest event.")
    last_tool_number = models.PositiveIntegerField(default=0, help_text="The 5 of [T5].")

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    last_interaction_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    acknowledged_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then its failure waits for nobody."
    )
    acknowledged_by = models.CharField(max_length=200, blank=True, db_default="")

    class Meta:
        ordering = ["-created_at", "-id"]
        permissions = [
            ("submit_alert", "Can submit alerts"),
            ("operate_session", "Can stop investigations and ask about them"),
        ]
        constraints = [
            models.CheckConstraint(
                name="session_status_known",
                condition=Q(
                    status__in=[
                        "pending",
                        "in_progress",
                        "cancelling",
                        "completed",
                        "failed",
                        "cancelled",
                        "timed_out",
                    ]
                ),
            ),
            models.CheckConstraint(
                name="session_completed_at_matches_status",
                condition=Q(
                    status__in=["pending", "in_progress", "cancelling"], completed_at__isnull=True
                )
                | Q(
                    status__in=["completed", "failed", "cancelled", "timed_out"],
                    completed_at__isnull=False,
                ),
            ),
            models.CheckConstraint(
                name="session_started_when_running",
                condition=~Q(status__in=["in_progress", "completed", "timed_out"])
                | Q(started_at__isnull=False),
            ),
        ]
        indexes = [
            # What a list filters by stands in its indexes: counting reads no rows.
            models.Index(
                fields=["-created_at", "-id"],
                include=[
                    "deleted_at",
                    "is_listed",
                    "status",
                    "alert_type",
                    "chain_id",
                    "author",
                    "severity",
                    "source",
                    "incident",
                ],
                name="session_list",
            ),
            models.Index(
                fields=["status", "-created_at", "-id"],
                include=["deleted_at", "is_listed"],
                name="session_by_status",
            ),
            models.Index(
                fields=["created_at", "id"],
                name="session_queue",
                condition=Q(status="pending"),
            ),
            *(
                models.Index(
                    fields=[column, "-created_at", "-id"],
                    include=["deleted_at", "is_listed", "status"],
                    name=f"session_by_{column}",
                )
                for column in ("alert_type", "chain_id", "author", "source", "severity")
            ),
            models.Index(
                fields=["incident", "-created_at"],
                name="session_of_incident",
                condition=Q(incident__isnull=False),
            ),
            *(
                models.Index(
                    fields=[column, "-created_at", "-id"],
                    include=["deleted_at", "is_listed", "status"],
                    condition=~Q(**{column: ""}),
                    name=f"session_by_{column}",
                )
                for column in ("service", "cluster")
            ),
            models.Index(
                fields=["-created_at", "-id"],
                include=["deleted_at", "is_listed"],
                name="session_inconclusive",
                condition=Q(is_inconclusive=True),
            ),
            models.Index(
                fields=["-created_at", "-id"],
                include=["deleted_at", "is_listed"],
                name="session_with_writes",
                condition=~Q(writes_told=""),
            ),
            # The other way round, with the newest first all the same.
            *(
                models.Index(fields=[f"-{column}", "-created_at", "-id"], name=f"session_{name}")
                for column, name in (
                    ("status", "status_down"),
                    ("alert_type", "type_down"),
                    ("author", "author_down"),
                )
            ),
            *(
                models.Index(order, F("created_at").desc(), F("id").desc(), name=name)
                for order, name in (
                    (DURATION.asc(nulls_last=True), "session_shortest"),
                    (DURATION.desc(nulls_last=True), "session_longest"),
                )
            ),
            models.Index(
                fields=["-created_at", "-id"],
                name="session_with_error",
                condition=~Q(error_message=""),
            ),
            models.Index(
                fields=["status", "last_interaction_at"],
                name="session_running",
                condition=Q(status__in=["in_progress", "cancelling"]),
            ),
            models.Index(
                fields=["started_at"],
                name="session_started",
                condition=Q(started_at__isnull=False),
            ),
            models.Index(
                fields=["completed_at"],
                name="session_ended",
                condition=Q(completed_at__isnull=False),
            ),
            models.Index(
                fields=["deleted_at", "id"],
                name="session_deleted_id",
                condition=Q(deleted_at__isnull=False),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.title or self.alert_type} ({self.status})"

    @property
    def is_held(self) -> bool:
        """Whether it waits for a moment, and not for its turn."""
        if self.status != self.Status.PENDING or self.not_before is None:
            return False
        return self.not_before > timezone.now()

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL

    @property
    def concluded_analysis(self) -> str:
        """The analysis; empty of a session that failed or ran out of time, which has at most that
        of an earlier stage."""
        unfinished = (self.Status.FAILED, self.Status.TIMED_OUT)
        return "" if self.status in unfinished else self.final_analysis
