"""Tells a server that keeps something for each execution that this one is over."""

import logging

import httpx2

from mcp_bridge.server_config import TransportConfig
from mcp_bridge.wire.http import SESSION_ID, build_http_client, http_headers

logger = logging.getLogger(__name__)

CLEANUP_SECONDS = 15.0
_DONE = (200, 202, 204, 404)


async def clean_up_session(
    server_id: str, transport: TransportConfig, execution_id: str, seconds: float = CLEANUP_SECONDS
) -> None:
    """Send DELETE to the server's `session_cleanup_url`. A failure is logged and nothing else.

    Safe to repeat: nothing there to delete is as good as deleted.
    """
    url = (transport.session_cleanup_url or "").replace(SESSION_ID, execution_id)
    if not url or not execution_id:
        return
    headers = _headers_for(url, transport, execution_id)
    try:
        async with build_http_client(transport, headers) as client:
            response = await client.request("DELETE", url, timeout=seconds, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        logger.warning(
            "the session at tool server %s was not cleaned up: %s", server_id, type(error).__name__
        )
        return
    if response.status_code not in _DONE:
        logger.warning(
            "cleaning up at tool server %s was answered with %d", server_id, response.status_code
        )


def _headers_for(url: str, transport: TransportConfig, execution_id: str) -> dict[str, str]:
    """All headers on the server's own host; elsewhere only those that name the execution."""
    headers = http_headers(transport, execution_id)
    here, there = httpx2.URL(transport.url or ""), httpx2.URL(url)
    if (here.scheme, here.host) == (there.scheme, there.host):
        return headers
    naming = {name for name, value in transport.custom_headers.items() if SESSION_ID in value}
    return {name: value for name, value in headers.items() if name in naming}
