"""One step of a chain."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.keys import cascading_key


class Stage(models.Model):
    """One step of a session's chain, run by one or several agents.

    PENDING -> ACTIVE -> COMPLETED | FAILED | TIMED_OUT | CANCELLED, only through
    `investigations.services.stages`. What it found is not kept here: context is built from its
    executions when somebody needs it.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting"
        ACTIVE = "active", "In progress"
        COMPLETED = "completed", "Completed"
        FAILED = "failed", "Failed"
        TIMED_OUT = "timed_out", "Timed out"
        CANCELLED = "cancelled", "Cancelled"

    class Type(models.TextChoices):
        INVESTIGATION = "investigation"
        SYNTHESIS = "synthesis"
        CHAT = "chat"
        EXEC_SUMMARY = "exec_summary"
        SCORING = "scoring"
        ACTION = "action"

    class Parallel(models.TextChoices):
        MULTI_AGENT = "multi_agent"
        REPLICA = "replica"

    class Policy(models.TextChoices):
        ALL = "all"
        ANY = "any"

    TERMINAL: ClassVar = (Status.COMPLETED, Status.FAILED, Status.TIMED_OUT, Status.CANCELLED)
    FINDINGS: ClassVar = (Type.INVESTIGATION, Type.SYNTHESIS, Type.ACTION)
    """Stage types whose analysis is passed on and may become the session's final one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="stages")
    stage_name = models.CharField(max_length=300)
    stage_index = models.PositiveIntegerField(help_text="1-based, growing within the session.")
    chain_position = models.PositiveIntegerField(
        null=True, blank=True, help_text="Which stage of the configured chain this is, 0-based."
    )
    stage_type = models.CharField(max_length=20, choices=Type, default=Type.INVESTIGATION)
    parallel_type = models.CharField(max_length=20, choices=Parallel, null=True, blank=True)  # noqa: DJ001  (null on the wire)
    success_policy = models.CharField(max_length=10, choices=Policy, default=Policy.ANY)
    expected_agent_count = models.PositiveIntegerField(default=1)
    referenced_stage = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="referring_stages",
    )
    chat = cascading_key("investigations.Chat", related_name="stages", null=True, blank=True)
    chat_user_message = cascading_key(
        "investigations.ChatUserMessage", related_name="stages", null=True, blank=True
    )

    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    error_message = models.TextField(blank=True)
    actions_executed = models.BooleanField(null=True, blank=True)

    deadline_at = models.DateTimeField(
        null=True, blank=True, help_text="The session's, or a question's own."
    )
    cancel_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="None of its executions may begin or go on after this."
    )

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    duration_ms = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["session_id", "stage_index"]
        constraints = [
            models.UniqueConstraint(fields=["session", "stage_index"], name="stage_index_unique"),
            models.CheckConstraint(
                name="stage_completed_at_matches_status",
                condition=Q(status__in=["pending", "active"], completed_at__isnull=True)
                | Q(
                    status__in=["completed", "failed", "timed_out", "cancelled"],
                    completed_at__isnull=False,
                ),
            ),
            models.CheckConstraint(
                name="stage_type_known",
                condition=Q(
                    stage_type__in=[
                        "investigation",
                        "synthesis",
                        "chat",
                        "exec_summary",
                        "scoring",
                        "action",
                    ]
                ),
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="stage_newest"),
            models.Index(
                fields=["status", "dispatched_at"],
                name="stage_open",
                condition=Q(status__in=["pending", "active"]),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.stage_index}. {self.stage_name} ({self.status})"

    @property
    def is_cancelling(self) -> bool:
        return self.cancel_requested_at is not None and not self.is_terminal

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL
