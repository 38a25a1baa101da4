"""What every endpoint may answer besides what it is asked for."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request

from tarsy.proxies import address_asked


class ErrorSerializer(serializers.Serializer[Any]):
    message = serializers.CharField()
    field = serializers.CharField(required=False, help_text="Path of the part that is wrong.")
    detail = serializers.DictField(required=False)


ERROR = OpenApiResponse(ErrorSerializer)
ANYBODY = {401: ERROR, 403: ERROR, 429: ERROR, 503: ERROR}
ONE_SESSION = {**ANYBODY, 404: ERROR}


def errors(*codes: int) -> dict[int, OpenApiResponse]:
    """More codes with which an endpoint refuses."""
    return dict.fromkeys(codes, ERROR)


def page_of(request: Request, session_id: UUID) -> str:
    """Where people see a session."""
    return f"{address_asked(request._request)}{reverse('session', args=[session_id])}"


def parameter(name: str, about: str = "", *, type: Any = str, **options: Any) -> OpenApiParameter:
    """One of the query, unless `location` says otherwise."""
    return OpenApiParameter(name, type, description=about, **options)
