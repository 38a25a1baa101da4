"""How alerts come in, and what they may ask for."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from investigations.api.identity import author_of
from investigations.api.parsing import read_json, require_object
from investigations.api.responses import ANYBODY, errors, page_of
from investigations.api.senders import headers_of
from investigations.roles import SUBMIT
from investigations.services.deliveries import refuse_native
from investigations.services.intake import read_alert, submit_alert
from investigations.services.runbooks import available_runbooks

_NAMED = 5
"""Unknown fields that an answer names."""

# ---- Requests, for the OpenAPI document: bodies are read by `parsing` and `intake` --------------


class SelectedServerSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    tools = serializers.ListField(
        child=serializers.CharField(), required=False, allow_null=True, help_text="Empty is all."
    )


class NativeToolsSerializer(serializers.Serializer[Any]):
    google_search = serializers.BooleanField(required=False)
    code_execution = serializers.BooleanField(required=False)
    url_context = serializers.BooleanField(required=False)


class ToolSelectionSerializer(serializers.Serializer[Any]):
    servers = SelectedServerSerializer(
        many=True, required=False, help_text="In place of the configured ones."
    )
    native_tools = NativeToolsSerializer(
        required=False,
        help_text="Switched on without servers, they take their place where the model has them.",
    )


@extend_schema_field(OpenApiTypes.ANY)
class AnyJsonField(serializers.JSONField):
    """Text or any JSON value."""


class AlertSerializer(serializers.Serializer[Any]):
    alert_type = serializers.CharField(required=False, help_text="Left out: the default one.")
    data = AnyJsonField(  # type: ignore[assignment]  # a field, like the others
        help_text="The alert as text or as any JSON value, at most 1 MiB."
    )
    runbook = serializers.CharField(required=False, help_text="HTTPS, of an allowed domain.")
    mcp = ToolSelectionSerializer(required=False, allow_null=True)
    mcp_selection = ToolSelectionSerializer(
        required=False, allow_null=True, help_text="Another name for `mcp`."
    )
    slack_message_fingerprint = serializers.CharField(required=False)


# ---- Answers ------------------------------------------------------------------------------------


class AcceptedSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=["queued"])
    message = serializers.CharField()
    url = serializers.URLField(help_text="The page that shows the investigation to people.")


class AlertTypeSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    chain_id = serializers.CharField()
    description = serializers.CharField(allow_blank=True)


class AlertTypesSerializer(serializers.Serializer[Any]):
    alert_types = AlertTypeSerializer(many=True)
    default_chain_id = serializers.CharField(allow_blank=True)
    default_alert_type = serializers.CharField(allow_blank=True)


class AlertsView(APIView):
    permission = SUBMIT
    limit = "alerts"

    @extend_schema(
        operation_id="submit_alert",
        request=AlertSerializer,
        responses={
            202: AcceptedSerializer,
            **errors(400, 413, 415, 429),
            **ANYBODY,
        },
    )
    def post(self, request: Request) -> Response:
        """Queue an investigation of an alert."""
        body = read_json(request._request)
        refuse_native(body, headers_of(request))
        alert = read_alert(require_object(body))
        session = submit_alert(alert, author=author_of(request))
        return Response(
            {
                "session_id": str(session.pk),
                "status": "queued",
                "message": f"Alert queued as {alert.alert_type}{_tell_ignored(alert.ignored)}",
                "url": page_of(request, session.pk),
            },
            status=202,
            headers={"Location": f"/api/v1/sessions/{session.pk}"},
        )


def _tell_ignored(names: Sequence[str]) -> str:
    """A misspelt field would otherwise be missed in silence."""
    if not names:
        return ""
    shown = ", ".join(name[:60] for name in names[:_NAMED])
    return f"; ignored, since no field has this name: {shown}"


class AlertTypesView(APIView):
    @extend_schema(
        operation_id="list_alert_types",
        responses={200: AlertTypesSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Which alert types there are and which chain takes them."""
        config = get_config()
        default = config.chain_for(config.default_alert_type)
        types = [
            {"type": alert_type, "chain_id": name, "description": chain.description}
            for name, chain in sorted(config.chains.items())
            for alert_type in chain.alert_types
        ]
        return Response(
            {
                "alert_types": types,
                "default_chain_id": default.name if default else "",
                "default_alert_type": config.default_alert_type,
            }
        )


class RunbooksView(APIView):
    @extend_schema(
        operation_id="list_runbooks",
        responses={
            200: {"type": "array", "items": {"type": "string", "format": "uri"}},
            **ANYBODY,
        },
    )
    def get(self, request: Request) -> Response:
        """The runbooks of the configured repository; none when it cannot be read."""
        return Response(available_runbooks())
