"""Hears of changed tools from servers of the newer protocol, which tell only those who ask."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_bridge.failures import SERVER_FAILURES
from mcp_bridge.wire.taming import Wire

logger = logging.getLogger(__name__)


@asynccontextmanager
async def listening(client: Client, wire: Wire) -> AsyncIterator[None]:
    """While open, notes on the wire that the server's tools changed, if the server says so."""
    tools = client.server_capabilities.tools
    tells = tools is not None and tools.list_changed is True
    if not tells or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        yield
        return
    listener = asyncio.create_task(_listen(client, wire), name="tool changes")
    try:
        yield
    finally:
        listener.cancel()
        await asyncio.wait({listener})


async def _listen(client: Client, wire: Wire) -> None:
    try:
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                wire.tools_changed = True
    except SERVER_FAILURES as error:
        logger.debug("a tool server stopped telling of changes: %s", type(error).__name__)
