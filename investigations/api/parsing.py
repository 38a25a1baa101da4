"""Bodies read strictly: what JSON leaves open and PostgreSQL cannot hold is refused by name.

Python's parser keeps the last of two equal keys, takes NaN and 1e400 for numbers, and lets lone
surrogates and NUL through; none of that may reach a row.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NoReturn, Protocol, cast

from django.http import HttpRequest

from investigations.api.errors import UnsupportedContent
from investigations.services.texts import UNSTORABLE
from investigations.sources.content import unpack
from tarsy.errors import InvalidInput, PayloadTooLarge

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

BODY = "body"
BODY_LIMIT = 2 * 1024 * 1024
DEPTH_LIMIT = 32
"""Levels below the object that is the body."""
DIGITS_LIMIT = 4300

_RAW, _UNPACKED = "tarsy.body", "tarsy.posted"
"""Where a request keeps what was read of it. No header of a request has such a name."""
_READABLE = ("", "application/json", "text/plain", "text/json", "application/x-www-form-urlencoded")


JoinPairs = Callable[[list[tuple[str, JSON]]], dict[str, JSON]]


class SupportsRead(Protocol):
    """Something with bytes in it."""

    def read(self, size: int, /) -> bytes: ...


def read_json_object(request: HttpRequest, *, may_be_empty: bool = False) -> dict[str, JSON]:
    """The body as an object. Raises InvalidInput (400, 413, 415) and names the part at fault."""
    _check_headers(request)
    body = _read_body(request)
    if not body and may_be_empty:
        return {}
    return require_object(parse_json(body))


def read_json(request: HttpRequest) -> JSON:
    """The body, whatever JSON it is. Raises InvalidInput as `read_json_object` does."""
    _check_headers(request)
    return parse_json(_read_body(request))


def read_unpacked(request: HttpRequest) -> JSON:
    """The body of an alert source, packed and labelled in whatever way. Raises InvalidInput.

    Read once, for whoever asks who sent it and then what it says."""
    if _UNPACKED not in request.META:
        request.META[_UNPACKED] = parse_json(
            unpack(
                read_raw(request),
                encoding=request.META.get("HTTP_CONTENT_ENCODING", ""),
                content_type=request.content_type or "",
                charset=(request.content_params or {}).get("charset", ""),
            ),
            join_pairs=_refuse_contradictions,
        )
    return cast(JSON, request.META[_UNPACKED])


def read_raw(request: HttpRequest) -> bytes:
    """The body as it came, for what is signed. Raises PayloadTooLarge."""
    if _RAW not in request.META:
        request.META[_RAW] = _read_body(request)
    return cast(bytes, request.META[_RAW])


def require_object(value: JSON) -> dict[str, JSON]:
    """Raises InvalidInput for anything but an object."""
    if not isinstance(value, dict):
        raise InvalidInput(BODY, f"must be a JSON object, not {kind_of(value)}")
    return value


def kind_of(value: JSON) -> str:
    """What a value is called in JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds = {int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return kinds[type(value)]


def _check_headers(request: HttpRequest) -> None:
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedContent(BODY, "must not be compressed")
    content_type = (request.content_type or "").lower()
    # Plain `curl -d` announces a form and sends JSON all the same.
    if content_type not in _READABLE and not content_type.endswith("+json"):
        raise UnsupportedContent(BODY, "must be application/json")
    charset = (request.content_params or {}).get("charset", "utf-8").strip("\"'").lower()
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedContent(BODY, "must be encoded in UTF-8")


def _read_body(request: HttpRequest) -> bytes:
    announced = request.META.get("CONTENT_LENGTH") or "0"
    body = b""
    if not announced.isdigit() or int(announced[:12]) <= BODY_LIMIT:
        body = _source_of(request).read(BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT or (announced.isdigit() and int(announced[:12]) > BODY_LIMIT):
        raise PayloadTooLarge(BODY, f"must not be larger than {BODY_LIMIT:,} bytes")
    return body


def _source_of(request: HttpRequest) -> SupportsRead:
    """Django reads nothing under WSGI where no length is announced, as with a chunked body."""
    if request.META.get("wsgi.input_terminated") and not request.META.get("CONTENT_LENGTH"):
        return cast(SupportsRead, request.META["wsgi.input"])
    return request


def parse_json(body: bytes, *, join_pairs: JoinPairs | None = None) -> JSON:
    """One JSON document in UTF-8, with or without a byte order mark. Raises InvalidInput, also for
    a key that stands twice in an object, unless `join_pairs` says otherwise."""
    if not body:
        raise InvalidInput(BODY, "must be a JSON object, but it is empty")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(BODY, f"is not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(
            text,
            object_pairs_hook=join_pairs or _refuse_duplicates,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(BODY, f"is not JSON: {error.msg} ({place})") from error
    if not _is_plain(text):
        _check_values(value)
    return cast(JSON, value)


def _is_plain(text: str) -> bool:
    """Whether JSON that was read can hold nothing that `_check_values` refuses: only an escape
    gives a text what UTF-8 and a string cannot hold, and without brackets nothing is deep."""
    return "\\u" not in text and text.count("{") + text.count("[") <= DEPTH_LIMIT


def _refuse_duplicates(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise InvalidInput(BODY, f"has the key {_quote(twice)} twice in one object")
    return value


def _refuse_contradictions(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """Templates that people write say a thing twice; what they say must be the same."""
    value = dict(pairs)
    if len(value) < len(pairs) and any(value[name] != given for name, given in pairs):
        return _refuse_duplicates(pairs)
    return value


def _parse_integer(digits: str) -> int:
    if len(digits) > DIGITS_LIMIT:
        raise InvalidInput(BODY, f"has a number of more than {DIGITS_LIMIT:,} digits")
    return int(digits)


def _parse_float(digits: str) -> float:
    if len(digits) > DIGITS_LIMIT:
        raise InvalidInput(BODY, f"has a number of more than {DIGITS_LIMIT:,} digits")
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidInput(BODY, f"has the number {digits[:30]}, which is too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(BODY, f"has {name}, which is not JSON")


def _too_deep() -> InvalidInput:
    return InvalidInput(BODY, f"is nested more than {DEPTH_LIMIT} levels deep")


def _check_values(value: JSON) -> None:
    for depth, path, text in _walk(value):
        if depth > DEPTH_LIMIT + 1:
            raise _too_deep()
        found = UNSTORABLE.search(text)
        if found:
            what = "a NUL character" if found[0] == "\x00" else "half a surrogate pair"
            raise InvalidInput(path or BODY, f"has {what}, which is no text")


def _walk(value: JSON) -> Iterator[tuple[int, str, str]]:
    """Every text and every container with its depth and path, without recursion."""
    waiting: list[tuple[int, str, JSON]] = [(1, "", value)]
    while waiting:
        depth, path, node = waiting.pop()
        if isinstance(node, str):
            yield 0, path, node
        elif isinstance(node, dict):
            yield depth, path, ""
            for name, child in node.items():
                below = f"{path}.{name}" if path else name
                safe = UNSTORABLE.sub("?", below)[:200]
                yield 0, safe, name
                waiting.append((depth + 1, safe, child))
        elif isinstance(node, list):
            yield depth, path, ""
            waiting.extend((depth + 1, f"{path}[{i}]"[:200], child) for i, child in enumerate(node))


def _quote(name: str) -> str:
    return json.dumps(UNSTORABLE.sub("?", name)[:60], ensure_ascii=False)
