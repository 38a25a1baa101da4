"""What can be done with a session: stop it, ask about it."""

from typing import Any, cast
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.access.identity import Identity
from investigations.api.identity import author_of
from investigations.api.parsing import read_json_object
from investigations.api.responses import ONE_SESSION, errors
from investigations.roles import OPERATE
from investigations.services.chat import ask_question, read_question
from investigations.services.sessions import cancel_session


class QuestionSerializer(serializers.Serializer[Any]):
    content = serializers.CharField(help_text="At most 100,000 characters.")


class QuestionTakenSerializer(serializers.Serializer[Any]):
    chat_id = serializers.UUIDField()
    message_id = serializers.UUIDField()
    stage_id = serializers.UUIDField()


class CancelledSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    message = serializers.CharField()


class ChatMessagesView(APIView):
    permission = OPERATE
    limit = "questions"

    @extend_schema(
        operation_id="ask_question",
        request=QuestionSerializer,
        responses={
            202: QuestionTakenSerializer,
            **errors(400, 409, 413, 415),
            **ONE_SESSION,
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Ask a question about an investigation that has ended.

        `Location` is where the answer comes: the timeline of its stage, in which the row of type
        `final_analysis` holds it. There is none as long as the answer is being written.
        """
        content = read_question(read_json_object(request._request))
        identity = cast(Identity, request.auth)
        question = ask_question(
            session_id, content, author=identity.name, may_decide=identity.may_decide
        )
        return Response(
            {
                "chat_id": str(question.chat_id),
                "message_id": str(question.message_id),
                "stage_id": str(question.stage_id),
            },
            status=202,
            headers={
                "Location": f"/api/v1/sessions/{session_id}/timeline?stage_id={question.stage_id}"
            },
        )


class CancelSessionView(APIView):
    permission = OPERATE

    @extend_schema(
        operation_id="cancel_session",
        request=None,
        responses={200: CancelledSerializer, **errors(409), **ONE_SESSION},
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Stop a session that waits or runs, or the answer being given in its chat."""
        cancel_session(session_id, author_of(request))
        return Response(
            {"session_id": str(session_id), "message": "Session cancellation requested"}
        )
