"""What every endpoint may answer besides what it is asked for."""

from functools import cache
from typing import Any
from uuid import UUID

from django.urls import get_script_prefix, reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request

from tarsy.proxies import address_asked


class ErrorSerializer(serializers.Serializer[Any]):
    message = serializers.CharField()
    field = serializers.CharField(required=False, help_text="Path of the part that is wrong.")
    detail = serializers.DictField(required=False)


_ANY = UUID(int=0)
ERROR = OpenApiResponse(ErrorSerializer)
ANYBODY = {401: ERROR, 403: ERROR, 429: ERROR, 503: ERROR}
ONE_SESSION = {**ANYBODY, 404: ERROR}


def errors(*codes: int) -> dict[int, OpenApiResponse]:
    """More codes with which an endpoint refuses."""
    return dict.fromkeys(codes, ERROR)


def page_of(request: Request, session_id: UUID) -> str:
    """Where people see a session."""
    path = _page_of_session(get_script_prefix()).replace(str(_ANY), str(session_id))
    return f"{address_asked(request._request)}{path}"


@cache
def _page_of_session(_prefix: str) -> str:
    """Looking a view up takes longer than filling in an id."""
    return reverse("session", args=[_ANY])


def parameter(name: str, about: str = "", *, type: Any = str, **options: Any) -> OpenApiParameter:
    """One of the query, unless `location` says otherwise."""
    return OpenApiParameter(name, type, description=about, **options)
