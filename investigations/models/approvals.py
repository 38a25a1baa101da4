"""What a person must decide before it runs."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField, Types
from investigations.models.keys import cascading_key

ROW_TYPES: Types = {"kind": str, "text": str, "old": int, "new": int, "note": str}
PREVIEW_TYPES: Types = {
    "action": str,
    "change": {"added": int, "asked_path": str, "exists": bool, "left_out": int, "path": str,
               "removed": int, "rows": [ROW_TYPES], "size_after": int, "state": str, "facts": dict},
    "current_state": str, "does": str, "found_by": int, "masked": int, "origins": list,
    "risk": str, "undo": str, "verification": list,
}  # fmt: skip


class ApprovalRequest(models.Model):
    """A write the model proposed, bound to exactly these arguments.

    PENDING -> APPROVED | DENIED | EXPIRED, once, and only in `services.approvals`. `argument_hash`
    is a SHA-256 over server, tool, definition, canonical arguments and target; an approval is used
    at most once (`used_at`). `tool_number` says which call it is, as `tool_call_id` may come twice.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Needs approval"
        APPROVED = "approved", "Approved"
        DENIED = "denied", "Denied"
        EXPIRED = "expired", "Expired"

    TERMINAL: ClassVar = (Status.APPROVED, Status.DENIED, Status.EXPIRED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="approvals")
    execution = cascading_key("investigations.AgentExecution", related_name="approvals")
    tool_call_id = models.TextField()
    tool_number = models.PositiveIntegerField(null=True, blank=True)
    server_name = models.CharField(max_length=200)
    tool_name = models.CharField(max_length=200)
    arguments = ForeignJSONField(default=dict, help_text="Masked; the hash is of what will run.")
    target = models.CharField(max_length=500, blank=True)
    argument_hash = models.CharField(max_length=64)
    reason = models.TextField(blank=True, help_text="In the agent's words.")
    risk = models.CharField(max_length=20, blank=True)
    preview = ForeignJSONField(default=dict, blank=True, types=PREVIEW_TYPES)

    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    decided_by = models.CharField(max_length=200, blank=True)
    decision_reason = models.TextField(blank=True)

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        permissions = [("decide_approval", "Can approve or deny a write")]
        constraints = [
            models.CheckConstraint(
                name="approval_decided_at_matches_status",
                condition=Q(status="pending", decided_at__isnull=True)
                | (~Q(status="pending") & Q(decided_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="approval_used_only_when_approved",
                condition=Q(used_at__isnull=True) | Q(status="approved"),
            ),
            models.UniqueConstraint(
                fields=["execution", "argument_hash"],
                name="approval_pending_unique",
                condition=Q(status="pending"),
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"], name="approval_waiting", condition=Q(status="pending")
            ),
            models.Index(fields=["-created_at", "-id"], name="approval_newest"),
            models.Index(
                fields=["session"],
                name="approval_undone",
                condition=Q(status__in=["denied", "expired"]),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.server_name}.{self.tool_name} ({self.status})"

    @property
    def is_pending(self) -> bool:
        return self.status == self.Status.PENDING
