"""Who may send posts of alert sources, and whom nobody let in lately."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Sum
from django.utils import timezone

from config import environment, get_config
from config.senders import SUBMIT_TOKEN, SenderRule, is_open_to_all, list_rules
from investigations.models import RefusedPosts

LOOKED_BACK = timedelta(hours=24)
_MOST_ROWS = 50


@dataclass(frozen=True)
class Refusals:
    """The posts of one source that were refused for one reason within the last day."""

    source: str
    code: str
    count: int
    last_at: datetime
    last_address: str
    last_reason: str


@dataclass(frozen=True)
class SenderState:
    """`others` says what holds for every source without a rule of its own."""

    rules: Sequence[SenderRule]
    others: str
    refusals: Sequence[Refusals]

    @property
    def closed(self) -> Sequence[SenderRule]:
        """The rules that nobody can meet, for want of a variable here."""
        return [rule for rule in self.rules if rule.is_closed]


def read_senders() -> SenderState:
    environ = environment()
    others = SUBMIT_TOKEN
    if is_open_to_all(environ):
        others = f"{others}, or nothing from this machine (TARSY_AUTH is none)"
    rules = tuple(list_rules(get_config().alert_senders, environ))
    return SenderState(rules, others, _list_refusals())


def _list_refusals() -> list[Refusals]:
    since = timezone.now() - LOOKED_BACK
    rows = RefusedPosts.objects.filter(hour__gte=since)
    totals = (
        rows.values("source", "code")
        .annotate(total=Sum("count"), latest=Max("last_at"))
        .order_by("-latest")[:_MOST_ROWS]
    )
    latest = rows.order_by("source", "code", "-hour").distinct("source", "code")
    last = {(row.source, row.code): row for row in latest}
    return [
        Refusals(
            source=each["source"],
            code=each["code"],
            count=each["total"],
            last_at=each["latest"],
            last_address=last[each["source"], each["code"]].last_address,
            last_reason=last[each["source"], each["code"]].last_reason,
        )
        for each in totals
    ]
