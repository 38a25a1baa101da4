"""HTTP answers that are no answers: what they say, and whose call they are about.

For the SDK most of them are one and the same error. Here each is noted with its status and with
what the server says of it, so that a call that was refused is not told as one that may have run.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import httpx2
from typing_extensions import override

from agents.retry_after import read_retry_after
from agents.types import JSON
from mcp_bridge.wire.attempts import current_attempt
from mcp_bridge.wire.reasons import read_reason

_NOT_ALLOWED = (401, 403)
_NOBODY_THERE = (502, 503, 504)
_UNKNOWN_SESSION = (-32001, -32600)
"""Codes by which the SDKs say, beside 404, that they know no such session."""
_ANSWERS = ("application/json", "text/event-stream")
_SHORTEST_SECRET = 6
"""Characters of a variable that can be told from a word in a header."""


class HTTPRefusal(httpx2.HTTPStatusError):
    """The server refused a request that makes or keeps the connection. `reason` is what it said."""

    def __init__(self, response: httpx2.Response, reason: str) -> None:
        super().__init__(reason, request=response.request, response=response)
        self.reason = reason


class CallingClient(httpx2.AsyncClient):
    """An HTTP client that notes of a call when no connection came about for it."""

    @override
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            attempt = current_attempt()
            if attempt is not None and read_method(request) == attempt.method:
                attempt.has_left = attempt.rounds > 1
                attempt.reason = explain_no_connection(error, self.timeout.connect)
            raise


class Refusals:
    """The hook on every answer of one HTTP client, whose requests carry these headers."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)

    async def __call__(self, response: httpx2.Response) -> None:
        attempt = current_attempt()
        method = read_method(response.request)
        if attempt is None or method != attempt.method:
            await self._refuse(response, method)
            return
        attempt.refuse(0, "", None)  # What was redirected before it counts no more.
        if _is_answer(response):
            return
        is_lost = await _has_lost_session(response)
        attempt.refuse(
            response.status_code,
            await self._explain(response),
            read_retry_after(response.headers),
            None if is_lost else await _find_answered_code(response),
        )
        if is_lost:
            attempt.lost_session = True
            raise httpx2.RemoteProtocolError("the server no longer knows the session")
        if not _expects_answer(response) and response.status_code >= 400:
            # The SDK sends nothing more by this connection, and tells nobody.
            attempt.is_deaf = True
            attempt.interrupt()

    async def _refuse(self, response: httpx2.Response, method: str) -> None:
        """End the connection where the SDK would only say that there was an error."""
        status = response.status_code
        if status in _NOT_ALLOWED or (
            method == "initialize" and status >= 400 and not _is_error(await _read(response))
        ):
            raise HTTPRefusal(response, await self._explain(response))
        if status in _NOBODY_THERE:
            said = await self._explain(response)
            raise httpx2.RemoteProtocolError(
                f"what stands before the server answered with HTTP status {status}"
                + (f": {said}" if said else "")
            )
        if await _has_lost_session(response):
            raise httpx2.RemoteProtocolError("the server no longer knows the session")

    async def _explain(self, response: httpx2.Response) -> str:
        said = read_reason(await _read(response), response.headers)
        if response.status_code != 401:
            return said
        where = name_variables(self._headers, os.environ)
        return f"{said}; {where}" if said and where else said or where


def name_variables(headers: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Where the credentials in these headers come from, as a clause; empty where nobody can tell.

    The configuration takes secrets from variables, so the one that holds a header's value is meant.
    """
    secret = headers.get("Authorization")
    tokens = {each.split()[-1] for each in ([secret] if secret else headers.values()) if each}
    names = [
        name
        for name, value in environ.items()
        if len(value) >= _SHORTEST_SECRET and value.strip() in tokens
    ]
    if not names:
        return ""
    return f"its token comes from the variable {' or '.join(sorted(names)[:3])}"


def read_method(request: httpx2.Request) -> str:
    """The method of JSON-RPC that a request asks for; empty where it asks for none."""
    method = _read_request(request).get("method")
    return method if isinstance(method, str) else ""


def _read_request(request: httpx2.Request) -> dict[str, JSON]:
    """The message of JSON-RPC that a request carries; empty where it carries none."""
    try:
        message: JSON = json.loads(request.content)
    except (ValueError, RecursionError, httpx2.RequestNotRead):
        return {}
    return message if isinstance(message, dict) else {}


def explain_no_connection(error: Exception, seconds: float | None) -> str:
    """Why no connection came about: in time, or at all."""
    if isinstance(error, httpx2.TimeoutException):
        within = f" within {seconds:g} s" if seconds is not None else " in time"
        return f"no connection came about{within}"
    return f"nothing answers at its address{find_system_reason(error)}"


def find_system_reason(error: BaseException | None) -> str:
    """What the system says of a failed connection, behind a colon: `: connection refused`."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
            continue
        if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
            return f": {os.strerror(error.errno).lower()}"
        error = error.__cause__ or error.__context__
    return ""


def _is_answer(response: httpx2.Response) -> bool:
    """Whether it brings a message: every other success leaves open what became of the call."""
    if not _expects_answer(response):
        return response.is_success
    kind = response.headers.get("content-type", "").lower()
    return response.is_success and response.status_code != 202 and kind.startswith(_ANSWERS)


def _expects_answer(response: httpx2.Response) -> bool:
    """Whether the answer to a request comes with it, and not by a stream apart."""
    return bool(response.request.headers.get("accept", "").startswith("application/json"))


async def _has_lost_session(response: httpx2.Response) -> bool:
    """Whether the server no longer knows the session.

    A server that was started again answers 404, or 400 without having looked at the request. For
    the SDK either is the answer to one call; for us it is time to connect anew. Some answer 401 or
    403 in that way, and name the session. One that answers the request itself knows who asks,
    whatever the status, unless its error says that it does not.
    """
    request = response.request
    if request.method != "POST" or "mcp-session-id" not in request.headers:
        return False
    status, body = response.status_code, await _read(response)
    names_session = b"session" in body.lower()
    if status == 404:
        code = await _find_answered_code(response)
        # The codes alone do not say it: one of them is that of a request that took too long.
        return code is None or (code in _UNKNOWN_SESSION and names_session)
    return _is_unread(body) and (status == 400 or (status in _NOT_ALLOWED and names_session))


async def _find_answered_code(response: httpx2.Response) -> int | None:
    """The code of the error by which the server itself answers this very request beside a status.

    None where it does not, 0 where no code tells more: a stream of events may hold any answer.
    """
    if _is_stream(response):
        return 0
    try:
        said: JSON = json.loads(await _read(response))
    except (ValueError, RecursionError):
        return None
    identity = _read_request(response.request).get("id")
    for message in said if isinstance(said, list) else [said]:
        if not isinstance(message, dict) or message.keys().isdisjoint(("error", "result")):
            continue
        if identity is not None and str(message.get("id")) == str(identity):
            error = message.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            return code if isinstance(code, int) else 0
    return None


def _is_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


async def _read(response: httpx2.Response) -> bytes:
    """What an answer says that is no stream of events."""
    if _is_stream(response):
        return b""
    return await response.aread()


def _is_unread(body: bytes) -> bool:
    return _is_error(body) and json.loads(body).get("id") is None


def _is_error(body: bytes) -> bool:
    """Whether it is an error of JSON-RPC, which the SDK reads, or may react to."""
    try:
        message: JSON = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and isinstance(message.get("error"), dict)
