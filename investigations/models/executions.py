"""One agent at work in one stage."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.keys import cascading_key


class AgentExecution(models.Model):
    """One run of one agent, owned by at most one worker at a time.

    PENDING -> ACTIVE -> COMPLETED | FAILED | TIMED_OUT | CANCELLED; ACTIVE -> PENDING when its
    worker stops or dies. The owner holds a lease: `lease_token` is new with each claim, and writes
    that carry an older token are refused.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting"
        ACTIVE = "active", "In progress"
        COMPLETED = "completed", "Completed"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"
        TIMED_OUT = "timed_out", "Timed out"

    OPEN: ClassVar = (Status.PENDING, Status.ACTIVE)
    TERMINAL: ClassVar = (Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT)
    MAX_ATTEMPTS: ClassVar = 3

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="executions")
    stage = cascading_key("investigations.Stage", related_name="executions")
    agent_name = models.CharField(max_length=200)
    agent_index = models.PositiveIntegerField(help_text="1-based within its stage.")
    parent_execution = cascading_key("self", related_name="sub_executions", null=True, blank=True)
    task = models.TextField(blank=True)

    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    error_message = models.TextField(blank=True)

    llm_backend = models.CharField(max_length=30, blank=True)
    llm_provider = models.CharField(max_length=200, blank=True)
    model_name = models.CharField(max_length=200, blank=True)
    original_llm_backend = models.CharField(max_length=30, blank=True)
    original_llm_provider = models.CharField(max_length=200, blank=True)
    original_model_name = models.CharField(max_length=200, blank=True)

    attempt = models.PositiveSmallIntegerField(default=0, help_text="Claims so far.")
    worker_id = models.CharField(max_length=200, blank=True)
    lease_token = models.UUIDField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    dispatched_at = models.DateTimeField(null=True, blank=True)

    told_changes = models.BigIntegerField(
        db_default=0, help_text="The newest change of the incident that its agent was told of."
    )

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    duration_ms = models.BigIntegerField(null=True, blank=True)

    lease_renewed_at: float = 0.0
    """No column: when the lease was renewed last, by the uptime of the worker that holds it, as far
    as it has heard. Nobody takes the execution over before that is `LEASE_STALE_SECONDS` ago."""

    class Meta:
        ordering = ["stage_id", "agent_index"]
        constraints = [
            models.UniqueConstraint(
                fields=["stage", "agent_index"],
                name="execution_index_unique",
                condition=Q(parent_execution__isnull=True),
            ),
            models.UniqueConstraint(
                fields=["parent_execution", "agent_index"],
                name="sub_execution_index_unique",
                condition=Q(parent_execution__isnull=False),
            ),
            models.CheckConstraint(
                name="execution_lease_matches_status",
                condition=Q(status="active", lease_token__isnull=False)
                | (~Q(status="active") & Q(lease_token__isnull=True)),
            ),
            models.CheckConstraint(
                name="execution_completed_at_matches_status",
                condition=Q(status__in=["pending", "active"], completed_at__isnull=True)
                | Q(
                    status__in=["completed", "failed", "timed_out", "cancelled"],
                    completed_at__isnull=False,
                ),
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="execution_newest"),
            models.Index(
                fields=["status", "heartbeat_at"],
                name="execution_open",
                condition=Q(status__in=["pending", "active"]),
            ),
            models.Index(
                fields=["worker_id"], name="execution_worker", condition=Q(status="active")
            ),
            # Few of them all: monitoring counts those that ended lately.
            models.Index(
                fields=["completed_at"], name="execution_taken_over", condition=Q(attempt__gt=1)
            ),
            models.Index(
                fields=["completed_at"],
                name="execution_fell_back",
                condition=~Q(original_llm_provider=""),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.agent_name} ({self.status})"

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL
