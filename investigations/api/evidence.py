"""`GET /api/v1/sessions/:id/evidence`: what a report claims, and what it rests on."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.fields import ClaimCountsSerializer
from investigations.api.responses import ONE_SESSION
from investigations.selectors.claims import CLAIM_STATES
from investigations.selectors.evidence import get_evidence


class UnsupportedSpanSerializer(serializers.Serializer[Any]):
    """A passage that the review of the answer found nothing to support."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    kind = serializers.CharField()
    reason = serializers.CharField()


class EvidenceCallSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="The 5 of [T5].")
    event_id = serializers.UUIDField(help_text="Its timeline event.")
    server_name = serializers.CharField()
    tool_name = serializers.CharField()
    is_error = serializers.BooleanField()
    is_cited = serializers.BooleanField(help_text="False where the call was found by its result.")
    is_quoted = serializers.BooleanField(
        help_text="False where `quote` only reads like the claim, which quotes nothing."
    )
    is_of_check = serializers.BooleanField(
        help_text="Whether the quote stands in the answer to TARSy's own check of the call."
    )
    quote = serializers.CharField(allow_null=True, help_text="Of the stored result, masked.")
    quote_start = serializers.IntegerField(
        allow_null=True,
        help_text="In characters of the result as it is stored: `tool_result.content` of the call.",
    )
    quote_end = serializers.IntegerField(allow_null=True)


class ClaimSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    start = serializers.IntegerField(help_text="In characters of `final_analysis`.")
    end = serializers.IntegerField()
    status = serializers.ChoiceField(source="state", choices=CLAIM_STATES)
    reason = serializers.CharField(help_text="What is wrong with it; empty where nothing is.")
    calls = EvidenceCallSerializer(many=True)
    unsupported = UnsupportedSpanSerializer(many=True)


class EvidenceSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    counts = ClaimCountsSerializer()
    claims = ClaimSerializer(many=True)


class SessionEvidenceView(APIView):
    @extend_schema(
        operation_id="get_session_evidence",
        responses={200: EvidenceSerializer, **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """What the final analysis claims, and the tool results it rests on, word for word."""
        return Response(EvidenceSerializer(get_evidence(session_id)).data)
