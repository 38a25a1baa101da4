"""The audit trail by who, what and whom, each found by an index: a trail only grows."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from investigations.models import AuditEvent


def list_actions() -> list[str]:
    """Every action that was ever taken."""
    return list(_distinct("action"))


def find_acts(acts: QuerySet[AuditEvent], text: str) -> QuerySet[AuditEvent]:
    """Those of this actor, of this action, or done to what has this id."""
    known = list(_distinct("target_type"))
    is_target = Q(target_type__in=known, target_id=text)
    return acts.filter(Q(actor=text) | Q(action=text) | is_target)


def _distinct(field: str) -> Iterator[str]:
    """One look into the index for each value, however many rows have it."""
    rows = AuditEvent.objects.order_by(field).values_list(field, flat=True)
    value = rows.first()
    while value is not None:
        yield value
        value = rows.filter(**{f"{field}__gt": value}).first()
