"""The kinds of values that occur in the YAML files, and the base of every block.

A scalar comes in as it was written and as YAML understands it. Text takes it as written, so `8081`
or `no` are fine where text is wanted; numbers and switches take what YAML makes of it.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
)
from pydantic_core import PydanticCustomError

from config.tree import Scalar

NO_LIMIT = "none"
"""Stands for a `null` that was written where it means something."""

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_UNITS["ns"] = 1e-9
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_LONGEST = 292 * 365 * 24 * 3600.0  # what Go's durations can hold
_DURATION_WANTED = "must be a duration such as 500ms, 30s, 40m or 1h30m"


class Block(BaseModel):
    """A mapping of the YAML files: no other keys than these, and never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class Entry(Block):
    """A block that stands in a registry under its name."""

    _name: str = PrivateAttr(default="")

    @property
    def name(self) -> str:
        return self._name

    def named(self, name: str) -> Self:
        """A copy that knows the name it is registered under."""
        copy = self.model_copy()
        copy._name = name
        return copy


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{message}", {"message": message})


def _as_text(value: object) -> str:
    if isinstance(value, Scalar) and value.value is not None:
        return value.text
    if isinstance(value, str):
        return value
    raise _wrong("must be text")


def _as_filled_text(value: object) -> str:
    text = _as_text(value)
    if not text.strip():
        raise _wrong("must not be empty")
    return text


def _as_integer(value: object) -> int:
    inner = value.value if isinstance(value, Scalar) else value
    if isinstance(inner, int) and not isinstance(inner, bool):
        return inner
    raise _wrong("must be a whole number")


def _none_where_unlimited(value: object) -> object:
    return None if isinstance(value, Scalar) and value.text == NO_LIMIT else value


def _as_number(value: object) -> float:
    inner = value.value if isinstance(value, Scalar) else value
    if isinstance(inner, bool) or not isinstance(inner, int | float):
        raise _wrong("must be a number")
    if not math.isfinite(inner):
        raise _wrong("must be a finite number")
    return float(inner)


def _as_boolean(value: object) -> bool:
    inner = value.value if isinstance(value, Scalar) else value
    if isinstance(inner, bool):
        return inner
    raise _wrong("must be true or false")


def parse_duration(text: str) -> timedelta:
    """A duration as Go writes it. Raises ValueError with what would be right."""
    sign, body = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if body == "0":
        return timedelta(0)
    parts = _PART.findall(body)
    if not parts or "".join(number + unit for number, unit in parts) != body:
        raise ValueError(_DURATION_WANTED)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds > _LONGEST:
        raise ValueError("is longer than 292 years")
    return timedelta(seconds=sign * seconds)


def _as_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, Scalar | str):
        raise _wrong(_DURATION_WANTED)
    try:
        return parse_duration(str(value))
    except ValueError as error:
        raise _wrong(str(error)) from None


def parse_moment(text: str) -> datetime:
    """An RFC 3339 moment or a day, which begins at midnight UTC. Raises ValueError."""
    day = re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII)
    if not day and not re.fullmatch(
        r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text, re.ASCII
    ):
        raise ValueError("not a moment")
    moment = datetime.fromisoformat(text.upper())
    return moment.replace(tzinfo=UTC) if day else moment


def _as_moment(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, Scalar | str):
        raise _wrong("must be a day such as 2026-03-01 or a moment such as 2026-03-01T12:00:00Z")
    try:
        return parse_moment(str(value))
    except ValueError:
        raise PydanticCustomError(
            "wrong_value",
            "must be a day such as 2026-03-01 or a moment such as 2026-03-01T12:00:00Z",
        ) from None


def _as_url(value: object) -> str:
    text = _as_filled_text(value)
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", text):
        raise _wrong("must be an address that starts with http:// or https://")
    return text


def _as_optional_url(value: object) -> str | None:
    return None if isinstance(value, Scalar | str) and not str(value) else _as_url(value)


def _as_variable(value: object) -> str:
    text = _as_text(value)
    if text and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise _wrong("must be the name of an environment variable, not what it holds")
    return text


def _as_list(value: object) -> object:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, tuple):
        return value
    raise _wrong("must be a list")


def _as_mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise _wrong("must be a mapping")


Item = TypeVar("Item")

Text = Annotated[str, BeforeValidator(_as_text)]
FilledText = Annotated[str, BeforeValidator(_as_filled_text)]
Url = Annotated[str, BeforeValidator(_as_url)]
OptionalUrl = Annotated[str | None, BeforeValidator(_as_optional_url)]
VariableName = Annotated[str, BeforeValidator(_as_variable)]
Integer = Annotated[int, BeforeValidator(_as_integer)]
Count = Annotated[int, Field(ge=1), BeforeValidator(_as_integer)]
Limit = Annotated[Count | None, BeforeValidator(_none_where_unlimited)]
"""A number of things; `null` or `none` lifts the limit."""
Rate = Annotated[float, Field(ge=0), BeforeValidator(_as_number)]
Boolean = Annotated[bool, BeforeValidator(_as_boolean)]
Duration = Annotated[timedelta, BeforeValidator(_as_duration)]
PositiveDuration = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(_as_duration)]
Moment = Annotated[datetime, BeforeValidator(_as_moment)]

List = Annotated[tuple[Item, ...], BeforeValidator(_as_list)]
Table = Annotated[
    Mapping[str, Item],
    BeforeValidator(_as_mapping),
    AfterValidator(lambda table: MappingProxyType(dict(table))),
    PlainSerializer(dict),
]

Backend = Annotated[Literal["google-native", "langchain"], BeforeValidator(_as_text)]
SuccessPolicy = Annotated[Literal["any", "all"], BeforeValidator(_as_text)]
ControlLevel = Annotated[
    Literal["read_only", "controlled", "autonomous"], BeforeValidator(_as_text)
]
AgentType = Annotated[
    Literal["", "synthesis", "exec_summary", "scoring", "action", "rules"],
    BeforeValidator(_as_text),
]
Fallback = Annotated[Literal["rules"], BeforeValidator(_as_text)]


def nothing() -> Mapping[str, Any]:
    """An empty table."""
    return MappingProxyType({})


def one_of() -> BeforeValidator:
    """Makes a Literal take scalars: `Annotated[Literal[...], one_of()]`."""
    return BeforeValidator(_as_text)


def by_name(value: object) -> object:
    """Lets a bare name stand for an object that has nothing but a name."""
    return {"name": value} if isinstance(value, Scalar | str) else value
