"""What came of a session, as every page and the terminal draw it: by what was done and by how its
alerts are now, never by how sure a text is.

`RULES` is the one place that says so, for rows that were read as for the database.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from investigations.models import AgentExecution, AlertSession, ApprovalRequest, Incident

Fact = Literal["open", "undone", "changed", "denied", "expired", "over", "inconclusive"]
"""`open`: something may have been changed, and nothing has confirmed it. `undone`: something was
asked for and not done, maybe as it was `denied` or nobody decided in time (`expired`). `changed`:
something was done. `over`: the alerts are."""


class Rule(NamedTuple):
    """An outcome of a session that has completed: facts that it has, and facts that it has not."""

    outcome: str
    has: frozenset[Fact]
    has_not: frozenset[Fact] = frozenset()


RULES = (
    Rule("unverified_write", frozenset({"open"})),
    Rule("partly_done", frozenset({"undone", "changed"})),
    Rule("not_repaired", frozenset({"undone"}), frozenset({"over"})),
    Rule("change_denied", frozenset({"denied"})),
    Rule("change_expired", frozenset({"expired"})),
    Rule("inconclusive", frozenset({"inconclusive"})),
)
"""The first that holds is the outcome; where none does, the status is."""
OUTCOMES = (
    AlertSession.Status.COMPLETED.value, *(rule.outcome for rule in RULES),
    *(each for each in AlertSession.Status.values if each != AlertSession.Status.COMPLETED),
)  # fmt: skip
"""Everything that a session may be drawn as, once."""

_TOLD: Mapping[str, frozenset[Fact]] = {
    AlertSession.WritesTold.UNVERIFIED: frozenset({"open"}),
    AlertSession.WritesTold.PARTLY: frozenset({"undone", "changed"}),
    AlertSession.WritesTold.UNDONE: frozenset({"undone"}),
    AlertSession.WritesTold.CHANGED: frozenset({"changed"}),
}
"""What the lines above a report say of writes."""
_ASKED: Mapping[str, frozenset[Fact]] = {
    ApprovalRequest.Status.DENIED: frozenset({"undone", "denied"}),
    ApprovalRequest.Status.EXPIRED: frozenset({"undone", "expired"}),
}


def name_outcome(session: AlertSession, facts: AbstractSet[Fact]) -> str:
    """The status to draw of a session, by what is known of its writes."""
    if session.status != AlertSession.Status.COMPLETED:
        return session.status
    own: dict[Fact, bool] = {
        "over": are_over(session),
        "inconclusive": session.is_inconclusive,
    }
    known = facts | {fact for fact, holds in own.items() if holds}
    found = (each for each in RULES if each.has <= known and not each.has_not & known)
    return next((each.outcome for each in found), session.status)


def with_outcome(outcomes: Collection[str]) -> Q:
    """The same of the sessions in the database: those that have one of the outcomes."""
    completed = AlertSession.Status.COMPLETED
    found = Q(status__in=[each for each in outcomes if each != completed])
    earlier = Q(pk__in=())
    for rule in RULES:
        holds = Q(status=completed)
        for fact in sorted(rule.has):
            holds &= _FACTS[fact]
        for fact in sorted(rule.has_not):
            holds &= ~_FACTS[fact]
        if rule.outcome in outcomes:
            found |= holds & ~earlier
        earlier |= holds
    return found | (Q(status=completed) & ~earlier) if completed in outcomes else found


def facts_of_lines(session: AlertSession) -> frozenset[Fact]:
    """What the lines above its report say of writes."""
    return _TOLD.get(session.writes_told, frozenset())


def facts_of_asks(undone: Collection[ApprovalRequest]) -> frozenset[Fact]:
    """What is known by asks that nobody let run."""
    return frozenset[Fact]().union(*(_ASKED[each.status] for each in undone))


def tell_alerts(session: AlertSession) -> str:
    """How the alerts of a session are now: firing, reopened or recovered; empty where nobody tells
    their end."""
    incident: Incident | None = session.incident
    return (incident.told_state or "") if incident is not None else ""


def still_fires(session: AlertSession) -> bool:
    """Whether its alerts do, as far as anybody tells."""
    return tell_alerts(session) in Incident.OPEN


def are_over(session: AlertSession) -> bool:
    """Whether somebody has told that its alerts are."""
    return tell_alerts(session) == Incident.State.RECOVERED


def read_undone_asks(
    session_ids: Collection[uuid.UUID],
) -> Mapping[uuid.UUID, Sequence[ApprovalRequest]]:
    """By session, what agents that have ended asked for and nobody let run."""
    asks = _undone_asks().filter(session_id__in=session_ids).order_by("created_at")
    undone: dict[uuid.UUID, list[ApprovalRequest]] = defaultdict(list)
    for ask in asks.defer("arguments", "preview"):
        undone[ask.session_id].append(ask)
    return undone


def _undone_asks(*statuses: str) -> QuerySet[ApprovalRequest]:
    """What was asked for again and ran is done after all."""
    ran_later = ApprovalRequest.objects.filter(
        session_id=OuterRef("session_id"),
        # The hash is of server, tool, arguments and target: to restart is not to stop.
        argument_hash=OuterRef("argument_hash"),
        used_at__isnull=False,
        created_at__gt=OuterRef("created_at"),
    )
    return ApprovalRequest.objects.filter(
        ~Exists(ran_later),
        status__in=statuses or _ASKED,
        execution__status__in=AgentExecution.TERMINAL,
    )


def _has(fact: Fact) -> Q:
    """The sessions of which a fact of writes is known."""
    told = [word for word, facts in _TOLD.items() if fact in facts]
    asked = [status for status, facts in _ASKED.items() if fact in facts]
    found = Q(writes_told__in=told) if told else Q()
    return found | Q(pk__in=_undone_asks(*asked).values("session_id")) if asked else found


_FACTS: Mapping[Fact, Q] = {
    **{fact: _has(fact) for fact in ("open", "undone", "changed", "denied", "expired")},
    "over": Q(
        incident__kind__in=Incident.FOLLOWED, incident__state=Incident.State.RECOVERED
    ),
    "inconclusive": Q(is_inconclusive=True),
}  # fmt: skip
