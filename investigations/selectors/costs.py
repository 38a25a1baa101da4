"""Tokens, money and counts of model calls, summed for many sessions or executions at once."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from investigations.models import LLMInteraction


@dataclass(frozen=True)
class Costs:
    """What model calls took. `unpriced` of them have no price, which is not the same as free."""

    calls: int = 0
    priced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    estimated_cost_usd: float | None = None
    counted: int = 0
    """How many of the calls told their tokens."""

    @property
    def is_uncounted(self) -> bool:
        """No call told its tokens: they are not known, which is not the same as none."""
        return self.calls > 0 and not self.counted

    @property
    def is_scripted(self) -> bool:
        """Each call told that it took nothing: no model was asked, its answers were scripted."""
        return 0 < self.calls == self.counted and not self.total_tokens

    @property
    def unpriced(self) -> int:
        return self.calls - self.priced

    @property
    def priced_usd(self) -> float:
        """What the priced calls cost; zero where none of them has a price."""
        return self.estimated_cost_usd or 0.0

    @property
    def completeness(self) -> str:
        if not self.priced:
            return "none"
        return "partial" if self.unpriced else "complete"

    def __add__(self, other: "Costs") -> "Costs":
        known = [c.estimated_cost_usd for c in (self, other) if c.estimated_cost_usd is not None]
        return Costs(
            calls=self.calls + other.calls,
            priced=self.priced + other.priced,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            estimated_cost_usd=sum(known) if known else None,
            counted=self.counted + other.counted,
        )


def cost_sums(calls: str = "") -> dict[str, Any]:
    """Aggregates over model calls, which are reached by the prefix `calls`; see `costs_of`."""
    return {
        "calls": Count(f"{calls}pk"),
        "priced": Count(f"{calls}estimated_cost_usd"),
        "counted": Count(f"{calls}total_tokens"),
        "input_sum": Sum(f"{calls}input_tokens", default=0),
        "output_sum": Sum(f"{calls}output_tokens", default=0),
        "total_sum": Sum(f"{calls}total_tokens", default=0),
        "cost": Sum(f"{calls}estimated_cost_usd"),
    }


def costs_of(row: Mapping[str, Any]) -> Costs:
    """From a row with the aggregates of `cost_sums`."""
    return Costs(
        calls=row["calls"],
        priced=row["priced"],
        input_tokens=row["input_sum"],
        output_tokens=row["output_sum"],
        total_tokens=row["total_sum"],
        estimated_cost_usd=row["cost"],
        counted=row["counted"],
    )


def costs_by_session(session_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Costs]:
    return _sum_by("session_id", session_ids)


def costs_of_session(session_id: uuid.UUID) -> Costs:
    return costs_by_session([session_id]).get(session_id, Costs())


def costs_by_execution(execution_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Costs]:
    return _sum_by("execution_id", execution_ids)


def _sum_by(key: str, ids: Collection[uuid.UUID]) -> dict[Any, Costs]:
    rows = (
        LLMInteraction.objects.filter(**{f"{key}__in": ids})
        .order_by()
        .values(key)
        .annotate(**cost_sums())
    )
    return {row[key]: costs_of(row) for row in rows}
