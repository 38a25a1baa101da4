"""`incidents`: which alerts belong together, when an investigation of them begins, and whose."""

from datetime import datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from config.matchers import MatcherError, parse_matchers
from config.schema.fields import (
    Block,
    Count,
    Duration,
    FilledText,
    Limit,
    List,
    Moment,
    PositiveDuration,
    Rate,
    Table,
    Text,
    nothing,
    one_of,
)
from config.tree import Scalar

ALONE = "..."
"""Among `group_by`: every alert is an incident of its own."""

Severity = Annotated[Literal["critical", "high", "warning", "info", "unknown"], one_of()]
Day = Annotated[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], one_of()]
NotNegative = Annotated[Duration, Field(ge=timedelta(0))]


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{message}", {"message": message})


def _as_matcher(value: object) -> object:
    try:
        parse_matchers(str(value) if isinstance(value, Scalar | str) else "")
    except MatcherError as error:
        raise _wrong(str(error)) from None
    return value


def _as_clock(value: object) -> object:
    text = value.text if isinstance(value, Scalar) else str(value)
    hour, _, minute = text.partition(":")
    is_clock = hour.isdigit() and minute.isdigit() and len(hour) <= 2 and len(minute) == 2
    if not is_clock or int(hour) > 24 or int(minute) > 59 or (int(hour) == 24 and int(minute)):
        raise _wrong('must be a time of day such as "22:00"')
    return value


def _as_zone(value: object) -> object:
    text = value.text if isinstance(value, Scalar) else str(value)
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise _wrong("must be a time zone such as Europe/Berlin or UTC") from None
    return value


MatcherText = Annotated[FilledText, BeforeValidator(_as_matcher)]
Matchers = List[MatcherText]
Clock = Annotated[FilledText, BeforeValidator(_as_clock)]
Zone = Annotated[FilledText, BeforeValidator(_as_zone)]


class RouteConfig(Block):
    """What holds for alerts that match; the first route that fits counts. What it leaves out is as
    for all."""

    match: Matchers = ()
    """Matchers in Alertmanager's syntax; each must match. Empty: every alert."""
    alert_type: Text = ""
    """The alert type that chooses the chain."""
    team: Text = ""
    """Whose incident it is."""
    team_label: Text = ""
    """The label that names the team, where the alert has it."""
    group_by: List[FilledText] | None = None
    """As `incidents.group_by`."""
    group_wait: NotNegative | None = None
    """As `incidents.group_wait`."""


class InhibitionConfig(Block):
    """While an alert that matches `source_match` fires, those of `target_match` are held."""

    source_match: Matchers
    """Matchers of the alert that explains the others."""
    target_match: Matchers
    """Matchers of those that are held."""
    equal: List[FilledText] = ()
    """Labels that both must have alike."""


class MaintenanceConfig(Block):
    """A time in which alerts are expected: once from `start` to `end`, or on `days` from `begins`
    until `ends`."""

    name: FilledText
    """What the window is called."""
    match: Matchers = ()
    """Matchers in Alertmanager's syntax; each must match. Empty: every alert."""
    start: Moment | None = None
    """When a window that opens once opens."""
    end: Moment | None = None
    """When it closes."""
    days: List[Day] = ()
    """On which days it opens again and again; empty with `begins`: every day."""
    begins: Clock | None = None
    """The time of day at which it opens."""
    ends: Clock | None = None
    """The time of day at which it closes; on the next day where that is not after `begins`."""
    zone: Zone = "UTC"
    """The time zone of `begins` and `ends`."""

    def closes_at(self, now: datetime) -> datetime | None:
        """When the window that is open now closes; None where none is."""
        if self.start is not None and self.end is not None:
            return self.end if self.start <= now < self.end else None
        if self.begins is None or self.ends is None:
            return None
        local = now.astimezone(ZoneInfo(self.zone))
        for back in (0, 1):
            day = (local - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
            if self.days and _DAYS[day.weekday()] not in self.days:
                continue
            opens, closes = _at(day, self.begins), _at(day, self.ends)
            if closes <= opens:
                closes = _at(day + timedelta(days=1), self.ends)
            if opens <= now < closes:
                return closes
        return None


_DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _at(day: datetime, clock: str) -> datetime:
    hour, _, minute = clock.partition(":")
    # The wall clock of that day, also on one that has 23 or 25 hours.
    days, hours = divmod(int(hour), 24)
    return (day + timedelta(days=days)).replace(hour=hours, minute=int(minute))


class FlappingConfig(Block):
    """An incident that comes and goes is held before it is investigated."""

    changes: Count = 4
    """From how many changes of state on."""
    within: PositiveDuration = timedelta(minutes=30)
    """In which time they are counted."""
    hold: PositiveDuration = timedelta(hours=1)
    """How long the next investigation is held."""


class BudgetConfig(Block):
    """What the investigations of one source may use in an hour of the clock; what is more waits for
    the next hour."""

    tokens_per_hour: Count | None = None
    """Tokens of questions and answers together. Unset: no limit."""
    usd_per_hour: Rate | None = None
    """US dollars, as calls are estimated. Unset: no limit."""


class IncidentsConfig(Block):
    """Sources that group by themselves, such as Alertmanager and Grafana, keep their groups."""

    group_by: List[FilledText] = ("alertname", "cluster", "namespace", "service")
    """Labels whose values together make a group. An alert without the first of them is a group of
    its own. `...` makes every alert one, an empty list puts all alerts of a source into one."""
    regroup: List[FilledText] = ()
    """Sources that group by themselves and are grouped by `group_by` all the same."""
    group_wait: NotNegative = timedelta(seconds=30)
    """How long an incident waits for more alerts before its investigation begins."""
    no_wait: List[Severity] = ("critical",)
    """Severities that do not wait."""
    group_window: PositiveDuration = timedelta(hours=1)
    """How long after the last new alert an incident that fires takes another one."""
    reopen_window: NotNegative = timedelta(minutes=30)
    """How long after it recovered an incident goes on when its alerts fire again. Later it is a new
    incident, which names the old one."""
    silence_window: PositiveDuration = timedelta(days=7)
    """After how long without a word an alert that fires counts as over."""
    quiet_window: PositiveDuration = timedelta(hours=12)
    """The same for an alert whose source never tells that it is over, such as a search of Splunk: a
    job that fails every night is looked into every night."""
    when_recovered: Annotated[Literal["finish", "shorten", "stop"], one_of()] = "finish"
    """What a running investigation does when all alerts are over: `finish` goes on and is told,
    `shorten` is told to conclude, `stop` is cancelled. One that waits is always cancelled,
    unless a person has asked for it once more."""
    routes: List[RouteConfig] = ()
    """The first that fits an alert says which chain takes it and whose it is."""
    inhibit: List[InhibitionConfig] = ()
    """Alerts that explain others."""
    maintenance: List[MaintenanceConfig] = ()
    """Times in which alerts are expected. What was held is investigated at the end, if it still
    fires."""
    flapping: FlappingConfig = FlappingConfig()
    """Incidents that come and go."""
    storm_after: Limit = 30
    """How many new incidents of one source in a minute become one storm incident. `null`: never."""
    budgets: Table[BudgetConfig] = Field(default_factory=nothing)
    """What investigations may use, by the name of the source; `default` for all others."""

    def budget_of(self, source: str) -> BudgetConfig | None:
        return self.budgets.get(source) or self.budgets.get("default")


OUR_LABELS = ("source", "severity", "service", "cluster", "namespace", "title")
"""Names that every alert may have, whatever its source calls them."""
