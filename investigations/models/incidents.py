"""What alert sources say, and what belongs together of it."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField
from investigations.models.keys import cascading_key

KEY_LENGTH = 500


class Incident(models.Model):
    """Alerts that belong together, and at most one investigation of them that waits or runs.

    FIRING -> RECOVERED when the last member is over, RECOVERED -> REOPENED when one fires again in
    time. While it `takes_members`, what fires with its group key joins it; a later incident of the
    same key takes that over and names it as `previous`. Changed only in
    `investigations.services.incidents`, under the advisory lock of its group.
    """

    class State(models.TextChoices):
        FIRING = "firing", "Firing"
        RECOVERED = "recovered", "Recovered"
        REOPENED = "reopened", "Reopened"

    class Kind(models.TextChoices):
        ALERT = "alert", "Alert"
        """A plain alert, which was asked to be investigated by itself: nothing joins it, and nobody
        tells that it is over."""
        GROUP = "group", "Group"
        STORM = "storm", "Storm"

    OPEN: ClassVar = (State.FIRING, State.REOPENED)
    FOLLOWED: ClassVar = (Kind.GROUP, Kind.STORM)
    """Those whose alerts come and go."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.CharField(max_length=100)
    group_key = models.CharField(max_length=KEY_LENGTH)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.GROUP)
    title = models.CharField(max_length=300, blank=True)
    severity = models.CharField(max_length=20, default="unknown")
    state = models.CharField(max_length=20, choices=State, default=State.FIRING)
    takes_members = models.BooleanField(default=True)

    team = models.CharField(max_length=100, blank=True)
    alert_type = models.CharField(max_length=200, blank=True)
    rule = models.CharField(max_length=200, blank=True, help_text="The route that it took.")

    member_count = models.PositiveIntegerField(default=0)
    firing_count = models.PositiveIntegerField(default=0)

    opened_at = models.DateTimeField(db_default=Now())
    last_joined_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())
    recovered_at = models.DateTimeField(null=True, blank=True)
    reopened_at = models.DateTimeField(null=True, blank=True)

    previous = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="later",
        null=True,
        blank=True,
        help_text="The incident of the same group before this one.",
    )
    absorbed_by = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="absorbed",
        null=True,
        blank=True,
        help_text="The storm that took its members.",
    )

    class Meta:
        ordering = ["-opened_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "group_key"],
                condition=Q(takes_members=True),
                name="incident_of_group",
            ),
            models.CheckConstraint(
                name="incident_state_known",
                condition=Q(state__in=["firing", "recovered", "reopened"]),
            ),
            models.CheckConstraint(
                name="incident_recovered_has_moment",
                condition=~Q(state="recovered") | Q(recovered_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["-opened_at", "-id"], name="incident_newest"),
            models.Index(fields=["source", "-opened_at", "-id"], name="incident_by_source"),
            models.Index(
                fields=["source", "opened_at"],
                name="incident_followed",
                condition=Q(kind__in=["group", "storm"]),
            ),
            models.Index(fields=["state", "-opened_at", "-id"], name="incident_by_state"),
            models.Index(fields=["severity", "-opened_at", "-id"], name="incident_by_severity"),
            models.Index(
                fields=["previous"], name="incident_previous", condition=Q(previous__isnull=False)
            ),
            models.Index(
                fields=["absorbed_by"],
                name="incident_absorbed",
                condition=Q(absorbed_by__isnull=False),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.title or self.group_key} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def is_followed(self) -> bool:
        return self.kind in self.FOLLOWED

    @property
    def told_state(self) -> str | None:
        """None of a plain alert: nobody tells whether it still fires."""
        return self.state if self.is_followed else None

    @property
    def told_firing_count(self) -> int | None:
        """How many members fire; None where nobody tells."""
        return self.firing_count if self.is_followed else None


class AlertEpisode(models.Model):
    """One alert from when it began to fire until it was over; a key has one after the other.

    `is_latest` marks the newest of its key. One without an incident was over before anybody heard
    of it, or was kept back by a rule.
    """

    class State(models.TextChoices):
        FIRING = "firing", "Firing"
        RESOLVED = "resolved", "Resolved"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    incident = cascading_key(
        "investigations.Incident", related_name="members", null=True, blank=True, db_index=False
    )
    source = models.CharField(max_length=100)
    key = models.CharField(max_length=KEY_LENGTH)
    about = models.CharField(
        max_length=KEY_LENGTH, blank=True, db_default="",
        help_text="What stays from one post to the next where each has a key of its own.",
    )  # fmt: skip
    is_latest = models.BooleanField(default=True)
    state = models.CharField(max_length=20, choices=State, default=State.FIRING)
    title = models.CharField(max_length=300, blank=True)
    severity = models.CharField(max_length=20, default="unknown")
    labels = ForeignJSONField(default=dict, blank=True)
    link = models.TextField(blank=True)
    body = models.TextField(blank=True, help_text="As it was sent last: masked, and cut.")

    starts_at = models.DateTimeField(null=True, blank=True, help_text="As the source tells it.")
    ended_at = models.DateTimeField(null=True, blank=True)
    first_seen_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())
    count = models.PositiveIntegerField(default=1, help_text="Posts that told of it.")

    class Meta:
        ordering = ["first_seen_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "key"], condition=Q(is_latest=True), name="episode_latest"
            ),
            models.CheckConstraint(
                name="episode_state_known", condition=Q(state__in=["firing", "resolved"])
            ),
        ]
        indexes = [
            models.Index(fields=["source", "key", "-first_seen_at"], name="episode_of_key"),
            models.Index(
                fields=["source", "about"],
                name="episode_about",
                condition=Q(is_latest=True) & ~Q(about=""),
            ),
            models.Index(fields=["incident", "first_seen_at", "id"], name="episode_of_incident"),
            models.Index(fields=["-last_seen_at", "-id"], name="episode_newest"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.title or self.key} ({self.state})"


class MemberChange(models.Model):
    """A member of an incident came, went or came back. `id` orders them; nothing is changed."""

    class Kind(models.TextChoices):
        JOINED = "joined", "Joined"
        RESOLVED = "resolved", "Resolved"
        REOPENED = "reopened", "Fires again"

    id = models.BigAutoField(primary_key=True)
    incident = cascading_key("investigations.Incident", related_name="changes", db_index=False)
    episode = cascading_key("investigations.AlertEpisode", related_name="changes", db_index=False)
    kind = models.CharField(max_length=20, choices=Kind)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["incident", "id"], name="change_of_incident"),
            models.Index(fields=["episode", "at"], name="change_of_episode"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.kind} at {self.at:%Y-%m-%d %H:%M:%S}"


class Delivery(models.Model):
    """One post of an alert source, and what became of it and why."""

    class Outcome(models.TextChoices):
        STARTED = "started", "Started"
        HELD = "held", "Held"
        JOINED = "joined", "Joined"
        DUPLICATE = "duplicate", "Duplicate"
        RESOLVED = "resolved", "Resolved"
        MAINTENANCE = "maintenance", "In maintenance"
        INHIBITED = "inhibited", "Inhibited"
        OVER_BUDGET = "over_budget", "Over budget"
        IGNORED = "ignored", "Ignored"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.CharField(max_length=100)
    received_at = models.DateTimeField(db_default=Now())
    author = models.CharField(max_length=200, blank=True)
    delivery_id = models.CharField(max_length=KEY_LENGTH, blank=True, help_text="The sender's own.")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the body as JSON.")
    body = models.TextField(blank=True, help_text="Masked, and cut.")
    outcome = models.CharField(max_length=20, choices=Outcome)
    why = models.TextField(blank=True)
    alerts = ForeignJSONField(
        default=list, blank=True, rows={"key": str, "outcome": str, "title": str}
    )
    alert_count = models.PositiveIntegerField(default=0)
    session_id = models.UUIDField(null=True, blank=True)
    incident_id = models.UUIDField(null=True, blank=True)

    class Meta:
        ordering = ["-received_at", "-id"]
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["-received_at", "-id"], name="delivery_newest"),
            models.Index(fields=["source", "-received_at", "-id"], name="delivery_by_source"),
            models.Index(fields=["outcome", "-received_at", "-id"], name="delivery_by_outcome"),
            models.Index(fields=["source", "sha256", "-received_at"], name="delivery_by_hash"),
            models.Index(
                fields=["source", "delivery_id", "-received_at"],
                name="delivery_by_sender",
                condition=~Q(delivery_id=""),
            ),
            models.Index(
                fields=["incident_id", "-received_at"],
                name="delivery_of_incident",
                condition=Q(incident_id__isnull=False),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.source}: {self.outcome}"


class MaintenanceWindow(models.Model):
    """A time in which a person expects alerts; those of the configuration stand in no table."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    matchers = models.JSONField(help_text="As texts; each must match. None matches every alert.")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    author = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_by = models.CharField(max_length=200, blank=True, help_text="Who ended it early.")

    class Meta:
        ordering = ["-ends_at", "-id"]
        constraints = [
            models.CheckConstraint(
                name="window_has_length", condition=Q(ends_at__gte=models.F("starts_at"))
            ),
        ]
        indexes = [models.Index(fields=["-ends_at", "-id"], name="window_by_end")]

    @override
    def __str__(self) -> str:
        return f"{self.name} until {self.ends_at:%Y-%m-%d %H:%M} UTC"
