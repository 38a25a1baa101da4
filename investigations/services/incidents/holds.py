"""Whether the investigation of an incident may begin: asked when it is queued, and when due."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import Count, Max, Sum

from config.schema.incidents import IncidentsConfig
from investigations.incidents.holding import (
    NOTHING,
    Hold,
    Window,
    hold_for_budget,
    hold_for_flapping,
    hold_for_inhibition,
    hold_for_maintenance,
    may_be_inhibited,
    open_windows,
)
from investigations.models import (
    AlertEpisode,
    Incident,
    LLMInteraction,
    MaintenanceWindow,
    MemberChange,
)

MOST_LOOKED_AT = 500
"""Members of an incident, and alerts that may explain them."""


def judge_hold(
    incident: Incident,
    rules: IncidentsConfig,
    now: datetime,
    members: list[dict[str, str]] | None = None,
) -> Hold:
    """The first reason to wait, the one that says most first; none where it may begin.

    `members` are the labels of the alerts that fire, where they are known already.
    """
    firing = _firing_labels(incident) if members is None else members
    return (
        hold_for_maintenance(firing, windows_now(rules, now))
        or _judge_inhibition(firing, rules, now)
        or _judge_flapping(incident, rules, now)
        or judge_budget(incident.source, rules, now)
        or NOTHING
    )


def judge_budget(source: str, rules: IncidentsConfig, now: datetime) -> Hold:
    budget = rules.budget_of(source)
    if budget is None:
        return NOTHING
    hour = now.replace(minute=0, second=0, microsecond=0)
    used = LLMInteraction.objects.filter(
        session__source=source,
        created_at__gte=hour,
        session__created_at__gt=hour - timedelta(days=1),
    ).aggregate(tokens=Sum("total_tokens"), usd=Sum("estimated_cost_usd"))
    tokens, usd = used["tokens"] or 0, float(used["usd"] or 0)
    return hold_for_budget(budget, tokens, usd, source, now)


def windows_now(rules: IncidentsConfig, now: datetime) -> list[Window]:
    """Those of the configuration and those that people have made."""
    made = MaintenanceWindow.objects.filter(ends_at__gt=now, starts_at__lte=now)
    rows = [Window(row.name, _texts(row.matchers), row.ends_at) for row in made]
    return [*open_windows(rules, now), *rows]


def labels_of(row: AlertEpisode) -> dict[str, str]:
    """What matchers see of an episode."""
    own: Mapping[str, str] = row.labels
    ours = {"source": row.source, "severity": row.severity, "title": row.title}
    return {**own, **{name: value for name, value in ours.items() if value}}


def _judge_inhibition(firing: list[dict[str, str]], rules: IncidentsConfig, now: datetime) -> Hold:
    if not any(may_be_inhibited(labels, rules.inhibit) for labels in firing):
        return NOTHING
    others = AlertEpisode.objects.filter(
        state=AlertEpisode.State.FIRING, is_latest=True, incident__kind__in=Incident.FOLLOWED
    )
    rows = others.defer("body").order_by("-last_seen_at")[:MOST_LOOKED_AT]
    return hold_for_inhibition(firing, map(labels_of, rows), rules.inhibit, now)


def _firing_labels(incident: Incident) -> list[dict[str, str]]:
    members = AlertEpisode.objects.filter(
        incident=incident, state=AlertEpisode.State.FIRING, is_latest=True
    )
    return [labels_of(row) for row in members.defer("body")[:MOST_LOOKED_AT]]


def _judge_flapping(incident: Incident, rules: IncidentsConfig, now: datetime) -> Hold:
    """By the member that goes and comes back most often; that many go at once is no flapping."""
    recent = MemberChange.objects.filter(
        incident=incident,
        at__gt=now - rules.flapping.within,
        kind__in=(MemberChange.Kind.RESOLVED, MemberChange.Kind.REOPENED),
    )
    busiest = (
        recent.order_by()
        .values("episode__key")
        .annotate(changes=Count("id"), last=Max("at"))
        .order_by("-changes")
        .first()
    )
    if busiest is None:
        return NOTHING
    return hold_for_flapping(busiest["changes"], busiest["last"], rules.flapping)


def _texts(matchers: object) -> list[str]:
    return [str(each) for each in matchers] if isinstance(matchers, list) else []
