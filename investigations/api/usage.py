"""`GET /api/v1/usage/summary`: what model calls took, and what that is thought to have cost."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from investigations.api.query import LONGEST_WINDOW_DAYS, RANKINGS, read_usage_query
from investigations.api.responses import ANYBODY, errors, parameter
from investigations.api.session_fields import CostFields
from investigations.selectors.usage import sum_usage


class WindowSerializer(serializers.Serializer[Any]):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class _ShareSerializer(CostFields):
    """Reads a `Share`."""

    session_count = serializers.IntegerField(source="sessions")
    unpriced_interaction_count = serializers.IntegerField(source="costs.unpriced", required=False)
    unpriced_token_count = serializers.IntegerField(source="unpriced_tokens", required=False)


class UsageTotalsSerializer(_ShareSerializer):
    average_cost_usd = serializers.FloatField(allow_null=True, required=False)


class ModelShareSerializer(_ShareSerializer):
    model_name = serializers.CharField(source="name", allow_blank=True)
    priced = serializers.BooleanField(
        source="is_priced", required=False, help_text="False: no call of it has a price."
    )


class AlertTypeShareSerializer(_ShareSerializer):
    alert_type = serializers.CharField(source="name")


class ChainShareSerializer(_ShareSerializer):
    chain_id = serializers.CharField(source="name")


class SessionShareSerializer(CostFields):
    """Reads a `SessionShare`."""

    session_id = serializers.UUIDField(source="session.id")
    alert_type = serializers.CharField(source="session.alert_type")
    chain_id = serializers.CharField(source="session.chain_id")
    created_at = serializers.DateTimeField(source="session.created_at")


class UsageSerializer(serializers.Serializer[Any]):
    cost_estimation_enabled = serializers.BooleanField()
    window = WindowSerializer()
    rank_by = serializers.ChoiceField(choices=RANKINGS)
    totals = UsageTotalsSerializer()
    by_model = ModelShareSerializer(many=True)
    by_alert_type = AlertTypeShareSerializer(many=True)
    by_chain = ChainShareSerializer(many=True)
    top_sessions = SessionShareSerializer(many=True)


class UsageSummaryView(APIView):
    @extend_schema(
        operation_id="get_usage_summary",
        parameters=[
            parameter("start_date", type=OpenApiTypes.DATETIME, required=True),
            parameter(
                "end_date",
                f"Not included; at most {LONGEST_WINDOW_DAYS} days later.",
                type=OpenApiTypes.DATETIME,
                required=True,
            ),
            parameter("alert_type"),
            parameter("chain_id"),
            parameter("rank_by", enum=list(RANKINGS)),
        ],
        responses={200: UsageSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Tokens and cost of the sessions created in a window, the largest ones by name."""
        is_estimated = get_config().system.cost_estimation.enabled
        wanted, rank_by = read_usage_query(request.query_params, is_estimated=is_estimated)
        usage = sum_usage(wanted, rank_by=rank_by)
        shown = {
            "cost_estimation_enabled": is_estimated,
            "window": {"start": wanted.start, "end": wanted.end},
            "rank_by": rank_by,
            **vars(usage),
        }
        return Response(UsageSerializer(shown).data)
