"""The audit trail by who, what and whom, each found by an index: a trail only grows."""

from django.db.models import Q, QuerySet

from investigations.models import AuditEvent
from investigations.selectors.distinct import distinct_values


def list_actions() -> list[str]:
    """Every action that was ever taken."""
    return distinct_values(AuditEvent._meta.db_table, "action")


def find_acts(acts: QuerySet[AuditEvent], text: str) -> QuerySet[AuditEvent]:
    """Those of this actor, of this action, or done to what has this id."""
    known = distinct_values(AuditEvent._meta.db_table, "target_type")
    is_target = Q(target_type__in=known, target_id=text)
    return acts.filter(Q(actor=text) | Q(action=text) | is_target)
