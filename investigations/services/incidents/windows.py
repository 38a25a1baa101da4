"""Maintenance windows that people open and end."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from config.matchers import MatcherError, parse_matchers
from investigations.doorbell import publish_and_ring
from investigations.models import AlertSession, MaintenanceWindow
from investigations.services.audit import record_audit
from investigations.services.texts import refuse_unstorable
from tarsy.errors import Conflict, InvalidInput, NotFound

LONGEST = timedelta(days=90)
MOST_MATCHERS = 20
LONGEST_NAME = 200


@dataclass(frozen=True)
class WindowRequest:
    """A window that somebody asks for, as it was sent."""

    name: str
    matchers: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime


def open_window(wanted: WindowRequest, actor: str) -> MaintenanceWindow:
    """Raises InvalidInput naming the field that is wrong."""
    _check(wanted)
    with transaction.atomic():
        window = MaintenanceWindow.objects.create(
            name=wanted.name.strip(),
            matchers=list(wanted.matchers),
            starts_at=wanted.starts_at,
            ends_at=wanted.ends_at,
            author=actor[:200],
        )
        record_audit(
            actor, "maintenance.open", "maintenance", window.pk,
            name=window.name, matchers=window.matchers, ends_at=window.ends_at.isoformat(),
        )  # fmt: skip
    return window


def end_window(window_id: uuid.UUID, actor: str) -> MaintenanceWindow:
    """End a window now, and let what it holds be looked at again at once.

    Raises NotFound, and Conflict where it is over.
    """
    with transaction.atomic():
        windows = MaintenanceWindow.objects.select_for_update()
        window = windows.filter(pk=window_id).first()
        if window is None:
            raise NotFound("maintenance window not found")
        now = timezone.now()
        if window.ends_at <= now:
            raise Conflict("the maintenance window is over")
        window.starts_at, window.ends_at = min(window.starts_at, now), now
        window.ended_by = actor[:200]
        window.save(update_fields=["starts_at", "ends_at", "ended_by"])
        record_audit(actor, "maintenance.end", "maintenance", window.pk, name=window.name)
        # Whoever is held by another window is found to be, and waits on.
        AlertSession.objects.filter(
            status=AlertSession.Status.PENDING, held_for__startswith="in maintenance"
        ).update(not_before=Now())
        transaction.on_commit(lambda: publish_and_ring([]), robust=True)
    return window


def _check(wanted: WindowRequest) -> None:
    refuse_unstorable("name", wanted.name)
    if not wanted.name.strip():
        raise InvalidInput("name", "must not be empty")
    if len(wanted.name) > LONGEST_NAME:
        raise InvalidInput("name", f"must not have more than {LONGEST_NAME} characters")
    if len(wanted.matchers) > MOST_MATCHERS:
        raise InvalidInput("matchers", f"must not be more than {MOST_MATCHERS}")
    for number, text in enumerate(wanted.matchers):
        refuse_unstorable(f"matchers[{number}]", text)
        try:
            parse_matchers(text)
        except MatcherError as error:
            raise InvalidInput(f"matchers[{number}]", str(error)) from error
    if wanted.ends_at <= max(wanted.starts_at, timezone.now()):
        raise InvalidInput("ends_at", "must be later than now and than the start")
    if wanted.ends_at - wanted.starts_at > LONGEST:
        raise InvalidInput("ends_at", f"must be within {LONGEST.days} days of the start")
