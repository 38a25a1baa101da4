"""Reads a stream of server-sent events, as they come in over the network."""

import json
from typing import Any

MAX_EVENT_BYTES = 8 * 1024 * 1024
END = "[DONE]"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Cuts the bytes of a stream into events and reads their JSON.

    Bytes may be cut anywhere. Raises ValueError for an event that is no JSON object. What a server
    marks as an error comes out as an object with an `error` in it.
    """

    def __init__(self) -> None:
        self.has_ended = False
        """The provider said that this is all; what follows is not read."""
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._is_error = False

    def feed(self, part: bytes) -> list[dict[str, Any]]:
        """The events that are complete with this part."""
        read = self._rest + part
        if b"\r" in read:
            read = _unify_line_ends(read)
        *lines, self._rest = read.split(b"\n")
        self._check_size(len(self._rest))
        events: list[dict[str, Any]] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._keep(line, 5)
            elif not line:
                events += self._finish_event()
            elif line.startswith(b"error:"):  # an older llama.cpp names the field so
                self._keep(line, 6)
                self._is_error = True
            elif line.startswith(b"event:"):
                self._is_error = line[6:].strip() == b"error"
        return events

    def finish(self) -> list[dict[str, Any]]:
        """The event that the end of the stream has completed."""
        return self.feed(b"\n\n")

    def _keep(self, line: bytes, start: int) -> None:
        self._data.append(line[start:])
        self._size += len(line)
        self._check_size(self._size)

    def _check_size(self, size: int) -> None:
        if size > MAX_EVENT_BYTES:
            raise ValueError("an event that does not end")

    def _finish_event(self) -> list[dict[str, Any]]:
        data, is_error = self._data, self._is_error
        self._data, self._size, self._is_error = [], 0, False
        if not data or self.has_ended:
            return []
        try:
            return self._read(b"\n".join(data), is_error)
        except ValueError:
            if len(data) == 1:
                raise
            # Some servers put no empty line between two events.
            return [event for line in data for event in self._read(line, is_error)]

    def _read(self, data: bytes, is_error: bool) -> list[dict[str, Any]]:
        text = data.decode(errors="replace").strip()
        if not text or self.has_ended:
            return []
        if text[: len(END)].upper() == END:
            self.has_ended = True
            return []
        if is_error:
            return [_read_error(text)]
        return read_events(text)


def read_events(text: str) -> list[dict[str, Any]]:
    """The objects of one JSON text: itself, or those of a list. Raises ValueError for others."""
    value = _load(text)
    events = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(event, dict) for event in events):
        raise ValueError("an event that is no object")
    return events


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("an event that is nested too deeply") from error


def _read_error(text: str) -> dict[str, Any]:
    try:
        value = _load(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) and value.get("error") else {"error": value}


def _unify_line_ends(read: bytes) -> bytes:
    """With line feeds alone. One at the very end may be the first half of a pair."""
    kept, last = (read[:-1], b"\r") if read.endswith(b"\r") else (read, b"")
    return kept.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + last
