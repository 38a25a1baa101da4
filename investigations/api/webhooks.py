"""Where alert sources post as they are."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.fields import TextOrNull
from investigations.api.identity import author_of
from investigations.api.responses import ANYBODY, errors, page_of, parameter
from investigations.api.senders import (
    SenderAuthentication,
    read_posted,
    refuse_smuggled,
    shows_no_time,
)
from investigations.api.subscriptions import confirm_subscription
from investigations.models import Delivery
from investigations.roles import SUBMIT
from investigations.services.deliveries import Outcome, read_delivery, take_delivery
from investigations.services.incidents.taking import Taken

MOST_FIELDS_SHOWN = 50
"""Of those that a key is made of."""
_ALERT_TYPE = parameter(
    "alert_type", "Chooses the chain. Left out: that of the source, else the default one."
)


class AlertOutcomeSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text="The same in every post about this alert.")
    key_from = serializers.ListField(
        child=serializers.CharField(),
        help_text="The fields that the key is made of, where the form of the post does not say it. "
        "`key` of an entry in `alert_sources` names others.",
    )
    title = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=["firing", "resolved", "acknowledged", "test", "other"])
    severity = serializers.ChoiceField(choices=["critical", "high", "warning", "info", "unknown"])
    outcome = serializers.CharField(
        help_text="`started`, `held until MOMENT: WHY`, `joined`, `duplicate...`, `resolved` or "
        "`ignored: REASON`."
    )
    session_id = serializers.UUIDField(allow_null=True)
    incident_id = serializers.UUIDField(allow_null=True)
    left_out = serializers.CharField(allow_blank=True)


class UnreadableSerializer(serializers.Serializer[Any]):
    place = serializers.CharField()
    reason = serializers.CharField()


class TakenDeliverySerializer(serializers.Serializer[Any]):
    source = serializers.CharField(  # type: ignore[assignment]  # a field, like the others
        help_text="As which the post was read."
    )
    message = serializers.CharField()
    id = serializers.UUIDField(help_text="Of the post, as it is kept.")
    outcome = serializers.ChoiceField(
        choices=Delivery.Outcome.choices, help_text="Of the alert for which most was done."
    )
    session_id = serializers.UUIDField(
        allow_null=True, help_text="The first investigation that the post began or joined."
    )
    url = serializers.URLField(
        allow_null=True, help_text="The page that shows this investigation to people."
    )
    incident_id = serializers.UUIDField(allow_null=True, help_text="The first incident of it.")
    delivery_id = TextOrNull(help_text="The number that the sender gave the post.")
    group_key = serializers.CharField(allow_blank=True)
    alerts = AlertOutcomeSerializer(many=True)
    unreadable = UnreadableSerializer(many=True, help_text="Members of the post without an alert.")
    left_out = serializers.ListField(child=serializers.CharField())


_SCHEMA: Mapping[str, Any] = {
    "request": OpenApiTypes.ANY,
    "parameters": [_ALERT_TYPE],
    "responses": {
        202: TakenDeliverySerializer,
        **errors(400, 401, 404, 413, 429, 503),
        **ANYBODY,
    },
}


class WebhooksView(APIView):
    authentication_classes = (SenderAuthentication,)
    permission = SUBMIT
    limit = "alerts"

    @extend_schema(operation_id="post_of_any_source", **_SCHEMA)
    def post(self, request: Request) -> Response:
        """Take a post of an alert source, which is told by its headers and its shape."""
        return _take(request)


class SourceView(APIView):
    authentication_classes = (SenderAuthentication,)
    permission = SUBMIT
    limit = "alerts"

    @extend_schema(operation_id="post_of_source", **_SCHEMA)
    def post(self, request: Request, source: str) -> Response:
        """Take a post of one alert source."""
        return _take(request, source)


class PrometheusView(APIView):
    authentication_classes = (SenderAuthentication,)
    permission = SUBMIT
    limit = "alerts"
    source = "prometheus"

    @extend_schema(operation_id="post_of_prometheus", **_SCHEMA)
    def post(self, request: Request) -> Response:
        """Take a post of Prometheus or vmalert, as to an Alertmanager."""
        return _take(request, self.source)


def _take(request: Request, source: str = "") -> Response:
    post = read_posted(request)
    reading = read_delivery(post, source)
    refuse_smuggled(request, reading)
    outcome = take_delivery(
        confirm_subscription(request, post, reading),
        body=post.body,
        author=author_of(request),
        alert_type=request.query_params.get("alert_type", ""),
        is_told_once=shows_no_time(request),
    )
    session = outcome.session
    headers = {"Location": f"/api/v1/sessions/{session.pk}"} if session else {}
    url = page_of(request, session.pk) if session else None
    return Response(_describe(outcome, url), status=202, headers=headers)


def _describe(outcome: Outcome, url: str | None) -> dict[str, object]:
    reading, delivery = outcome.reading, outcome.delivery
    return {
        "id": str(delivery.pk),
        "source": reading.source,
        "message": outcome.message,
        "outcome": delivery.outcome,
        "session_id": _text(delivery.session_id),
        "url": url,
        "incident_id": _text(delivery.incident_id),
        "delivery_id": reading.delivery_id or None,
        "group_key": reading.group_key,
        "alerts": [_describe_alert(each) for each in outcome.alerts],
        "unreadable": [{"place": each.place, "reason": each.reason} for each in reading.unreadable],
        "left_out": list(reading.left_out),
    }


def _describe_alert(taken: Taken) -> dict[str, object]:
    alert = taken.alert
    return {
        "key": alert.key,
        "key_from": list(alert.key_from[:MOST_FIELDS_SHOWN]),
        "title": alert.title,
        "state": alert.state,
        "severity": alert.severity,
        "outcome": taken.outcome,
        "session_id": _text(taken.session.pk if taken.session else None),
        "incident_id": _text(taken.incident.pk if taken.incident else None),
        "left_out": alert.left_out,
    }


def _text(identity: UUID | None) -> str | None:
    return str(identity) if identity else None
