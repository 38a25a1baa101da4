"""Sessions as lists: a page of them, what is going on, what can be filtered by."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from investigations.api.fields import TextOrNull
from investigations.api.paging import PaginationSerializer, paginate
from investigations.api.query import (
    LARGEST_PAGE,
    PAGE_SIZE,
    RATINGS,
    REVIEW_STATUSES,
    SCORING_STATUSES,
    read_list_query,
)
from investigations.api.responses import ANYBODY, errors, parameter
from investigations.api.session_fields import SESSION_STATUSES, SessionFields
from investigations.models import AlertSession
from investigations.selectors.session_list.search import SHORTEST_SEARCH
from investigations.selectors.sessions import SORTS, filter_options, list_active, list_sessions


class SessionItemSerializer(SessionFields):
    has_sub_agents = serializers.BooleanField(source="sub_agents")
    provider_fallback_count = serializers.IntegerField(source="provider_fallbacks")
    matched_in_content = serializers.BooleanField()


class SessionListSerializer(serializers.Serializer[Any]):
    sessions = SessionItemSerializer(many=True)
    pagination = PaginationSerializer()
    cost_estimation_enabled = serializers.BooleanField()
    next_cursor = serializers.CharField(
        allow_null=True,
        help_text="`before` of the next page, newest first; null on the last one and where pages "
        "were asked for by another order or number.",
    )


class ActiveSessionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    alert_type = serializers.CharField()
    chain_id = serializers.CharField()
    status = serializers.ChoiceField(choices=SESSION_STATUSES)
    author = TextOrNull()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    current_stage_index = serializers.IntegerField(allow_null=True)
    current_stage_id = serializers.UUIDField(allow_null=True)


class QueuedSessionSerializer(ActiveSessionSerializer):
    queue_position = serializers.IntegerField(min_value=1)


class ActiveSessionsSerializer(serializers.Serializer[Any]):
    active = ActiveSessionSerializer(many=True)
    queued = QueuedSessionSerializer(many=True)


class FilterOptionsSerializer(serializers.Serializer[Any]):
    alert_types = serializers.ListField(child=serializers.CharField())
    chain_ids = serializers.ListField(child=serializers.CharField())
    statuses = serializers.ListField(child=serializers.ChoiceField(choices=SESSION_STATUSES))


class SessionsView(APIView):
    @extend_schema(
        operation_id="list_sessions",
        parameters=[
            parameter(
                "page",
                "Beyond what is counted there are none: go on by `before`.",
                type=int,
                default=1,
            ),
            parameter("before", "The `next_cursor` of the page before, instead of a number."),
            parameter("page_size", f"At most {LARGEST_PAGE}.", type=int, default=PAGE_SIZE),
            parameter("sort_by", enum=list(SORTS), default="created_at"),
            parameter("sort_order", enum=["asc", "desc"], default="desc"),
            parameter("status", f"Some of {', '.join(AlertSession.Status.values)}, by commas."),
            parameter("alert_type"),
            parameter("chain_id"),
            parameter("author"),
            parameter(
                "search", f"At least {SHORTEST_SEARCH} characters, in alert, report and timeline."
            ),
            parameter("start_date", "Created then or later.", type=OpenApiTypes.DATETIME),
            parameter("end_date", "Created before.", type=OpenApiTypes.DATETIME),
            parameter("scoring_status", enum=list(SCORING_STATUSES)),
            parameter("review_status", f"Some of {', '.join(REVIEW_STATUSES)}, by commas."),
            parameter("assignee"),
            parameter("quality_rating", enum=list(RATINGS)),
        ],
        responses={200: SessionListSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """One page of sessions, newest first unless asked otherwise."""
        query = read_list_query(request.query_params)
        found = list_sessions(query)
        return Response(
            {
                "sessions": SessionItemSerializer(found.summaries, many=True).data,
                "pagination": paginate(query.page, query.page_size, found.total_items),
                "cost_estimation_enabled": get_config().system.cost_estimation.enabled,
                "next_cursor": found.next_cursor or None,
            }
        )


class ActiveSessionsView(APIView):
    @extend_schema(
        operation_id="list_active_sessions",
        responses={200: ActiveSessionsSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """What runs and what waits, in the order of the queue."""
        active, queued = list_active()
        waiting = ActiveSessionSerializer(queued, many=True).data
        return Response(
            {
                "active": ActiveSessionSerializer(active, many=True).data,
                "queued": [
                    {**item, "queue_position": place} for place, item in enumerate(waiting, start=1)
                ],
            }
        )


class FilterOptionsView(APIView):
    @extend_schema(
        operation_id="get_filter_options", responses={200: FilterOptionsSerializer, **ANYBODY}
    )
    def get(self, request: Request) -> Response:
        """What a list of sessions can be narrowed to."""
        return Response(FilterOptionsSerializer(filter_options()).data)
