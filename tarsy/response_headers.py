"""Headers that every response carries, errors and static files too."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from tarsy.build import read_build

PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=()"


class ResponseHeaders(MiddlewareMixin):
    """The outermost middleware: what answers in place of a view passes through it as well."""

    def process_response(
        self, _request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("X-Frame-Options", "DENY")
        response.headers.setdefault("X-TARSY-Build", read_build())
        return response
