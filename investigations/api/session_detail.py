"""One session: whole, summed up, or as little as a poller needs."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from investigations.api.fields import ClaimCountsSerializer, NullField, TextOrNull
from investigations.api.responses import ONE_SESSION
from investigations.api.session_fields import (
    SESSION_STATUSES,
    SessionCostFields,
    SessionFields,
    duration_ms,
)
from investigations.models import AgentExecution, Stage
from investigations.selectors.offers import KeptOffer
from investigations.selectors.session_detail import ExecutionDetail, get_session_detail
from investigations.selectors.sessions import SessionSummary, get_session, summarize_session


class ToolServerOfferSerializer(serializers.Serializer[Any]):
    """Reads a `KeptOffer`: what a tool server gives an agent, as it was last."""

    server_name = serializers.CharField(source="offer.server")
    is_available = serializers.SerializerMethodField()
    error_message = TextOrNull(source="offer.error")
    tool_count = serializers.IntegerField()
    offered_count = serializers.IntegerField()
    unclassed_count = serializers.IntegerField(
        help_text="Tools that were not offered because nobody has classed them."
    )
    checked_at = serializers.DateTimeField(source="kept_at")

    def get_is_available(self, row: KeptOffer) -> bool:
        return not row.offer.is_away


class ExecutionSerializer(SessionCostFields):
    """Reads an `ExecutionDetail`."""

    execution_id = serializers.UUIDField(source="execution.id")
    agent_name = serializers.CharField(source="execution.agent_name")
    agent_index = serializers.IntegerField(source="execution.agent_index")
    status = serializers.ChoiceField(
        source="execution.status", choices=AgentExecution.Status.choices
    )
    llm_backend = serializers.CharField(source="execution.llm_backend", allow_blank=True)
    llm_provider = TextOrNull(source="execution.llm_provider")
    model_name = TextOrNull(source="execution.model_name")
    started_at = serializers.DateTimeField(source="execution.started_at", allow_null=True)
    completed_at = serializers.DateTimeField(source="execution.completed_at", allow_null=True)
    duration_ms = serializers.IntegerField(source="execution.duration_ms", allow_null=True)
    error_message = TextOrNull(source="execution.error_message")
    parent_execution_id = serializers.UUIDField(
        source="execution.parent_execution_id", allow_null=True
    )
    unpriced_interaction_count = serializers.IntegerField(source="costs.unpriced", required=False)
    task = TextOrNull(source="execution.task")
    original_llm_provider = TextOrNull(source="execution.original_llm_provider")
    original_llm_backend = TextOrNull(source="execution.original_llm_backend")
    original_model_name = TextOrNull(source="execution.original_model_name")
    fallback_reason = serializers.SerializerMethodField()
    fallback_error_code = serializers.SerializerMethodField()
    fallback_attempt = serializers.SerializerMethodField()
    tool_servers = ToolServerOfferSerializer(many=True, source="offers")
    sub_agents = serializers.SerializerMethodField()

    def get_fallback_reason(self, row: ExecutionDetail) -> str | None:
        return _text_of(row.fallback.get("reason"))

    def get_fallback_error_code(self, row: ExecutionDetail) -> str | None:
        return _text_of(row.fallback.get("error_code"))

    def get_fallback_attempt(self, row: ExecutionDetail) -> int | None:
        attempt = row.fallback.get("attempt")
        return attempt if isinstance(attempt, int) else None

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_sub_agents(self, row: ExecutionDetail) -> list[object]:
        return [ExecutionSerializer(below).data for below in row.sub_agents]


def _text_of(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


class StageSerializer(serializers.Serializer[Any]):
    """Reads a `StageDetail`."""

    id = serializers.UUIDField(source="stage.id")
    stage_name = serializers.CharField(source="stage.stage_name")
    stage_index = serializers.IntegerField(source="stage.stage_index")
    stage_type = serializers.ChoiceField(source="stage.stage_type", choices=Stage.Type.choices)
    status = serializers.ChoiceField(source="stage.status", choices=Stage.Status.choices)
    parallel_type = serializers.ChoiceField(
        source="stage.parallel_type", choices=Stage.Parallel.choices, allow_null=True
    )
    expected_agent_count = serializers.IntegerField(source="stage.expected_agent_count")
    referenced_stage_id = serializers.UUIDField(source="stage.referenced_stage_id", allow_null=True)
    error_message = TextOrNull(source="stage.error_message")
    started_at = serializers.DateTimeField(source="stage.started_at", allow_null=True)
    completed_at = serializers.DateTimeField(source="stage.completed_at", allow_null=True)
    executions = ExecutionSerializer(many=True)


class WriteStatusSerializer(serializers.Serializer[Any]):
    """A write whose effect nothing has confirmed."""

    tool = serializers.CharField()
    target = serializers.CharField()
    status = serializers.ChoiceField(choices=["failed", "unverified"])
    reason = serializers.CharField()
    ran = serializers.ChoiceField(
        choices=["yes", "no", "unknown"], help_text="Whether it was carried out at all."
    )


class SessionChangeSerializer(serializers.Serializer[Any]):
    """A write that was sent to its server, as the trail of the gate has it."""

    number = serializers.IntegerField(allow_null=True, help_text="The 5 of [T5].")
    stage_id = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField()
    target = serializers.CharField(allow_blank=True)
    ran = serializers.ChoiceField(
        choices=["yes", "unknown"], help_text="`unknown`: nothing came back; it may have run."
    )
    status = serializers.ChoiceField(
        choices=["verified", "failed", "unverified"], help_text="What is known of its effect."
    )
    reason = serializers.CharField()
    approved_by = TextOrNull(help_text="Null where no person was asked.")


class UnavailableServerSerializer(serializers.Serializer[Any]):
    """Reads a `KeptOffer` of a server that was away."""

    server_name = serializers.CharField(source="offer.server")
    execution_id = serializers.UUIDField()
    stage_id = serializers.UUIDField()
    reason = serializers.CharField(source="offer.error")
    was_available = serializers.BooleanField(
        source="was_there", help_text="Whether the agent had it for some time."
    )


class SessionDetailSerializer(SessionFields):
    """Reads a `SessionSummary`; the view adds stages and chat."""

    alert_data = serializers.CharField(source="session.alert_data")
    final_analysis = TextOrNull(source="session.concluded_analysis")
    executive_summary_error = TextOrNull(source="session.executive_summary_error")
    runbook_url = TextOrNull(source="session.runbook_url")
    slack_message_fingerprint = TextOrNull(source="session.slack_message_fingerprint")
    mcp_selection = serializers.JSONField(source="session.mcp_selection", allow_null=True)
    failed_stages = serializers.IntegerField(source="stages.failed")
    unpriced_interaction_count = serializers.IntegerField(source="costs.unpriced", required=False)
    last_event_id = serializers.IntegerField(
        source="session.last_seq", help_text="Subscribe from here to follow on."
    )
    score_id = NullField()
    chat_enabled = serializers.SerializerMethodField()
    chat_id = serializers.SerializerMethodField()
    cost_estimation_enabled = serializers.SerializerMethodField()
    changes = serializers.SerializerMethodField()
    claims = serializers.SerializerMethodField()
    unverified_writes = serializers.SerializerMethodField()
    unavailable_servers = serializers.SerializerMethodField()
    stages = serializers.SerializerMethodField()

    def get_chat_enabled(self, _row: object) -> bool:
        return bool(self.context["detail"].chat_enabled)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_chat_id(self, _row: object) -> str | None:
        chat_id = self.context["detail"].chat_id
        return str(chat_id) if chat_id else None

    def get_cost_estimation_enabled(self, _row: object) -> bool:
        return bool(self.context["cost_estimation_enabled"])

    @extend_schema_field(SessionChangeSerializer(many=True))
    def get_changes(self, _row: object) -> object:
        """What TARSy changed; empty where it changed nothing."""
        return SessionChangeSerializer(self.context["detail"].changes, many=True).data

    @extend_schema_field(ClaimCountsSerializer)
    def get_claims(self, _row: object) -> object:
        """How far the claims of the final analysis are proved."""
        return ClaimCountsSerializer(self.context["detail"].claims).data

    @extend_schema_field(WriteStatusSerializer(many=True))
    def get_unverified_writes(self, _row: object) -> object:
        return WriteStatusSerializer(self.context["detail"].unverified, many=True).data

    @extend_schema_field(UnavailableServerSerializer(many=True))
    def get_unavailable_servers(self, _row: object) -> object:
        """The tool servers that an agent worked without."""
        return UnavailableServerSerializer(self.context["detail"].unavailable, many=True).data

    @extend_schema_field(StageSerializer(many=True))
    def get_stages(self, _row: object) -> object:
        return StageSerializer(self.context["detail"].stages, many=True).data


class SessionStatusSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SESSION_STATUSES)
    final_analysis = TextOrNull(source="concluded_analysis")
    executive_summary = TextOrNull()
    error_message = TextOrNull()


class ChainStatisticsSerializer(serializers.Serializer[Any]):
    total_stages = serializers.IntegerField()
    completed_stages = serializers.IntegerField(source="stages.completed")
    failed_stages = serializers.IntegerField(source="stages.failed")
    current_stage_index = serializers.IntegerField(
        source="session.current_stage_index", allow_null=True
    )


class SessionSummarySerializer(SessionCostFields):
    """Reads a `SessionSummary`."""

    session_id = serializers.UUIDField(source="session.id")
    total_interactions = serializers.SerializerMethodField()
    llm_interactions = serializers.IntegerField(source="costs.calls")
    mcp_interactions = serializers.IntegerField(
        help_text="Tool calls, and looks at what a server offers."
    )
    unpriced_interaction_count = serializers.IntegerField(source="costs.unpriced", required=False)
    total_duration_ms = serializers.SerializerMethodField()
    chain_statistics = ChainStatisticsSerializer(source="*")
    total_score = NullField()
    scoring_status = NullField()

    def get_total_interactions(self, summary: SessionSummary) -> int:
        return summary.costs.calls + summary.mcp_interactions

    def get_total_duration_ms(self, summary: SessionSummary) -> int | None:
        return duration_ms(summary.session.started_at, summary.session.completed_at)


class SessionView(APIView):
    @extend_schema(
        operation_id="get_session",
        responses={200: SessionDetailSerializer, **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """One session with its stages and agents."""
        detail = get_session_detail(session_id)
        costs_shown = get_config().system.cost_estimation.enabled
        context = {"detail": detail, "cost_estimation_enabled": costs_shown}
        return Response(SessionDetailSerializer(detail.summary, context=context).data)


class SessionStatusView(APIView):
    @extend_schema(
        operation_id="get_session_status",
        responses={200: SessionStatusSerializer, **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """The little that a poller needs."""
        return Response(SessionStatusSerializer(get_session(session_id)).data)


class SessionSummaryView(APIView):
    @extend_schema(
        operation_id="get_session_summary",
        responses={200: SessionSummarySerializer, **ONE_SESSION},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """What a session took: calls, tokens, money and time."""
        return Response(SessionSummarySerializer(summarize_session(session_id)).data)
