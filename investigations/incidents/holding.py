"""What has to wait, until when, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from config.matchers import MatcherError, all_match
from config.schema.incidents import BudgetConfig, FlappingConfig, IncidentsConfig, InhibitionConfig

Reason = Literal["", "group_wait", "maintenance", "inhibited", "over_budget", "flapping"]
RECHECK = timedelta(seconds=30)
"""After how long it is looked again whether what explains an alert still fires."""


@dataclass(frozen=True)
class Hold:
    """Why an investigation does not begin yet; without a reason it does."""

    reason: Reason = ""
    until: datetime | None = None
    words: str = ""

    def __bool__(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class Window:
    """A maintenance window that is open now."""

    name: str
    matchers: Sequence[str]
    closes_at: datetime


NOTHING = Hold()


def wait_for_group(wait: timedelta, now: datetime) -> Hold:
    if wait <= timedelta(0):
        return NOTHING
    seconds = f"{wait.total_seconds():g} s"
    return Hold("group_wait", now + wait, f"waits {seconds} for more alerts of its group")


def open_windows(rules: IncidentsConfig, now: datetime) -> list[Window]:
    """Those of the configuration."""
    found = [(each, each.closes_at(now)) for each in rules.maintenance]
    return [Window(each.name, each.match, closes) for each, closes in found if closes]


def hold_for_maintenance(members: Sequence[Mapping[str, str]], windows: Sequence[Window]) -> Hold:
    """Held where every member that fires lies in a window; until the first of those closes."""
    closing: list[Window] = []
    for labels in members:
        fitting = [each for each in windows if _fits(each.matchers, labels)]
        if not fitting:
            return NOTHING
        closing.append(max(fitting, key=lambda each: each.closes_at))
    if not closing:
        return NOTHING
    first = min(closing, key=lambda each: each.closes_at)
    return Hold("maintenance", first.closes_at, f"in maintenance: {first.name}"[:200])


def hold_for_inhibition(
    members: Sequence[Mapping[str, str]],
    firing: Iterable[Mapping[str, str]],
    rules: Sequence[InhibitionConfig],
    now: datetime,
) -> Hold:
    """Held where every member that fires is explained by another alert that fires.

    An alert that matches both sides of a rule is not explained by others of its kind.
    """
    sources = list(firing)
    names: list[str] = []
    for labels in members:
        name = _find_explanation(labels, sources, rules)
        if not name:
            return NOTHING
        names.append(name)
    if not names:
        return NOTHING
    return Hold("inhibited", now + RECHECK, f"inhibited while {names[0]} fires"[:200])


def may_be_inhibited(labels: Mapping[str, str], rules: Sequence[InhibitionConfig]) -> bool:
    return any(_fits(rule.target_match, labels) for rule in rules)


def _find_explanation(
    labels: Mapping[str, str],
    firing: Sequence[Mapping[str, str]],
    rules: Sequence[InhibitionConfig],
) -> str:
    for rule in rules:
        if not _fits(rule.target_match, labels) or _fits(rule.source_match, labels):
            continue
        for other in firing:
            is_alike = all(labels.get(name, "") == other.get(name, "") for name in rule.equal)
            if is_alike and _fits(rule.source_match, other):
                return other.get("alertname") or other.get("title") or "another alert"
    return ""


def hold_for_budget(
    budget: BudgetConfig | None, tokens: int, usd: float, source: str, now: datetime
) -> Hold:
    """Held until the next hour of the clock where this hour's budget is used up."""
    if budget is None:
        return NOTHING
    until = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    if budget.tokens_per_hour is not None and tokens >= budget.tokens_per_hour:
        told = f"{tokens:,} of {budget.tokens_per_hour:,} tokens"
    elif budget.usd_per_hour is not None and usd >= budget.usd_per_hour:
        told = f"${usd:,.2f} of ${budget.usd_per_hour:,.2f}"
    else:
        return NOTHING
    return Hold("over_budget", until, f"over budget: {source} used {told} in this hour"[:200])


def hold_for_flapping(changes: int, last: datetime, rule: FlappingConfig) -> Hold:
    """Held where a member has gone and come back too often lately, from its last change on."""
    if changes < rule.changes:
        return NOTHING
    minutes = f"{rule.within.total_seconds() / 60:g} min"
    return Hold("flapping", last + rule.hold, f"flapping: {changes} changes in {minutes}")


def _fits(matchers: Sequence[str], labels: Mapping[str, str]) -> bool:
    try:
        return all_match(matchers, labels)
    except MatcherError:
        return False
