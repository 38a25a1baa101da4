"""Limits of the REST API."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from typing_extensions import override

from investigations.access.identity import Identity
from investigations.access.limits import Kind, count_request

if TYPE_CHECKING:
    # Django REST framework loads this module while it loads its own views.
    from rest_framework.views import APIView


class SourceThrottle(BaseThrottle):
    """Counts under the `limit` that a view names for what it does, else under `requests`."""

    @override
    def allow_request(self, request: Request, view: "APIView") -> bool:
        kind: Kind = "requests"
        if request.method == "POST":
            kind = getattr(view, "limit", kind)
        identity = request.auth if isinstance(request.auth, Identity) else None
        count_request(request._request, kind, identity)
        return True
