"""Headers that every response carries, errors and static files too."""

from collections.abc import Mapping
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from tarsy.build import read_build

PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=()"
CONTENT_POLICY = "Content-Security-Policy"
_SOURCES = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
_DEBUG_PAGES = (HTTPStatus.NOT_FOUND, HTTPStatus.INTERNAL_SERVER_ERROR)


def write_content_policy(others: Mapping[str, str] | None = None) -> str:
    """What pages may load and from where; `others` stand in place of the usual sources."""
    return "; ".join(
        f"{name} {sources}" for name, sources in {**_SOURCES, **(others or {})}.items()
    )


_USUAL = write_content_policy()


class ResponseHeaders(MiddlewareMixin):
    """The outermost middleware: what answers in place of a view passes through it as well."""

    def process_response(
        self, _request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        # Django's own pages about errors, which only developers see, bring styles of their own.
        if not (settings.DEBUG and response.status_code in _DEBUG_PAGES):
            response.headers.setdefault(CONTENT_POLICY, _USUAL)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("X-Frame-Options", "DENY")
        response.headers.setdefault("X-TARSY-Build", read_build())
        return response
