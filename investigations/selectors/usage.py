"""What the model calls of a time took, by model, alert type, chain and session."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db.models import Count, F, FilteredRelation, Q, QuerySet, Sum

from investigations.models import AlertSession, LLMInteraction
from investigations.selectors.costs import Costs, cost_sums, costs_of
from investigations.selectors.sessions import visible_sessions

TOP_SESSIONS = 20

RankBy = Literal["cost", "tokens"]


@dataclass(frozen=True)
class UsageFilter:
    """Sessions created from `start` until just before `end`; an empty text means all."""

    start: datetime
    end: datetime
    alert_type: str = ""
    chain_id: str = ""


@dataclass(frozen=True)
class Share:
    """What one model, alert type or chain took."""

    name: str
    sessions: int
    costs: Costs
    unpriced_tokens: int

    @property
    def average_cost_usd(self) -> float | None:
        """For each session; None where nothing has a price."""
        known = self.costs.estimated_cost_usd
        return known / self.sessions if known is not None and self.sessions else None

    @property
    def is_priced(self) -> bool:
        return self.costs.priced > 0


@dataclass(frozen=True)
class SessionShare:
    session: AlertSession
    costs: Costs


@dataclass(frozen=True)
class Usage:
    totals: Share
    by_model: list[Share]
    by_alert_type: list[Share]
    by_chain: list[Share]
    top_sessions: list[SessionShare]


def sum_usage(wanted: UsageFilter, *, rank_by: RankBy) -> Usage:
    """Add up the window, the largest share first. Deleted sessions count for nothing."""
    sessions = _sessions_of(wanted)
    # A call comes after its session began: said here too, only calls since then are read.
    calls = LLMInteraction.objects.filter(session__in=sessions, created_at__gte=wanted.start)
    calls = calls.order_by()
    called = sessions.annotate(
        calls_made=FilteredRelation(
            "llm_interactions", condition=Q(llm_interactions__created_at__gte=wanted.start)
        )
    )
    by_alert_type = _by_session_field(called, "alert_type")
    return Usage(
        totals=_add_up(by_alert_type),
        by_model=_rank(_by_model(calls), rank_by),
        by_alert_type=_rank(by_alert_type, rank_by),
        by_chain=_rank(_by_session_field(called, "chain_id"), rank_by),
        top_sessions=_top_sessions(calls, rank_by),
    )


def _sessions_of(wanted: UsageFilter) -> QuerySet[AlertSession]:
    sessions = visible_sessions().filter(created_at__gte=wanted.start, created_at__lt=wanted.end)
    if wanted.alert_type:
        sessions = sessions.filter(alert_type=wanted.alert_type)
    if wanted.chain_id:
        sessions = sessions.filter(chain_id=wanted.chain_id)
    return sessions.order_by()


def _sums(calls: str = "") -> Mapping[str, Any]:
    """Aggregates over model calls, which are reached by the prefix `calls`."""
    unpriced = Q(**{f"{calls}estimated_cost_usd__isnull": True})
    unpriced_sum = Sum(f"{calls}total_tokens", filter=unpriced, default=0)
    return {**cost_sums(calls), "unpriced_sum": unpriced_sum}


def _by_model(calls: QuerySet[LLMInteraction]) -> list[Share]:
    rows = calls.values("model_name").annotate(
        sessions=Count("session_id", distinct=True), **_sums()
    )
    return [_share(row, "model_name") for row in rows]


def _by_session_field(sessions: QuerySet[AlertSession], name: str) -> list[Share]:
    """Sessions without a call count as well."""
    rows = sessions.values(name).annotate(
        sessions=Count("pk", distinct=True), **_sums("calls_made__")
    )
    return [_share(row, name) for row in rows]


def _share(row: Mapping[str, Any], name: str) -> Share:
    return Share(row[name], row["sessions"], costs_of(row), row["unpriced_sum"])


def _add_up(shares: Sequence[Share]) -> Share:
    return Share(
        name="",
        sessions=sum(share.sessions for share in shares),
        costs=sum((share.costs for share in shares), Costs()),
        unpriced_tokens=sum(share.unpriced_tokens for share in shares),
    )


def _rank(shares: Sequence[Share], rank_by: RankBy) -> list[Share]:
    def weight(share: Share) -> tuple[float, int]:
        cost = share.costs.estimated_cost_usd or 0.0
        return (cost if rank_by == "cost" else 0.0, share.costs.total_tokens)

    return sorted(sorted(shares, key=lambda share: share.name), key=weight, reverse=True)


def _top_sessions(calls: QuerySet[LLMInteraction], rank_by: RankBy) -> list[SessionShare]:
    first = F("cost").desc(nulls_last=True) if rank_by == "cost" else F("total_sum").desc()
    rows = list(
        calls.values("session_id")
        .annotate(**_sums())
        .order_by(first, "-total_sum", "session_id")[:TOP_SESSIONS]
    )
    sessions = _read_sessions([row["session_id"] for row in rows])
    # One may have been removed between the two queries.
    return [
        SessionShare(sessions[row["session_id"]], costs_of(row))
        for row in rows
        if row["session_id"] in sessions
    ]


def _read_sessions(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, AlertSession]:
    fields = ("id", "alert_type", "chain_id", "created_at", "title")
    return {each.pk: each for each in visible_sessions().only(*fields).filter(pk__in=ids)}
