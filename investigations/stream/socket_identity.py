"""Who opened a socket, judged like a REST request, and whether its page is one of ours."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse

from config import get_config
from investigations.access.identity import NotIdentified, identify, is_own_origin
from investigations.access.limits import source_of
from investigations.roles import VIEW
from tarsy.proxies import settle_scheme

_SCHEMES = {"wss": "https", "https": "https"}


def request_of(scope: Mapping[str, Any]) -> HttpRequest:
    """The handshake as a request with session and user, both read when they are asked for."""
    as_http = {
        **scope,
        "type": "http",
        "method": "GET",
        "scheme": _SCHEMES.get(scope.get("scheme", "ws"), "http"),
    }
    request = ASGIRequest(as_http, BytesIO())
    SessionMiddleware(_answer_nothing).process_request(request)
    AuthenticationMiddleware(_answer_nothing).process_request(request)
    return request


def find_source(request: HttpRequest) -> str | None:
    """Whom a socket counts for; None where it may not see anything."""
    try:
        identity = identify(request)
    except NotIdentified:
        return None
    return source_of(request, identity) if identity.may(VIEW) else None


def may_connect(request: HttpRequest) -> bool:
    """Whether the page that opens the socket is ours, or it is no page at all.

    Browsers always name the origin; a client that names none is no browser, and then only its
    identity counts.
    """
    settle_scheme(request)
    try:
        host = request.get_host()
    except DisallowedHost:
        return False
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None:
        return True
    return is_own_origin(origin, host=host, scheme=request.scheme or "http") or _is_listed(origin)


def _is_listed(origin: str) -> bool:
    parts = urlsplit(origin.lower())
    if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
        return False
    system = get_config().system
    patterns = [*settings.ALLOWED_WS_ORIGINS, *system.allowed_ws_origins]
    if "dashboard_url" in system.model_fields_set:
        dashboard = urlsplit(system.dashboard_url.lower())
        patterns.append(f"{dashboard.scheme}://{dashboard.netloc}")
    return any(
        fnmatchcase(origin.lower() if "://" in pattern else parts.netloc, pattern.lower())
        for pattern in patterns
        # A bare star would open the socket to every page there is.
        if pattern.strip("*")
    )


def _answer_nothing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()
