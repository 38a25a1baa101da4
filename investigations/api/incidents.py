"""Incidents and deliveries: what came, what belongs together, what was done and why."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.fields import TextOrNull
from investigations.api.query import (
    LARGEST_PAGE,
    PAGE_SIZE,
    SEVERITIES,
    read_deliveries_query,
    read_incidents_query,
)
from investigations.api.responses import ANYBODY, ONE_SESSION, errors, parameter
from investigations.models import AlertEpisode, Delivery, Incident, MemberChange
from investigations.selectors.incidents import (
    list_deliveries,
    list_incidents,
    read_delivery_row,
    read_incident,
)

_PAGE = (
    parameter("before", "The `next_cursor` of the page before."),
    parameter("page_size", f"At most {LARGEST_PAGE}.", type=int, default=PAGE_SIZE),
)


class IncidentSessionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    held_until = serializers.DateTimeField(source="not_before", allow_null=True)
    held_for = TextOrNull()


class IncidentSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field, like the others
    group_key = serializers.CharField()
    kind = serializers.ChoiceField(choices=Incident.Kind.choices)
    title = serializers.CharField(allow_blank=True)
    severity = serializers.ChoiceField(choices=SEVERITIES)
    state = serializers.ChoiceField(
        choices=Incident.State.choices,
        source="told_state",
        allow_null=True,
        help_text="Null of a plain alert, whose end nobody tells.",
    )
    team = TextOrNull()
    alert_type = serializers.CharField()
    rule = TextOrNull(help_text="The route that it took.")
    member_count = serializers.IntegerField()
    firing_count = serializers.IntegerField(
        source="told_firing_count", allow_null=True, help_text="Null where nobody tells a state."
    )
    opened_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    recovered_at = serializers.DateTimeField(allow_null=True)
    reopened_at = serializers.DateTimeField(allow_null=True)
    previous_id = serializers.UUIDField(allow_null=True, help_text="Of the same group, before.")
    absorbed_by = serializers.UUIDField(
        source="absorbed_by_id", allow_null=True, help_text="The storm that took its members."
    )


class IncidentItemSerializer(IncidentSerializer):
    sessions = IncidentSessionSerializer(many=True, source="shown_sessions")


class IncidentListSerializer(serializers.Serializer[Any]):
    incidents = IncidentItemSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class MemberChangeSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=MemberChange.Kind.choices)
    at = serializers.DateTimeField()


class MemberSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(source="episode.key")
    title = serializers.CharField(source="episode.title", allow_blank=True)
    state = serializers.ChoiceField(
        choices=AlertEpisode.State.choices,
        allow_null=True,
        help_text="Null of a plain alert, whose end nobody tells.",
    )
    severity = serializers.CharField(source="episode.severity")
    labels = serializers.DictField(source="episode.labels", child=serializers.CharField())
    link = TextOrNull(source="episode.link")
    starts_at = serializers.DateTimeField(source="episode.starts_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="episode.ended_at", allow_null=True)
    first_seen_at = serializers.DateTimeField(source="episode.first_seen_at")
    last_seen_at = serializers.DateTimeField(source="episode.last_seen_at")
    count = serializers.IntegerField(source="episode.count", help_text="Posts that told of it.")
    changes = MemberChangeSerializer(many=True)


class IncidentDetailSerializer(serializers.Serializer[Any]):
    incident = IncidentSerializer()
    members = MemberSerializer(many=True)
    more_members = serializers.IntegerField(help_text="Those that are not in `members`.")
    absorbed = serializers.IntegerField(help_text="Incidents that this storm took over.")
    sessions = IncidentSessionSerializer(many=True)


class DeliveryAlertSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField()


class DeliveryItemSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field, like the others
    received_at = serializers.DateTimeField()
    author = TextOrNull()
    delivery_id = TextOrNull()
    sha256 = serializers.CharField()
    size = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Delivery.Outcome.choices)
    why = serializers.CharField(allow_blank=True)
    alerts = DeliveryAlertSerializer(many=True)
    alert_count = serializers.IntegerField()
    session_id = serializers.UUIDField(allow_null=True)
    incident_id = serializers.UUIDField(allow_null=True)


class DeliveryDetailSerializer(DeliveryItemSerializer):
    body = serializers.CharField(help_text="As JSON: masked, and cut.")


class DeliveryListSerializer(serializers.Serializer[Any]):
    deliveries = DeliveryItemSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class IncidentsView(APIView):
    @extend_schema(
        operation_id="list_incidents",
        parameters=[
            *_PAGE,
            parameter("state", f"Some of {', '.join(Incident.State.values)}, by commas."),
            parameter("severity", f"Some of {', '.join(SEVERITIES)}, by commas."),
            parameter("source"),
        ],
        responses={200: IncidentListSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Incidents, newest first, each with its investigations."""
        wanted, before, page_size = read_incidents_query(request.query_params)
        found = list_incidents(wanted, before=before, page_size=page_size)
        rows = IncidentItemSerializer(found.incidents, many=True).data
        return Response({"incidents": rows, "next_cursor": found.next_cursor or None})


class IncidentView(APIView):
    @extend_schema(
        operation_id="get_incident", responses={200: IncidentDetailSerializer, **ONE_SESSION}
    )
    def get(self, _request: Request, incident_id: UUID) -> Response:
        """One incident with its members, and when each came and went."""
        return Response(IncidentDetailSerializer(read_incident(incident_id)).data)


class DeliveriesView(APIView):
    @extend_schema(
        operation_id="list_deliveries",
        parameters=[
            *_PAGE,
            parameter("outcome", f"Some of {', '.join(Delivery.Outcome.values)}, by commas."),
            parameter("source"),
            parameter("incident_id", type=OpenApiTypes.UUID),
        ],
        responses={200: DeliveryListSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """What alert sources posted, newest first, what became of it and why."""
        wanted, before, page_size = read_deliveries_query(request.query_params)
        found = list_deliveries(wanted, before=before, page_size=page_size)
        rows = DeliveryItemSerializer(found.deliveries, many=True).data
        return Response({"deliveries": rows, "next_cursor": found.next_cursor or None})


class DeliveryView(APIView):
    @extend_schema(
        operation_id="get_delivery", responses={200: DeliveryDetailSerializer, **ONE_SESSION}
    )
    def get(self, _request: Request, delivery_id: UUID) -> Response:
        """One post, with its body as it is kept."""
        return Response(DeliveryDetailSerializer(read_delivery_row(delivery_id)).data)
