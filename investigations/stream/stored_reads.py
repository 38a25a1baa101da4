"""The stored stream as sockets read it: in a few threads, with a connection for each call."""

import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import connection

from investigations.selectors.timeline import block_announcement, list_stream, stream_heads
from investigations.stream_messages import Payload, session_channel

_THREADS = 4

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def in_thread(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Call a function that uses the database, from the event loop of a web process."""

    def call() -> Result:
        try:
            return function(*args, **kwargs)
        finally:
            # Back to the pool: these threads wait longer than they work.
            connection.close()

    result: Result = await database_sync_to_async(
        call, thread_sensitive=False, executor=_executor()
    )()
    return result


class StoredStream:
    """`following.Source` over PostgreSQL."""

    async def read(self, session_id: uuid.UUID, after: int, limit: int) -> list[Payload]:
        return await in_thread(list_stream, session_id, after=after, limit=limit)

    async def head(self, session_id: uuid.UUID) -> int:
        heads = await in_thread(stream_heads, [session_id])
        return heads.get(session_id, 0)

    async def find_block(self, event_id: uuid.UUID) -> tuple[int, str] | None:
        return await in_thread(block_announcement, event_id)


async def read_heads(channels: list[str]) -> Mapping[str, int]:
    """`hub.ReadHeads` over PostgreSQL."""
    ids = [uuid.UUID(channel.partition(":")[2]) for channel in channels]
    heads = await in_thread(stream_heads, ids)
    return {session_channel(session_id): seq for session_id, seq in heads.items()}


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="stream")
