"""Daphne writes a body to disk before anything of ours sees the request, however large it is.

gunicorn hands a body on as it arrives, and Django stops reading. Here it must be stopped earlier:
at the length that the headers name, or where none is named at the chunk that is one too many.
"""

import logging

from daphne import http_protocol
from django.conf import settings
from typing_extensions import override

from investigations.api.errors import answer_too_large

logger = logging.getLogger(__name__)

_MOST_THROWN_AWAY = 16 * 1024 * 1024
"""Whoever is still sending would not see an answer on a connection that is cut at once."""


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body is refused, with 413, as soon as it is known to be too large."""

    _received = 0
    _is_refused = False

    @override
    def gotLength(self, length: int | None) -> None:
        if length is not None and length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            self._refuse()
        super().gotLength(0 if self._is_refused else length)

    @override
    def handleContentChunk(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > settings.DATA_UPLOAD_MAX_MEMORY_SIZE and not self._is_refused:
            self._refuse()
        if not self._is_refused:
            super().handleContentChunk(data)
        elif self._received > _MOST_THROWN_AWAY:
            self.channel.transport.abortConnection()

    @override
    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        if self._is_refused:
            self.channel.loseConnection()
            return
        super().requestReceived(command, path, version)

    def _refuse(self) -> None:
        self._is_refused = True
        # Or the channel would go on and ask for the body.
        self.requestHeaders.removeHeader(b"expect")
        path = self.channel._path.decode("latin-1")
        logger.warning("A body that is too large was refused: %.200s", path)
        answer = answer_too_large(path)
        head = (
            f"HTTP/1.1 413 {answer.reason_phrase}\r\n"
            f"Content-Type: {answer.headers['Content-Type']}\r\n"
            f"Content-Length: {len(answer.content)}\r\nConnection: close\r\n\r\n"
        )
        self.channel.transport.write(head.encode("latin-1") + answer.content)


def bound_bodies() -> None:
    """For all connections from now on: Daphne offers no place to name one's own requests."""
    http_protocol.WebRequest = BoundedRequest
