"""The `since` parameter: a moment, written as an age or as a time."""

import re
from datetime import UTC, datetime, timedelta

from ops.envelope import ToolFailure

_AGE = re.compile(r"^(\d{1,6})\s*(s|m|h|d|w)$")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str) -> datetime | None:
    """The moment that `30m`, `2h`, `1d` or an ISO 8601 time means; None when nothing was given."""
    if not text:
        return None
    age = _AGE.match(text.strip())
    try:
        if age:
            return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError) as error:
        raise ToolFailure(
            "INVALID_INPUT",
            "'since' must be an age such as '30m', '2h', '1d' or an ISO 8601 time such as "
            "'2026-01-31T14:00:00Z'.",
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
