"""What happened in a session, in order."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.query import read_timeline_query
from investigations.api.responses import ONE_SESSION, parameter
from investigations.models import TimelineEvent
from investigations.selectors.timeline import TIMELINE_LIMIT, list_timeline


class TimelineEventSerializer(serializers.ModelSerializer[TimelineEvent]):
    class Meta:
        model = TimelineEvent
        fields = [
            "id",
            "session_id",
            "stage_id",
            "execution_id",
            "parent_execution_id",
            "sequence_number",
            "created_at",
            "updated_at",
            "event_type",
            "status",
            "content",
            "metadata",
            "llm_interaction_id",
            "mcp_interaction_id",
        ]
        read_only_fields = fields


class SessionTimelineView(APIView):
    @extend_schema(
        operation_id="get_session_timeline",
        parameters=[
            parameter("after", "Only rows with a larger sequence number.", type=int, default=0),
            parameter("limit", type=int, default=TIMELINE_LIMIT),
        ],
        responses={200: TimelineEventSerializer(many=True), **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """What happened, in order. A `Link` header with `rel="next"` says that there is more."""
        after, limit = read_timeline_query(request.query_params)
        rows = list_timeline(session_id, after=after, limit=limit + 1)
        shown = rows[:limit]
        headers = {}
        if len(rows) > limit:
            following = f"?after={shown[-1].sequence_number}&limit={limit}"
            headers["Link"] = f'<{request.build_absolute_uri(following)}>; rel="next"'
        return Response(TimelineEventSerializer(shown, many=True).data, headers=headers)
