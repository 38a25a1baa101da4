"""Earlier results of a session, read on the database threads."""

import uuid

from agents.types import StoredResult
from investigations.selectors.tool_results import read_tool_result
from tarsy.aio import WorkerLoop


class SessionResults:
    """`agents.ports.ResultReader` over the database."""

    def __init__(self, session_id: uuid.UUID, loop: WorkerLoop) -> None:
        self._session_id = session_id
        self._loop = loop

    async def read_result(self, number: int) -> StoredResult | None:
        return await self._loop.db(read_tool_result, self._session_id, number)
