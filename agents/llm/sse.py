"""Reads a stream of server-sent events, as they come in over the network."""

import json
from typing import Any

MAX_EVENT_BYTES = 8 * 1024 * 1024
END = "[DONE]"


class EventReader:
    """Cuts the bytes of a stream into events and reads their JSON.

    Bytes may be cut anywhere. Raises ValueError for an event that is no JSON object.
    """

    def __init__(self) -> None:
        self.has_ended = False
        """The provider said that this is all; what follows is not read."""
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, part: bytes) -> list[dict[str, Any]]:
        """The events that are complete with this part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        self._check_size(len(self._rest))
        events: list[dict[str, Any]] = []
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:])
                self._size += len(line)
                self._check_size(self._size)
            elif not line and self._data and not self.has_ended:
                events += self._finish_event()
        return events

    def finish(self) -> list[dict[str, Any]]:
        """The event that the end of the stream has completed."""
        return self.feed(b"\n\n")

    def _check_size(self, size: int) -> None:
        if size > MAX_EVENT_BYTES:
            raise ValueError("an event that does not end")

    def _finish_event(self) -> list[dict[str, Any]]:
        text = b"\n".join(self._data).decode().strip()
        self._data.clear()
        self._size = 0
        if text.startswith(END):
            self.has_ended = True
            return []
        event = json.loads(text)
        if not isinstance(event, dict):
            raise ValueError("an event that is no object")
        return [event]
