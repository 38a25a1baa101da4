"""The kinds of values that posts hold, read so that no odd one costs the alert.

Every field of a model is optional, and what is there in another kind than expected counts as not
there: a sender's template, version or mistake decides what comes.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from investigations.sources.inner_json import read_inner
from investigations.sources.reading import JSON, MOST_ALERTS, Unreadable

_UNFILLED = re.compile(
    r"\{[A-Za-z][\w.]*\}|\$\{?[A-Z][A-Z0-9_]*\}?\$?|\{\{[^{}]{0,200}\}\}|\*UNKNOWN\*|null|None"
)
"""A value that is wholly a place of a template which nobody has filled."""
_EPOCH = datetime(1970, 1, 2, tzinfo=UTC)
_DIGITS = re.compile(r"\d{9,20}(?:\.\d{1,9})?", re.ASCII)
_ZONE_NAME = re.compile(r" ?UTC$")


class Part(BaseModel):
    """A part of a post: what is read of it, and nothing else."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _take_nothing_for_empty(cls, value: object) -> object:
        return value if isinstance(value, Mapping) else {}


def read_text(value: object) -> str:
    """A text without what is not filled in; a number as its figures; anything else is nothing."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        return ""
    text = value.strip()
    return "" if _UNFILLED.fullmatch(text[:250]) else text


def read_moment(value: object) -> datetime | None:
    """ISO 8601, or seconds, milliseconds, microseconds or nanoseconds since 1970.

    What names no zone counts as UTC. Years before 1970, among them Go's and .NET's zero, mean that
    there is no moment.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if not isinstance(value, str):
        return None
    text = value.strip()[:40]
    if _DIGITS.fullmatch(text):
        return _from_number(float(text))
    try:
        moment = datetime.fromisoformat(_ZONE_NAME.sub("+00:00", text))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment if moment >= _EPOCH else None
    except (ValueError, OverflowError):
        return None


def _from_number(number: float) -> datetime | None:
    try:
        for least, scale in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
            if number >= least:
                number /= scale
                break
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    except (OverflowError, ValueError):
        return None
    return moment if moment >= _EPOCH else None


def read_labels(value: object) -> dict[str, str]:
    """Names with texts, from an object, a list of `name:value`, pairs, objects with a key or name
    and a value, or a text of them with commas between."""
    inner = read_inner(value) if isinstance(value, str) else value
    if isinstance(inner, Mapping):
        named = ((str(name), _read_value(each)) for name, each in inner.items())
        return {name: text for name, text in named if text}
    if isinstance(inner, list | tuple):
        return dict(pair for each in inner if (pair := _read_pair(each)))
    if isinstance(value, str):
        return read_labels(value.split(","))
    return {}


def _read_value(value: object) -> str:
    if isinstance(value, Mapping):
        return read_text(value.get("value"))
    return str(value).lower() if isinstance(value, bool) else read_text(value)


def _read_pair(value: object) -> tuple[str, str] | None:
    if isinstance(value, str) and (text := read_text(value)):
        name, _, said = text.partition(":")
        return (name.strip(), said.strip()) if said.strip() else (text, text)
    if isinstance(value, list | tuple) and len(value) == 2:
        return (read_text(value[0]), read_text(value[1])) if read_text(value[0]) else None
    if isinstance(value, Mapping):
        name = next((read_text(value[key]) for key in ("key", "name", "tag") if key in value), "")
        return (name, read_text(value.get("value"))) if name else None
    return None


def read_texts(value: object) -> tuple[str, ...]:
    """The texts of a list; a text alone is one."""
    if isinstance(value, str):
        return (text,) if (text := read_text(value)) else ()
    if isinstance(value, list | tuple):
        return tuple(text for each in value if (text := read_text(each)))
    return ()


def read_url(value: object) -> str:
    """An address that a browser can open; anything else, such as `?orgId=1`, is none."""
    text = read_text(value)
    return text if re.match(r"https?://[^/\s?#]", text) else ""


def _read_object(value: object) -> dict[str, JSON]:
    inner = read_inner(value) if isinstance(value, str) else value
    return cast("dict[str, JSON]", dict(inner)) if isinstance(inner, Mapping) else {}


def _read_list(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


Text = Annotated[str, BeforeValidator(read_text)]
Moment = Annotated[datetime | None, BeforeValidator(read_moment)]
Labels = Annotated[dict[str, str], BeforeValidator(read_labels)]
Texts = Annotated[tuple[str, ...], BeforeValidator(read_texts)]
Url = Annotated[str, BeforeValidator(read_url)]
Flag = Annotated[bool, BeforeValidator(lambda value: value is True)]
Object = Annotated[dict[str, Any], BeforeValidator(_read_object)]
"""An object, or a text that is one."""
Members = Annotated[tuple[Any, ...], BeforeValidator(_read_list)]


def as_object(value: object) -> dict[str, JSON]:
    """An object as it is, anything else as an empty one."""
    return cast("dict[str, JSON]", value) if isinstance(value, dict) else {}


def split_members(
    members: object, place: str
) -> tuple[list[dict[str, JSON]], tuple[Unreadable, ...], tuple[str, ...]]:
    """The objects of a list, what else stood in it, and what is left out beyond the bound."""
    listed = members if isinstance(members, list | tuple) else []
    kept = listed[:MOST_ALERTS]
    good = [cast("dict[str, JSON]", each) for each in kept if isinstance(each, dict) and each]
    bad = tuple(_find_unreadable(kept, place))
    more = len(listed) - len(kept)
    return good, bad, (f"{more:,} of {len(listed):,} alerts",) if more else ()


def _find_unreadable(members: list[Any] | tuple[Any, ...], place: str) -> Iterator[Unreadable]:
    for number, each in enumerate(members):
        if not isinstance(each, dict) or not each:
            yield Unreadable(f"{place}[{number}]", "is no alert: it must be an object with fields")


def fold_names(body: object, *prefixes: str) -> dict[str, JSON]:
    """An object whose names are in lower case with underscores and without a prefix, and the same
    without underscores: templates of users write the same macro in many ways."""
    folded: dict[str, JSON] = {}
    for name, value in as_object(body).items():
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        for prefix in prefixes:
            plain = plain.removeprefix(prefix)
        folded.setdefault(plain, value)
    for plain in list(folded):
        folded.setdefault(plain.replace("_", ""), folded[plain])
    return folded
