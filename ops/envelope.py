"""The one shape of every reply: `{ok, data, error, meta}`, as structured content and as text."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, JsonValue

from safety.ways_out import Rule, explain_way_out

MAX_DATA_BYTES = 200_000

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

ErrorCode = Literal[
    "NOT_FOUND",
    "INVALID_INPUT",
    "POLICY_BLOCKED",
    "READ_ONLY_VIOLATION",
    "SENSITIVE_COMMAND",
    "ACTION_NOT_ALLOWED",
    "EXECUTION_CONTEXT_UNAVAILABLE",
    "EXECUTION_FAILED",
]
RULES: Mapping[ErrorCode, Rule] = {
    "POLICY_BLOCKED": "left_alone",
    "READ_ONLY_VIOLATION": "no_read",
    "SENSITIVE_COMMAND": "secret",
    "ACTION_NOT_ALLOWED": "unfit_file",
}
"""The codes by which a rule of ours refuses, each with the rule that it mostly is."""

Place = Literal["host", "container"]


class EnvelopeError(BaseModel):
    """Why a call gave no data. `blocked`: a rule refused it, trying again changes nothing."""

    code: ErrorCode
    message: str
    blocked: bool
    failed: bool
    retryable: bool
    details: dict[str, JsonValue]


class EnvelopeMeta(BaseModel):
    """Where and when the data was taken. `cuts` says what was left out and how to get it, `notes`
    what was done otherwise than asked.
    """

    host: str
    place: Place
    """Whether `host` is a machine of its own or the container that the server runs in."""
    taken_at: str
    duration_ms: int
    data_bytes: int
    truncated: bool
    cuts: list[str]
    notes: list[str]


class Envelope(BaseModel):
    """The reply of every tool."""

    ok: bool
    data: dict[str, JsonValue] | None
    error: EnvelopeError | None
    meta: EnvelopeMeta


class ToolFailure(Exception):
    """A call that ends without data; the model reads why and what would be right."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        retryable: bool = False,
        details: JsonObject | None = None,
        rule: Rule | None = None,
    ) -> None:
        """`rule` is the one that refuses, where its code does not say it all."""
        self.rule = rule
        self.code: ErrorCode = code
        self.message = message
        self.retryable = retryable
        self.details: JsonObject = details or {}
        super().__init__(message)


@dataclass(frozen=True)
class Answer:
    """What a tool found, and in words what it left out or did otherwise than asked."""

    data: JsonObject
    cuts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def render_answer(
    answer: Answer, *, host: str, taken_at: datetime, seconds: float, place: Place = "host"
) -> Envelope:
    """The envelope of an answer, never larger than `MAX_DATA_BYTES` of data."""
    data = _clean_object(answer.data)
    cuts = [*answer.cuts, *_shrink(data, MAX_DATA_BYTES)]
    notes = [_clean_text(note) for note in answer.notes]
    meta = _meta(host, place, taken_at, seconds, data_bytes=_size(data), cuts=cuts, notes=notes)
    return Envelope(ok=True, data=data, error=None, meta=meta)


def render_failure(
    failure: ToolFailure, *, host: str, taken_at: datetime, seconds: float, place: Place = "host"
) -> Envelope:
    """The envelope of a call that gave no data."""
    blocked = failure.code in RULES
    details = _clean_object(failure.details)
    if rule := failure.rule or RULES.get(failure.code):
        details["to_allow"] = explain_way_out(rule)
    cuts = _shrink(details, MAX_DATA_BYTES)
    error = EnvelopeError(
        code=failure.code,
        message=_clean_text(failure.message),
        blocked=blocked,
        failed=not blocked,
        retryable=failure.retryable,
        details=details,
    )
    meta = _meta(host, place, taken_at, seconds, data_bytes=0, cuts=cuts, notes=[])
    return Envelope(ok=False, data=None, error=error, meta=meta)


def to_result(envelope: Envelope) -> CallToolResult:
    """The envelope on the wire, twice: for programs and for models that read text."""
    payload = envelope.model_dump(mode="json")
    text = json.dumps(payload, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=payload,
        is_error=not envelope.ok,
    )


def snake_case(name: str) -> str:
    """`ExitCode` as the keys of our replies are written: `exit_code`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _meta(
    host: str,
    place: Place,
    taken_at: datetime,
    seconds: float,
    *,
    data_bytes: int,
    cuts: list[str],
    notes: list[str],
) -> EnvelopeMeta:
    return EnvelopeMeta(
        host=host,
        place=place,
        taken_at=taken_at.astimezone(UTC).isoformat(timespec="milliseconds"),
        duration_ms=round(seconds * 1000),
        data_bytes=data_bytes,
        truncated=bool(cuts),
        cuts=cuts,
        notes=notes,
    )


def _clean_object(data: JsonObject) -> dict[str, JsonValue]:
    return {_clean_text(key): _clean(value) for key, value in data.items()}


def _clean(value: Json) -> JsonValue:
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, Mapping):
        return _clean_object(value)
    if isinstance(value, Sequence):
        return [_clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no such numbers.
    return value


def _clean_text(text: str) -> str:
    # File names may be any bytes. What cannot be UTF-8, and NUL, breaks databases and clients.
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\0", "�")


def _shrink(data: dict[str, JsonValue], limit: int) -> list[str]:
    """Halves the largest list or text until the data fits; says what was cut."""
    cuts: dict[str, str] = {}
    size = _size(data)
    while size > limit:
        place = _largest(data, "")
        if place is None:
            break
        holder, key, path = place
        value = holder[key]
        assert isinstance(value, str | list)
        keep = len(value) // 2
        if isinstance(value, str):
            # Whole lines: half a secret is one that no pattern knows.
            keep = value.rfind("\n", 0, keep) + 1 or keep
        holder[key] = value[:keep]
        cuts[path] = f"{path}: only the first {keep} are shown, the reply was over {limit} bytes"
        size = _size(data)
    return list(cuts.values())


def _largest(
    holder: dict[str, JsonValue], prefix: str
) -> tuple[dict[str, JsonValue], str, str] | None:
    best: tuple[dict[str, JsonValue], str, str] | None = None
    best_size = 0
    for key, value in holder.items():
        path = f"{prefix}{key}"
        found = _largest(value, f"{path}.") if isinstance(value, dict) else (holder, key, path)
        if found is None:
            continue
        candidate = found[0][found[1]]
        if not isinstance(candidate, str | list) or len(candidate) < 2:
            continue
        size = _size(candidate)
        if size > best_size:
            best, best_size = found, size
    return best


def _size(value: JsonValue) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
