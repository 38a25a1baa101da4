"""What kind of day it is: people investigate differently on a public holiday."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

DayKind = Literal["WEEKDAY", "WEEKEND", "GLOBAL_HOLIDAY"]

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Day:
    """A moment in UTC with what it means for staffing."""

    time: str
    date: str
    weekday: str
    kind: DayKind
    holiday: str

    @property
    def is_staffing_reduced(self) -> bool:
        return self.kind != "WEEKDAY"


def describe_day(now: datetime, holidays: Mapping[str, str]) -> Day:
    """Describe a moment; a holiday counts before a weekend. `now` must know its zone."""
    moment = now.astimezone(UTC)
    holiday = holidays.get(moment.strftime("%m-%d"), "")
    kind: DayKind = "WEEKEND" if moment.weekday() >= 5 else "WEEKDAY"
    return Day(
        time=moment.strftime("%H:%M"),
        date=moment.strftime("%Y-%m-%d"),
        weekday=_WEEKDAYS[moment.weekday()],
        kind="GLOBAL_HOLIDAY" if holiday else kind,
        holiday=holiday,
    )
