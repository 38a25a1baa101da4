"""Reads an answer's body for what it is: a stream of events, one JSON text, or no answer at all."""

from typing import Any, Literal

from agents.llm.sse import BYTE_ORDER_MARK, MAX_EVENT_BYTES, EventReader, read_events

LONGEST_FOREIGN_TEXT = 64 * 1024
_ENOUGH = 16
"""Bytes by which the longest name of a field of an event can be told."""
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")

Form = Literal["events", "json", "foreign"]


class ForeignText(Exception):
    """The body is no answer of a model: the page of a proxy, a word of greeting."""


class BodyReader:
    """Finds out by its first bytes what a body is, whatever its type is said to be, and reads it.

    Raises ValueError for what cannot be read, and ForeignText for what no model has said.
    """

    def __init__(self) -> None:
        self._head: bytes = b""
        self._form: Form | None = None
        self._events = EventReader()
        self._parts: list[bytes] = []
        self._size = 0
        self._is_whole = False

    @property
    def has_ended(self) -> bool:
        """The answer is known to be complete."""
        return self._events.has_ended or self._is_whole

    def feed(self, part: bytes) -> list[dict[str, Any]]:
        """The events that are complete with this part."""
        if self._form is None:
            self._head += part
            self._form = _tell_form(self._head)
            if self._form is None:
                self._head = _drop_blanks(self._head)
                return []
            part, self._head = _strip_mark(self._head), b""
        if self._form == "events":
            return self._events.feed(part)
        self._keep(part)
        return []

    def finish(self) -> list[dict[str, Any]]:
        """The events that the end of the body has completed."""
        if self._form is None and self._head.strip():
            rest, self._head = self._head, b""
            self._form = _tell_form(rest + b" " * _ENOUGH)
            self._keep(rest)
        if self._form == "events":
            return self._events.feed(b"".join(self._parts)) + self._events.finish()
        text = b"".join(self._parts).decode(errors="replace")
        if self._form == "foreign":
            raise ForeignText(text)
        return self._read_json(text) if text.strip() else []

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._form == "foreign" and self._size > LONGEST_FOREIGN_TEXT:
            raise ForeignText(b"".join(self._parts)[:LONGEST_FOREIGN_TEXT].decode(errors="replace"))
        if self._size > MAX_EVENT_BYTES:
            raise ValueError("a body that does not end")

    def _read_json(self, text: str) -> list[dict[str, Any]]:
        """One text, or one to a line."""
        try:
            events = read_events(text)
        except ValueError:
            lines = [line for line in text.splitlines() if line.strip()]
            if len(lines) < 2:
                raise
            return [event for line in lines for event in read_events(line)]
        self._is_whole = True
        return events


def _drop_blanks(head: bytes) -> bytes:
    """A head without the blanks it begins with, which some servers send while a model thinks."""
    mark = BYTE_ORDER_MARK if head.startswith(BYTE_ORDER_MARK) else b""
    return mark + _strip_mark(head).lstrip()


def _strip_mark(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK)


def _tell_form(head: bytes) -> Form | None:
    """None while there is too little of it."""
    start = _strip_mark(head).lstrip()
    is_half_mark = len(head) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(head)
    if not start or is_half_mark:
        return None
    if start.startswith((b"{", b"[")):
        return "json"
    if start.startswith(_FIELDS):
        return "events"
    if any(field.startswith(start) for field in _FIELDS) and len(start) < _ENOUGH:
        return None
    return "foreign"
