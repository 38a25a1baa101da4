"""A long answer as a file, sent piece by piece by either kind of server."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse


def stream_file(
    request: HttpRequest, texts: Iterator[str], name: str, content_type: str
) -> StreamingHttpResponse:
    """The texts as a file to keep. A slow reader must not hold what they are read from."""
    # Django would read a plain iterator to its end before it sends the first byte.
    content = _from_threads(texts) if isinstance(request, ASGIRequest) else texts
    return StreamingHttpResponse(
        content,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _from_threads(texts: Iterator[str]) -> AsyncIterator[str]:
    read: Callable[[], Any] = sync_to_async(lambda: next(texts, None))
    while (text := await read()) is not None:
        yield text
