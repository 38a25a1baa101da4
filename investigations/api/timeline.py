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
from investigations.selectors.timeline import TIMELINE_FIELDS, TIMELINE_LIMIT, list_timeline


class TimelineEventSerializer(serializers.ModelSerializer[TimelineEvent]):
    # What a row looks like. Thousands at once are written as they were read, which is the same and
    # takes a quarter of the time.
    class Meta:
        model = TimelineEvent
        fields = TIMELINE_FIELDS
        read_only_fields = fields


class SessionTimelineView(APIView):
    @extend_schema(
        operation_id="get_session_timeline",
        parameters=[
            parameter("after", "Only rows with a larger sequence number.", type=int, default=0),
            parameter("limit", type=int, default=TIMELINE_LIMIT),
            parameter("stage_id", "Only rows of this stage.", type=UUID),
        ],
        responses={200: TimelineEventSerializer(many=True), **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """What happened, in order. A `Link` header with `rel="next"` says that there is more."""
        after, limit, stage_id = read_timeline_query(request.query_params)
        rows = list_timeline(session_id, after=after, limit=limit + 1, stage_id=stage_id)
        shown = rows[:limit]
        headers = {}
        if len(rows) > limit:
            of_stage = f"&stage_id={stage_id}" if stage_id else ""
            following = f"?after={shown[-1]['sequence_number']}&limit={limit}{of_stage}"
            headers["Link"] = f'<{request.build_absolute_uri(following)}>; rel="next"'
        return Response(shown, headers=headers)
