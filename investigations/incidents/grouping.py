"""Which alerts belong together, and whose they are."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Literal

from config.matchers import all_match
from config.schema.incidents import ALONE, IncidentsConfig, RouteConfig
from investigations.sources.reading import AlertReading

GROUPING_SOURCES = frozenset(
    {"alertmanager", "grafana", "pagerduty", "opsgenie", "jira_sm", "newrelic", "dynatrace"}
)
"""They send groups, or incidents with a life of their own: what they keep apart stays apart."""
STORM_KEY = "(storm)"
_KEY_LIMIT = 400

Fit = Literal["joins", "reopens", "opens"]


@dataclass(frozen=True)
class Placing:
    """Where an alert belongs: its group, and what the configuration says of such alerts."""

    group_key: str
    alert_type: str = ""
    team: str = ""
    rule: str = ""
    wait: timedelta = timedelta(0)


def labels_for_matching(alert: AlertReading, source: str) -> dict[str, str]:
    """What matchers see of an alert: its labels, and in our words what every alert may have."""
    ours = {
        "source": source,
        "severity": alert.severity,
        "service": alert.service,
        "cluster": alert.cluster,
        "namespace": alert.namespace,
        "title": alert.title,
    }
    return {**alert.labels, **{name: value for name, value in ours.items() if value}}


def place(alert: AlertReading, source: str, post_group: str, rules: IncidentsConfig) -> Placing:
    """The first route that fits, and the group: the source's own where it has one."""
    labels = labels_for_matching(alert, source)
    number, route = _find_route(labels, rules.routes)
    group_by = rules.group_by if route.group_by is None else route.group_by
    is_regrouped = source in rules.regroup or route.group_by is not None
    own = "" if is_regrouped else _own_group(alert, source, post_group)
    wait = rules.group_wait if route.group_wait is None else route.group_wait
    return Placing(
        group_key=own or _group_of(labels, alert.key, group_by),
        alert_type=route.alert_type,
        team=labels.get(route.team_label, "") or route.team,
        rule=_name_route(number, route),
        wait=timedelta(0) if alert.severity in rules.no_wait else wait,
    )


def fit_incident(
    *,
    is_open: bool,
    last_joined_at: datetime,
    recovered_at: datetime | None,
    now: datetime,
    rules: IncidentsConfig,
) -> Fit:
    """Whether an incident takes an alert that begins to fire and was no member of it."""
    if is_open:
        return "joins" if now - last_joined_at <= rules.group_window else "opens"
    since = recovered_at or last_joined_at
    return "reopens" if now - since <= rules.reopen_window else "opens"


def _find_route(
    labels: Mapping[str, str], routes: Sequence[RouteConfig]
) -> tuple[int, RouteConfig]:
    for number, route in enumerate(routes, start=1):
        if all_match(route.match, labels):
            return number, route
    return 0, _no_route()


@cache
def _no_route() -> RouteConfig:
    """What counts where none fits."""
    return RouteConfig()


def _name_route(number: int, route: RouteConfig) -> str:
    if not number:
        return ""
    told = ", ".join(route.match) or "every alert"
    return f"route {number}: {told}"[:200]


def _own_group(alert: AlertReading, source: str, post_group: str) -> str:
    if source not in GROUPING_SOURCES:
        return ""
    return _bound(post_group or alert.key)


def _group_of(labels: Mapping[str, str], key: str, group_by: Sequence[str]) -> str:
    if ALONE in group_by:
        return _bound(f"alert {key}")
    if not group_by:
        return "all"
    if not labels.get(group_by[0]):
        return _bound(f"alert {key}")
    pairs = [(name, labels[name]) for name in sorted(group_by) if labels.get(name)]
    return _bound(
        " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in pairs)
    )


def _bound(key: str) -> str:
    if len(key) <= _KEY_LIMIT:
        return key
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"
