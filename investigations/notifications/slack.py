"""Posts to a Slack channel, into the thread of the message that a fingerprint is found in."""

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import httpx

from agents.retry_after import read_retry_after
from investigations.notifications.messages import Message
from tarsy.errors import TarsyError

logger = logging.getLogger(__name__)

HISTORY_SECONDS = 24 * 60 * 60
HISTORY_MESSAGES = 1000
"""How far back, and through how many messages, a fingerprint is looked for."""

_PAGE = 200
_SEARCH_SHARE = 0.5
"""Of the time for a message: where it belongs must not cost that it is sent at all."""
_MOST_BYTES = 8 * 1024 * 1024
_BLOCK_DEPTH = 12
_USUAL_WAIT = 1.0
"""Seconds, where Slack asks for patience and does not say for how long."""


class SlackRefused(TarsyError):
    """The operator: Slack, or what stands in its place, did not do what was asked."""


@dataclass(frozen=True)
class SlackChannel:
    """Where to post and with which token; `api_url` ends with a slash."""

    name: str
    token: str = field(repr=False)
    api_url: str = "https://slack.com/api/"


async def post(
    channel: SlackChannel, message: Message, *, fingerprint: str = "", seconds: float
) -> str:
    """Post a message and return its timestamp, Slack's name for it.

    With a fingerprint it goes into the thread of the newest message that holds it. Without such a
    message, or when the search fails, it goes into the channel. Raises SlackRefused, or
    TimeoutError after `seconds`.
    """
    headers = {"authorization": f"Bearer {channel.token}"}
    async with (
        asyncio.timeout(seconds),
        httpx.AsyncClient(base_url=channel.api_url, headers=headers, timeout=seconds) as client,
    ):
        thread = None
        if fingerprint.strip():
            thread = await _find_thread(client, channel.name, fingerprint, seconds * _SEARCH_SHARE)
        body: dict[str, object] = {
            "channel": channel.name,
            "text": message.text,
            "blocks": list(message.blocks),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if thread is not None:
            body["thread_ts"] = thread
        answer = await _call(client, "POST", "chat.postMessage", body=body)
        return str(answer.get("ts", ""))


async def _find_thread(
    client: httpx.AsyncClient, channel: str, fingerprint: str, seconds: float
) -> str | None:
    try:
        async with asyncio.timeout(seconds):
            found = await _search(client, channel, _normalize(fingerprint))
    except (SlackRefused, TimeoutError) as error:
        logger.warning("Slack history not searched, posting without a thread: %s", _say(error))
        return None
    if found is None:
        logger.info("No Slack message of the last day holds the fingerprint; posting without it")
    return found


async def _search(client: httpx.AsyncClient, channel: str, wanted: str) -> str | None:
    query = {
        "channel": channel,
        "oldest": f"{time.time() - HISTORY_SECONDS:.6f}",
        "limit": str(_PAGE),
    }
    for _ in range(HISTORY_MESSAGES // _PAGE):
        answer = await _call(client, "GET", "conversations.history", query=query)
        for message in _mappings(answer.get("messages")):
            if wanted in _normalize(" ".join(_texts(message))):
                return str(message.get("thread_ts") or message.get("ts") or "") or None
        metadata = answer.get("response_metadata")
        cursor = metadata.get("next_cursor") if isinstance(metadata, Mapping) else None
        if not isinstance(cursor, str) or not cursor:
            return None
        query["cursor"] = cursor
    return None


def _mappings(value: object) -> list[Mapping[str, object]]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Every text of a message, wherever alerting tools put it: attachments, fields, blocks."""
    if isinstance(value, str):
        yield value
    elif depth < _BLOCK_DEPTH and isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, depth + 1)
    elif depth < _BLOCK_DEPTH and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1)


def _normalize(text: str) -> str:
    # Slack escapes these three in what it stores, and clients wrap lines as they like.
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return " ".join(plain.split()).casefold()


async def _call(
    client: httpx.AsyncClient,
    verb: str,
    method: str,
    *,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, object] | None = None,
) -> Mapping[str, object]:
    try:
        response = await _ask(client, verb, method, query, body)
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            # Nothing was done yet; whoever waits for us says how long we may.
            await asyncio.sleep(_retry_after(response))
            response = await _ask(client, verb, method, query, body)
    except httpx.HTTPError as error:
        raise SlackRefused(f"{method}: {type(error).__name__}") from error
    return _read(method, response)


async def _ask(
    client: httpx.AsyncClient,
    verb: str,
    method: str,
    query: Mapping[str, str] | None,
    body: Mapping[str, object] | None,
) -> httpx.Response:
    request = client.build_request(verb, method, params=query, json=body)
    response = await client.send(request, stream=True)
    try:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > _MOST_BYTES:
                raise SlackRefused(f"{method} answers more than {_MOST_BYTES:,} bytes")
    finally:
        await response.aclose()
    return httpx.Response(response.status_code, headers=_plain(response), content=bytes(content))


def _plain(response: httpx.Response) -> dict[str, str]:
    """Headers without those about an encoding that is undone already."""
    kept = ("content-type", "date", "retry-after")
    return {name: value for name, value in response.headers.items() if name.lower() in kept}


def _retry_after(response: httpx.Response) -> float:
    asked = read_retry_after(response.headers)
    return _USUAL_WAIT if asked is None else asked


def _read(method: str, response: httpx.Response) -> Mapping[str, object]:
    try:
        answer = cast(object, response.json())
    except ValueError:
        answer = None
    if response.status_code != httpx.codes.OK or not isinstance(answer, Mapping):
        raise SlackRefused(f"{method} answers {response.status_code}")
    if answer.get("ok") is not True:
        raise SlackRefused(f"{method} answers {str(answer.get('error', 'no reason'))[:200]!r}")
    return answer


def _say(error: Exception) -> str:
    return str(error) or "no answer in time"
