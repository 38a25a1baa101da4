"""Scores and memories, which this product does not make: answered as by one that has none yet.

Clients of upstream ask for both on their session page, and must find a list or a 404, not a path
that does not exist.
"""

from typing import Any, NoReturn
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.query import LARGEST_MEMORY_PAGE, read_memories_query
from investigations.api.responses import ANYBODY, ONE_SESSION, errors, parameter
from investigations.roles import OPERATE
from investigations.selectors.sessions import get_session
from tarsy.errors import Conflict, NotFound


class MemoryListSerializer(serializers.Serializer[Any]):
    memories = serializers.ListField(child=serializers.DictField())
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    page_size = serializers.IntegerField()
    total_pages = serializers.IntegerField()


_NO_MEMORIES = {"type": "array", "items": {"type": "object"}}


class SessionScoreView(APIView):
    permission = OPERATE

    @extend_schema(operation_id="get_score", responses={200: OpenApiTypes.OBJECT, **ONE_SESSION})
    def get(self, request: Request, session_id: UUID) -> NoReturn:
        """The latest score; 404, since sessions are not scored."""
        get_session(session_id)
        raise NotFound("the session has no score")

    @extend_schema(
        operation_id="score_session",
        request=None,
        responses={202: OpenApiTypes.OBJECT, **errors(409), **ONE_SESSION},
    )
    def post(self, request: Request, session_id: UUID) -> NoReturn:
        """Ask for a score; 409, since sessions are not scored."""
        get_session(session_id)
        raise Conflict("sessions are not scored in this version")


class SessionMemoriesView(APIView):
    """Of both kinds: those a session made, and those that were told to its agents."""

    @extend_schema(responses={200: _NO_MEMORIES, **ONE_SESSION})
    def get(self, request: Request, session_id: UUID) -> Response:
        """None: nothing is remembered."""
        get_session(session_id)
        return Response([])


class MemoriesView(APIView):
    @extend_schema(
        operation_id="list_memories",
        parameters=[
            parameter("page", type=int, default=1),
            parameter("page_size", f"At most {LARGEST_MEMORY_PAGE}.", type=int),
        ],
        responses={200: MemoryListSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """None: nothing is remembered."""
        page, page_size = read_memories_query(request.query_params)
        return Response(
            {"memories": [], "total": 0, "page": page, "page_size": page_size, "total_pages": 0}
        )


class MemoryView(APIView):
    permission = OPERATE

    @extend_schema(operation_id="get_memory", responses={200: OpenApiTypes.OBJECT, **ONE_SESSION})
    def get(self, request: Request, memory_id: UUID) -> NoReturn:
        """404: nothing is remembered."""
        raise NotFound("there is no such memory")

    @extend_schema(
        operation_id="change_memory",
        request=OpenApiTypes.OBJECT,
        responses={200: OpenApiTypes.OBJECT, **ONE_SESSION},
    )
    def patch(self, request: Request, memory_id: UUID) -> NoReturn:
        """404: nothing is remembered."""
        raise NotFound("there is no such memory")

    @extend_schema(operation_id="delete_memory", request=None, responses={204: None, **ONE_SESSION})
    def delete(self, request: Request, memory_id: UUID) -> NoReturn:
        """404: nothing is remembered."""
        raise NotFound("there is no such memory")
