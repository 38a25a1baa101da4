"""Maintenance windows: alerts that match are held until they end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.words import suggest
from investigations.api.fields import TextOrNull
from investigations.api.identity import author_of
from investigations.api.parsing import JSON, read_json_object
from investigations.api.query import read_moment
from investigations.api.responses import ANYBODY, ONE_SESSION, errors
from investigations.roles import OPERATE
from investigations.selectors.incidents import list_windows
from investigations.services.incidents.windows import WindowRequest, end_window, open_window
from tarsy.errors import InvalidInput


class MaintenanceWindowSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField()
    matchers = serializers.ListField(
        child=serializers.CharField(),
        help_text="In Alertmanager's syntax; each must match. None matches every alert.",
    )
    starts_at = serializers.DateTimeField(required=False, help_text="Left out: now.")
    ends_at = serializers.DateTimeField()
    author = serializers.CharField(read_only=True)
    ended_by = TextOrNull(read_only=True)


class MaintenanceListSerializer(serializers.Serializer[Any]):
    windows = MaintenanceWindowSerializer(many=True)


class MaintenanceView(APIView):
    permission = OPERATE

    @extend_schema(
        operation_id="list_maintenance", responses={200: MaintenanceListSerializer, **ANYBODY}
    )
    def get(self, _request: Request) -> Response:
        """Windows that people opened and that are not over. Those of `tarsy.yaml` stand there."""
        rows = MaintenanceWindowSerializer(list_windows(timezone.now()), many=True).data
        return Response({"windows": rows})

    @extend_schema(
        operation_id="open_maintenance",
        request=MaintenanceWindowSerializer,
        responses={201: MaintenanceWindowSerializer, **errors(400, 413, 415), **ANYBODY},
    )
    def post(self, request: Request) -> Response:
        """Hold the investigations of alerts that match until the window ends."""
        wanted = read_window(read_json_object(request._request))
        window = open_window(wanted, author_of(request))
        return Response(MaintenanceWindowSerializer(window).data, status=201)


class MaintenanceWindowView(APIView):
    permission = OPERATE

    @extend_schema(
        operation_id="end_maintenance",
        responses={200: MaintenanceWindowSerializer, **ONE_SESSION, **errors(409)},
    )
    def delete(self, request: Request, window_id: UUID) -> Response:
        """End a window now; what it held begins, if it still fires."""
        return Response(MaintenanceWindowSerializer(end_window(window_id, author_of(request))).data)


def read_window(body: Mapping[str, JSON]) -> WindowRequest:
    """Raises InvalidInput naming the field that is wrong. One that is not known is: whoever
    misspells what narrows a window would hold every alert."""
    known = MaintenanceWindowSerializer().fields
    for field in body:
        if field not in known:
            raise InvalidInput(field, f"is not known here{suggest(field, known)}")
    name, matchers = body.get("name"), body.get("matchers", [])
    if not isinstance(name, str):
        raise InvalidInput("name", "must be a text")
    if not isinstance(matchers, list) or not all(isinstance(each, str) for each in matchers):
        raise InvalidInput("matchers", "must be a list of texts")
    ends_at = _moment(body, "ends_at")
    if ends_at is None:
        raise InvalidInput("ends_at", "is needed: a moment such as 2026-03-01T12:00:00Z")
    starts_at = _moment(body, "starts_at") or timezone.now()
    return WindowRequest(name, tuple(map(str, matchers)), starts_at, ends_at)


def _moment(body: Mapping[str, JSON], name: str) -> datetime | None:
    value = body.get(name)
    if value is None:
        return None
    moment = read_moment(value) if isinstance(value, str) else None
    if moment is None:
        raise InvalidInput(name, "must be a moment such as 2026-03-01T12:00:00Z")
    return moment
