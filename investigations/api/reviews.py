"""Reviews, which this product does not keep: answered as by one in which nobody has reviewed.

Clients of upstream sort their lists by them. A session that runs is `investigating`; no other group
has one, and no review can be written.
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.parsing import read_json_object
from investigations.api.query import (
    LARGEST_TRIAGE_PAGE,
    TRIAGE_GROUPS,
    TRIAGE_PAGE_SIZE,
    read_review,
    read_triage_query,
)
from investigations.api.responses import ANYBODY, ONE_SESSION, errors, parameter
from investigations.api.sessions import SessionItemSerializer
from investigations.roles import OPERATE
from investigations.selectors.sessions import get_session, list_sessions


class TriageSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    page = serializers.IntegerField()
    page_size = serializers.IntegerField()
    total_pages = serializers.IntegerField()
    sessions = SessionItemSerializer(many=True)


class ReviewSerializer(serializers.Serializer[Any]):
    session_ids = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=50)
    action = serializers.CharField()


class ReviewResultSerializer(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    success = serializers.BooleanField()
    error = serializers.CharField(required=False)


class ReviewResultsSerializer(serializers.Serializer[Any]):
    results = ReviewResultSerializer(many=True)


class ReviewActivitySerializer(serializers.Serializer[Any]):
    activities = serializers.ListField(child=serializers.DictField())


class TriageView(APIView):
    @extend_schema(
        operation_id="list_triage_group",
        parameters=[
            parameter("group", enum=list(TRIAGE_GROUPS), location="path"),
            parameter("assignee", "Empty is unassigned; left out is any."),
            parameter("page", type=int, default=1),
            parameter(
                "page_size", f"At most {LARGEST_TRIAGE_PAGE}.", type=int, default=TRIAGE_PAGE_SIZE
            ),
        ],
        responses={200: TriageSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request, group: str) -> Response:
        """One page of a group, newest first; a page behind the last one is the last one."""
        query = read_triage_query(group, request.query_params)
        found = list_sessions(query)
        total_pages = -(-found.total_items // query.page_size)
        if query.page > total_pages > 0:
            found = list_sessions(replace(query, page=total_pages))
        return Response(
            {
                "count": found.total_items,
                "page": max(1, min(query.page, total_pages)),
                "page_size": query.page_size,
                "total_pages": total_pages,
                "sessions": SessionItemSerializer(found.summaries, many=True).data,
            }
        )


class ReviewsView(APIView):
    permission = OPERATE

    @extend_schema(
        operation_id="review_sessions",
        request=ReviewSerializer,
        responses={200: ReviewResultsSerializer, **errors(400, 413, 415), **ANYBODY},
    )
    def patch(self, request: Request) -> Response:
        """No review is kept: every id is refused, with the reason."""
        reason = "reviews are not kept in this version"
        ids = read_review(read_json_object(request._request))
        results = [{"session_id": each, "success": False, "error": reason} for each in ids]
        return Response({"results": results})


class ReviewActivityView(APIView):
    @extend_schema(
        operation_id="list_review_activity",
        responses={200: ReviewActivitySerializer, **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """None: nobody has reviewed it."""
        get_session(session_id)
        return Response({"activities": []})
