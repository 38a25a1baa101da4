"""How long a provider asks us to wait, wherever it says so: in headers, in members, in words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents.llm.error_bodies import find_body, walk_error
from agents.llm.wire_values import as_dict, as_list
from agents.retry_after import believe, read_duration, read_reset, read_retry_after

_TRY_AGAIN = re.compile(
    r"(?:(?:try|retry) (?:again )?(?:in|after)|wait(?: for)?) "
    r"(?:(?P<h>\d{1,4}) ?h(?:ours?|rs?)?(?![a-z]) ?)?"
    r"(?:(?P<m>\d{1,4}) ?m(?:in(?:ute)?s?)?(?![a-z]) ?)?"
    r"(?:(?P<s>\d{1,9}(?:\.\d{1,12})?) ?(?P<unit>ms|milliseconds?|s(?:ec(?:ond)?s?)?)\b)?",
    re.IGNORECASE,
)
_LONGEST_TEXT = 20_000


def read_asked_wait(
    headers: Mapping[str, str], body: object, text: str, *, is_rate_limit: bool
) -> float | None:
    """The seconds that a refusal asks us to wait; None where it does not say.

    That a limit holds anew is the last thing to go by: it is when all of it is there again.
    """
    if (wait := read_retry_after(headers)) is not None:
        return wait
    members = list(walk_error(find_body(text) if body is None else body, 0))
    for each in members:
        if (wait := next(_read_members(each), None)) is not None:
            return wait
    told = [said for each in members if isinstance(said := each.get("message"), str)]
    for said in (*told, text):
        if (wait := _read_words(said)) is not None:
            return wait
    if not is_rate_limit:
        return None
    kept = [as_dict(as_dict(each.get("metadata")).get("headers")) for each in members]
    return next((wait for each in (headers, *kept) if (wait := read_reset(each)) is not None), None)


def _read_members(members: Mapping[str, Any]) -> Iterator[float]:
    """Google's `RetryInfo`, and seconds under their plain name."""
    for detail in as_list(members.get("details")):
        if (wait := _read_delay(as_dict(detail).get("retryDelay"))) is not None:
            yield wait
    for name in ("retry_after", "retry_after_seconds"):
        value = members.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and (wait := believe(value)) is not None:
            yield wait


def _read_delay(delay: object) -> float | None:
    if isinstance(delay, str):
        return believe(read_duration(delay))
    parts = as_dict(delay)
    numbers = [parts.get(name, 0) for name in ("seconds", "nanos")] if parts else []
    if not numbers or not all(str(each).isdecimal() and len(str(each)) < 12 for each in numbers):
        return None
    return believe(int(numbers[0]) + int(numbers[1]) / 1e9)


def _read_words(text: str) -> float | None:
    found = _TRY_AGAIN.search(text[:_LONGEST_TEXT])
    if found is None or not any(found.group("h", "m", "s")):
        return None
    seconds = float(found["s"] or 0)
    if (found["unit"] or "").lower().startswith("m"):
        seconds /= 1000
    return believe(int(found["h"] or 0) * 3600 + int(found["m"] or 0) * 60 + seconds)
