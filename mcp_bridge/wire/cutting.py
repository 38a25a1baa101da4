"""Reads messages off a wire without ever holding more of one than may be kept.

A server decides how much it sends, we decide how much of it we hold. What is over the limit is
counted and let go as it comes; the beginning of an answer that was too long is still an answer.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic_core import from_json

from agents.types import JSON

MAX_MESSAGE_BYTES = 1024 * 1024
# What a server may send for each thing it was asked before we stop listening to it.
MAX_UNASKED_BYTES = 16 * 1024 * 1024
WHOLE_SIZE = "tarsy/whole-size"
"""Where `_meta` of a shortened result says how many bytes the message had."""

_TAIL_BYTES = 512
_ID_AT_END = re.compile(
    rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
_TORN_ESCAPE = re.compile(r"(?:\\ud[89ab][0-9a-f]{2})?\\?(?:u[0-9a-f]{0,3})?$", re.IGNORECASE)
# Inside a JSON string the quotes would be escaped.
_IS_ERROR = re.compile(rb'(?<!\\)"isError"\s*:\s*true')


@dataclass(frozen=True)
class Line:
    """A line, or its beginning and end when it was too long to keep; `total` counts its bytes."""

    head: bytes
    tail: bytes
    total: int

    @property
    def is_whole(self) -> bool:
        return self.total == len(self.head)


class LineCutter:
    """Parts a stream of bytes into lines and keeps at most `max_bytes` of each."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._head = bytearray()
        self._tail = b""
        self._total = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """Take in more and yield the lines that end in it."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            yield self._take()
            start = end + 1
        self._add(data[start:])

    def finish(self) -> Line | None:
        """What stands after the last line end, if anything does."""
        return self._take() if self._total else None

    def _add(self, data: bytes) -> None:
        room = self._max_bytes - len(self._head)
        if room > 0:
            self._head += data[:room]
        self._total += len(data)
        if self._total > self._max_bytes:
            self._tail = (self._tail + data)[-_TAIL_BYTES:]

    def _take(self) -> Line:
        line = Line(bytes(self._head), self._tail, self._total)
        self._head, self._tail, self._total = bytearray(), b"", 0
        return line


def read_line(line: Line, identity: JSON = None) -> str | None:
    """The JSON-RPC message on a line; None where there is none.

    Of a response that was too long, a shorter response is made. `identity` is the id of the
    request it answers, where the wire knows it.
    """
    if line.is_whole:
        text = line.head.decode("utf-8", "replace").strip()
        looks_like_json = text.startswith(("{", "[")) and text.endswith(("}", "]"))
        return _join_surrogates(text) if looks_like_json else None
    shortened = _shorten(line, identity)
    return None if shortened is None else _write(shortened)


def _join_surrogates(text: str) -> str:
    """The same message without half characters, which servers make when they cut a text."""
    if not _SURROGATE.search(text):
        return text
    try:
        return _write(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _write(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


def _shorten(line: Line, identity: JSON) -> dict[str, JSON] | None:
    try:
        head = line.head.decode("utf-8", "ignore")
        # A pair of surrogates that the cut parted is no string to the parser.
        head = _TORN_ESCAPE.sub("", head)
        message = from_json(head, allow_partial="trailing-strings")
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" in message:
        return None
    identity = message.get("id", identity)
    if identity is None and (found := _ID_AT_END.search(line.tail)):
        identity = json.loads(found[1])
    if identity is None:
        return None
    result = message.get("result")
    if not isinstance(result, dict):
        error: JSON = {
            "code": -32603,
            "message": f"the answer had {line.total} bytes, too many to read",
        }
        return {"jsonrpc": "2.0", "id": identity, "error": error}
    shortened: dict[str, JSON] = dict(result)
    _drop_torn(shortened)
    if _IS_ERROR.search(line.tail):
        shortened["isError"] = True
    meta = shortened.get("_meta")
    shortened["_meta"] = {**(meta if isinstance(meta, dict) else {}), WHOLE_SIZE: line.total}
    return {"jsonrpc": "2.0", "id": identity, "result": shortened}


def _drop_torn(result: dict[str, JSON]) -> None:
    """Let go of what the cut left half: the last thing that was being said."""
    if not result:
        return
    last = next(reversed(result))
    value = result[last]
    if last == "structuredContent":
        del result[last]
    elif last == "tools" and isinstance(value, list):
        del value[-1:]
    elif last == "content" and isinstance(value, list) and value:
        if not _is_text(value[-1]):
            del value[-1]
        else:
            _mend_text(value[-1])


def _mend_text(block: JSON) -> None:
    """Of JSON that was cut in a text, what was said as a whole."""
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(text, str) or text[:1] not in ("{", "["):
        return
    try:
        block["text"] = json.dumps(from_json(text, allow_partial=True), ensure_ascii=False)
    except (ValueError, RecursionError):
        return


def _is_text(block: JSON) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and "text" in block
