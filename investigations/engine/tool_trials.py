"""Tries one tool server in a worker, because somebody asked for it on a page."""

import asyncio
import logging
import time
from collections.abc import Callable

import redis

from config import get_config
from config.schema.servers import MCPServerConfig
from investigations.engine.own_servers import own_servers
from investigations.engine.records import people_records
from investigations.selectors.system.trials import CLOSE_SECONDS, START_SECONDS, Trial
from investigations.services.trials import end_trial
from mcp_bridge.connection import Deadlines
from mcp_bridge.operator_access import inspect_servers
from mcp_bridge.server_status import ServerStatus

logger = logging.getLogger(__name__)

DEADLINES = Deadlines(start=START_SECONDS, close=CLOSE_SECONDS)
STOPPED = "the worker that tried it was stopped; try again"
OURS = "an error of this product stopped the trial; it is in the worker's log"
_LOOK_SECONDS = 0.5


def try_server(server_id: str, is_stopping: Callable[[], bool]) -> None:
    """Open a connection of its own, list the tools, close it, and keep what came of it."""
    config = get_config().mcp_servers.get(server_id)
    if config is None:
        status = ServerStatus(server_id, "this worker's configuration has no such server")
    else:
        status = _look(server_id, config, is_stopping)
    try:
        end_trial(server_id, _describe(status))
    except redis.RedisError as error:
        logger.warning("What came of trying %s is not told: %s", server_id, error)


def _describe(status: ServerStatus) -> Trial:
    now = time.time()
    return Trial(
        asked_at=now,
        ended_at=now,
        error=status.error,
        latency_ms=status.latency_ms,
        tool_count=len(status.tools or ()),
    )


def _look(server_id: str, config: MCPServerConfig, is_stopping: Callable[[], bool]) -> ServerStatus:
    try:
        return asyncio.run(_look_until_stopped(server_id, config, is_stopping))
    except asyncio.CancelledError:
        return ServerStatus(server_id, STOPPED)
    except Exception:
        logger.exception("trying the tool server %s failed", server_id)
        return ServerStatus(server_id, OURS)


async def _look_until_stopped(
    server_id: str, config: MCPServerConfig, is_stopping: Callable[[], bool]
) -> ServerStatus:
    look = asyncio.ensure_future(
        inspect_servers(
            {server_id: config}, in_process=own_servers(people_records()), deadlines=DEADLINES
        )
    )
    while not look.done():
        if is_stopping():
            look.cancel()
        await asyncio.wait((look,), timeout=_LOOK_SECONDS)
    (inspection,) = look.result()
    return inspection.status
