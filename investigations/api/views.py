"""The REST endpoints: read the request, call a service or selector, shape the answer."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from investigations.api import serializers
from investigations.api.identity import author_of
from investigations.api.paging import paginate
from investigations.api.parsing import read_json_object
from investigations.api.query import (
    LARGEST_PAGE,
    PAGE_SIZE,
    RATINGS,
    REVIEW_STATUSES,
    SCORING_STATUSES,
    SHORTEST_SEARCH,
    read_list_query,
    read_timeline_query,
)
from investigations.models import AlertSession
from investigations.selectors.detail import get_session_detail
from investigations.selectors.sessions import SORTS, get_session, list_active, list_sessions
from investigations.selectors.timeline import TIMELINE_LIMIT, list_timeline
from investigations.services.chat import ask_question, read_question
from investigations.services.intake import read_alert, submit_alert
from investigations.services.runbooks import available_runbooks
from investigations.services.sessions import cancel_session

_ERROR = OpenApiResponse(serializers.ErrorSerializer)
_ANYBODY = {401: _ERROR, 403: _ERROR}
_ONE_SESSION = {**_ANYBODY, 404: _ERROR}


class AlertsView(APIView):
    @extend_schema(
        operation_id="submit_alert",
        request=serializers.AlertSerializer,
        responses={
            202: serializers.AcceptedSerializer,
            **dict.fromkeys((400, 413, 415, 429), _ERROR),
            **_ANYBODY,
        },
    )
    def post(self, request: Request) -> Response:
        """Queue an investigation of an alert."""
        alert = read_alert(read_json_object(request._request))
        session = submit_alert(alert, author=author_of(request))
        return Response(
            {
                "session_id": str(session.pk),
                "status": "queued",
                "message": f"Alert queued as {alert.alert_type}",
            },
            status=202,
            headers={"Location": f"/api/v1/sessions/{session.pk}"},
        )


class AlertTypesView(APIView):
    @extend_schema(
        operation_id="list_alert_types",
        responses={200: serializers.AlertTypesSerializer, **_ANYBODY},
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
            **_ANYBODY,
        },
    )
    def get(self, request: Request) -> Response:
        """The runbooks of the configured repository; none when it cannot be read."""
        return Response(available_runbooks())


def _parameter(name: str, about: str = "", *, type: Any = str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, type, description=about, **options)


class SessionsView(APIView):
    @extend_schema(
        operation_id="list_sessions",
        parameters=[
            _parameter("page", type=int, default=1),
            _parameter("page_size", f"At most {LARGEST_PAGE}.", type=int, default=PAGE_SIZE),
            _parameter("sort_by", enum=list(SORTS), default="created_at"),
            _parameter("sort_order", enum=["asc", "desc"], default="desc"),
            _parameter("status", f"Some of {', '.join(AlertSession.Status.values)}, by commas."),
            _parameter("alert_type"),
            _parameter("chain_id"),
            _parameter(
                "search", f"At least {SHORTEST_SEARCH} characters, in alert, report and timeline."
            ),
            _parameter("start_date", "Created then or later.", type=OpenApiTypes.DATETIME),
            _parameter("end_date", "Created before.", type=OpenApiTypes.DATETIME),
            _parameter("scoring_status", enum=list(SCORING_STATUSES)),
            _parameter("review_status", f"Some of {', '.join(REVIEW_STATUSES)}, by commas."),
            _parameter("assignee"),
            _parameter("quality_rating", enum=list(RATINGS)),
        ],
        responses={200: serializers.SessionListSerializer, 400: _ERROR, **_ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """One page of sessions, newest first unless asked otherwise."""
        query = read_list_query(request.query_params)
        found = list_sessions(
            query.wanted,
            sort_by=query.sort_by,
            descending=query.descending,
            page=query.page,
            page_size=query.page_size,
        )
        return Response(
            {
                "sessions": serializers.SessionItemSerializer(found.summaries, many=True).data,
                "pagination": paginate(query.page, query.page_size, found.total_items),
                "cost_estimation_enabled": get_config().system.cost_estimation.enabled,
            }
        )


class ActiveSessionsView(APIView):
    @extend_schema(
        operation_id="list_active_sessions",
        responses={200: serializers.ActiveSessionsSerializer, **_ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """What runs and what waits, in the order of the queue."""
        active, queued = list_active()
        waiting = serializers.ActiveSessionSerializer(queued, many=True).data
        return Response(
            {
                "active": serializers.ActiveSessionSerializer(active, many=True).data,
                "queued": [
                    {**item, "queue_position": place} for place, item in enumerate(waiting, start=1)
                ],
            }
        )


class SessionView(APIView):
    @extend_schema(
        operation_id="get_session",
        responses={200: serializers.SessionDetailSerializer, **_ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """One session with its stages and agents."""
        detail = get_session_detail(session_id)
        costs_shown = get_config().system.cost_estimation.enabled
        context = {"detail": detail, "cost_estimation_enabled": costs_shown}
        return Response(serializers.SessionDetailSerializer(detail.summary, context=context).data)


class SessionStatusView(APIView):
    @extend_schema(
        operation_id="get_session_status",
        responses={200: serializers.SessionStatusSerializer, **_ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """The little that a poller needs."""
        return Response(serializers.SessionStatusSerializer(get_session(session_id)).data)


class SessionTimelineView(APIView):
    @extend_schema(
        operation_id="get_session_timeline",
        parameters=[
            _parameter("after", "Only rows with a larger sequence number.", type=int, default=0),
            _parameter("limit", type=int, default=TIMELINE_LIMIT),
        ],
        responses={200: serializers.TimelineEventSerializer(many=True), **_ONE_SESSION},
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
        return Response(serializers.TimelineEventSerializer(shown, many=True).data, headers=headers)


class ChatMessagesView(APIView):
    @extend_schema(
        operation_id="ask_question",
        request=serializers.QuestionSerializer,
        responses={
            202: serializers.QuestionTakenSerializer,
            **dict.fromkeys((400, 409, 413, 415), _ERROR),
            **_ONE_SESSION,
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Ask a question about an investigation that has ended."""
        content = read_question(read_json_object(request._request))
        question = ask_question(session_id, content, author=author_of(request))
        return Response(
            {
                "chat_id": str(question.chat_id),
                "message_id": str(question.message_id),
                "stage_id": str(question.stage_id),
            },
            status=202,
        )


class CancelSessionView(APIView):
    @extend_schema(
        operation_id="cancel_session",
        request=None,
        responses={200: serializers.CancelledSerializer, 409: _ERROR, **_ONE_SESSION},
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Stop a session that waits or runs, or the answer being given in its chat."""
        cancel_session(session_id, author_of(request))
        return Response(
            {"session_id": str(session_id), "message": "Session cancellation requested"}
        )
