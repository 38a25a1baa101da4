"""Walks JSON, or text that holds pieces of it, and knows where every value stands.

Tolerant on purpose: a log line, a cut document and a well-formed one are walked alike.
"""

import re
from dataclasses import dataclass, field

from mcp_bridge.masking.encodings import unescape

_TOKEN = re.compile(
    r'"((?:[^"\\\n]|\\.)*)("|(?=\n)|$)|([{}\[\]:,])|(-?[0-9][0-9.eE+-]*)|[^\s{}\[\]:,"]+'
)
_DATA_KEYS = ("data", "stringData")
_SECRET_KINDS = ("Secret", "SecretList")
_CUT = re.compile(r"\.\.\.|…|\[(?:truncated|output)")
MAX_DEPTH = 500


@dataclass(frozen=True)
class Value:
    """A string (its inside, without quotes) or a number under its key; arrays have no key."""

    start: int
    end: int
    key: str
    is_number: bool = False


@dataclass
class Walked:
    values: list[Value] = field(default_factory=list)
    keys: list[tuple[int, int]] = field(default_factory=list)
    secret_values: list[tuple[int, int]] = field(default_factory=list)
    """Inside of the values of Kubernetes Secrets."""
    paired: list[Value] = field(default_factory=list)
    """Values of objects like `{"name": "DB_PASSWORD", "value": "..."}` under that name."""


@dataclass
class _Frame:
    is_object: bool
    key: str = ""
    pending_key: str | None = None
    expects_value: bool = False
    kind: str = ""
    name: str = ""
    value: Value | None = None
    data: list[tuple[int, int]] = field(default_factory=list)
    sink: list[tuple[int, int]] | None = None


def walk(text: str) -> Walked:
    """Find every key and value of the JSON in `text`."""
    walker = _Walker(text)
    for match in _TOKEN.finditer(text):
        walker.take(match)
    walker.finish()
    return walker.walked


class _Walker:
    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[_Frame] = []
        self.walked = Walked()

    def take(self, match: re.Match[str]) -> None:
        mark = match[3]
        if mark in ("{", "["):
            self._open(mark)
        elif mark in ("}", "]"):
            self._close()
        elif mark == ":":
            self._expect_value()
        elif mark == ",":
            self._next()
        elif match[1] is not None:
            self._take_string(match)
        elif match[4] is not None:
            self._take_number(match)

    def finish(self) -> None:
        while self._stack:
            self._close()

    def _open(self, mark: str) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self.finish()
        parent = self._stack[-1] if self._stack else None
        key = (parent.pending_key or "") if parent else ""
        frame = _Frame(is_object=mark == "{", key=key)
        if parent is not None:
            frame.sink = parent.sink
            if parent.is_object and key in _DATA_KEYS and frame.sink is None:
                frame.sink = parent.data
        self._stack.append(frame)

    def _close(self) -> None:
        if not self._stack:
            return
        frame = self._stack.pop()
        if frame.kind in _SECRET_KINDS:
            self.walked.secret_values.extend(frame.data)
        if frame.name and frame.value is not None:
            value = frame.value
            self.walked.paired.append(Value(value.start, value.end, frame.name, value.is_number))
        if self._stack:
            self._stack[-1].expects_value = False
            self._stack[-1].pending_key = None

    def _expect_value(self) -> None:
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].expects_value = True

    def _next(self) -> None:
        if self._stack:
            self._stack[-1].expects_value = False
            self._stack[-1].pending_key = None

    def _take_string(self, match: re.Match[str]) -> None:
        start, end = match.span(1)
        if not match[2] and (cut := _CUT.search(self._text, start, end)):
            end = cut.start()
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.is_object and not frame.expects_value:
            frame.pending_key = _read(self._text[start:end])
            self.walked.keys.append((start, end))
            return
        self._take_value(Value(start, end, (frame.pending_key or "") if frame else ""), frame)

    def _take_number(self, match: re.Match[str]) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is None or not frame.expects_value:
            return
        value = Value(*match.span(4), frame.pending_key or "", is_number=True)
        self._take_value(value, frame)

    def _take_value(self, value: Value, frame: _Frame | None) -> None:
        self.walked.values.append(value)
        if frame is None:
            return
        frame.expects_value = False
        if frame.sink is not None:
            if not value.is_number:
                frame.sink.append((value.start, value.end))
            return
        if not frame.is_object:
            return
        text = self._text[value.start : value.end]
        if value.key == "kind":
            frame.kind = text
        elif value.key in ("name", "key", "Name", "Key"):
            frame.name = _read(text)
        elif value.key in ("value", "Value"):
            frame.value = value


def _read(raw: str) -> str:
    return unescape(raw).text if "\\" in raw else raw
