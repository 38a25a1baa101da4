"""Shapes of requests and answers. Field names are the contract, order is for readers."""

from datetime import datetime
from typing import Any, get_args

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from typing_extensions import override

from config import get_config
from investigations.api.fields import NullField, TextOrNull
from investigations.api.paging import PaginationSerializer
from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent
from investigations.selectors.detail import ExecutionDetail
from investigations.selectors.tool_servers import State
from investigations.selectors.warnings import CATEGORIES

SESSION_STATUSES = AlertSession.Status.choices


def _duration_ms(start: datetime | None, end: datetime | None) -> int | None:
    return round((end - start).total_seconds() * 1000) if start and end else None


# ---- Requests, for the OpenAPI document: bodies are read by `parsing` and `intake` --------------


class SelectedServerSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    tools = serializers.ListField(
        child=serializers.CharField(), required=False, allow_null=True, help_text="Empty is all."
    )


class NativeToolsSerializer(serializers.Serializer[Any]):
    google_search = serializers.BooleanField(required=False)
    code_execution = serializers.BooleanField(required=False)
    url_context = serializers.BooleanField(required=False)


class ToolSelectionSerializer(serializers.Serializer[Any]):
    servers = SelectedServerSerializer(
        many=True, required=False, help_text="In place of the configured ones."
    )
    native_tools = NativeToolsSerializer(
        required=False,
        help_text="Switched on without servers, they take their place where the model has them.",
    )


@extend_schema_field(OpenApiTypes.ANY)
class AnyJsonField(serializers.JSONField):
    """Text or any JSON value."""


class AlertSerializer(serializers.Serializer[Any]):
    alert_type = serializers.CharField(required=False, help_text="Left out: the default one.")
    data = AnyJsonField(  # type: ignore[assignment]  # a field, like the others
        help_text="The alert as text or as any JSON value, at most 1 MiB."
    )
    runbook = serializers.CharField(required=False, help_text="HTTPS, of an allowed domain.")
    mcp = ToolSelectionSerializer(required=False, allow_null=True)
    mcp_selection = ToolSelectionSerializer(
        required=False, allow_null=True, help_text="Another name for `mcp`."
    )
    slack_message_fingerprint = serializers.CharField(required=False)


# ---- Answers ------------------------------------------------------------------------------------


class ErrorSerializer(serializers.Serializer[Any]):
    message = serializers.CharField()
    field = serializers.CharField(required=False, help_text="Path of the part that is wrong.")
    detail = serializers.DictField(required=False)


class AcceptedSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=["queued"])
    message = serializers.CharField()


class QuestionSerializer(serializers.Serializer[Any]):
    content = serializers.CharField(help_text="At most 100,000 characters.")


class QuestionTakenSerializer(serializers.Serializer[Any]):
    chat_id = serializers.UUIDField()
    message_id = serializers.UUIDField()
    stage_id = serializers.UUIDField()


class CancelledSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    message = serializers.CharField()


class AlertTypeSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    chain_id = serializers.CharField()
    description = serializers.CharField(allow_blank=True)


class AlertTypesSerializer(serializers.Serializer[Any]):
    alert_types = AlertTypeSerializer(many=True)
    default_chain_id = serializers.CharField(allow_blank=True)
    default_alert_type = serializers.CharField(allow_blank=True)


class WarningSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    category = serializers.ChoiceField(choices=CATEGORIES)
    message = serializers.CharField()
    details = serializers.CharField()
    server_id = serializers.CharField(
        allow_null=True, help_text="The tool server it is about, if it is about one."
    )
    created_at = serializers.DateTimeField()


class WarningsSerializer(serializers.Serializer[Any]):
    warnings = WarningSerializer(many=True)


class ServerToolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True, help_text="Masked, at most 1000 letters.")
    classes = serializers.DictField(
        child=serializers.ChoiceField(choices=["resolve", "read", "write"]),
        help_text="Its class by the value of an argument; the empty one is for all other values.",
    )
    schema_hash = serializers.CharField(help_text="The same as long as its arguments are.")


class ToolServerSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    healthy = serializers.BooleanField()
    state = serializers.ChoiceField(
        choices=get_args(State),
        help_text="`unwatched`: no chain in use names it. `unknown`: nobody has checked it lately.",
    )
    last_check = serializers.DateTimeField(allow_null=True)
    since = serializers.DateTimeField(allow_null=True, help_text="When it became what it is.")
    latency_ms = serializers.IntegerField(allow_null=True)
    protocol_version = serializers.CharField(allow_blank=True)
    tool_count = serializers.IntegerField()
    tools = ServerToolSerializer(many=True)
    error = TextOrNull()


class ToolServersSerializer(serializers.Serializer[Any]):
    servers = ToolServerSerializer(many=True)


class EveryNativeToolSerializer(serializers.Serializer[Any]):
    google_search = serializers.BooleanField()
    code_execution = serializers.BooleanField()
    url_context = serializers.BooleanField()


class DefaultToolsSerializer(serializers.Serializer[Any]):
    alert_type = serializers.CharField(required=False, help_text="As it was asked for.")
    mcp_servers = serializers.ListField(child=serializers.CharField())
    native_tools = EveryNativeToolSerializer()


class SessionStatusSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SESSION_STATUSES)
    final_analysis = TextOrNull()
    executive_summary = TextOrNull()
    error_message = TextOrNull()


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


_COSTS = ("estimated_cost_usd", "cost_completeness", "unpriced_interaction_count")


class _CostFields(serializers.Serializer[Any]):
    """What is added up from the model calls; without money where nobody wants it estimated."""

    input_tokens = serializers.IntegerField(source="costs.input_tokens")
    output_tokens = serializers.IntegerField(source="costs.output_tokens")
    total_tokens = serializers.IntegerField(source="costs.total_tokens")
    estimated_cost_usd = serializers.FloatField(
        source="costs.estimated_cost_usd", allow_null=True, required=False
    )
    cost_completeness = serializers.ChoiceField(
        source="costs.completeness", choices=["none", "partial", "complete"], required=False
    )

    @override
    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        if not get_config().system.cost_estimation.enabled:
            for name in _COSTS:
                shown.pop(name, None)
        return shown


class _ReviewFields(serializers.Serializer[Any]):
    """Reviews and scores: none exist yet."""

    latest_score = NullField()
    scoring_status = NullField()
    review_status = NullField()
    assignee = NullField()
    quality_rating = NullField()
    action_taken = NullField()
    investigation_feedback = NullField()
    feedback_edited = NullField()
    feedback_edited_by = NullField()
    feedback_edited_at = NullField()


class _SessionFields(_CostFields, _ReviewFields):
    """What the list and the detail of a session share; reads a `SessionSummary`."""

    id = serializers.UUIDField(source="session.id")
    alert_type = serializers.CharField(source="session.alert_type")
    title = serializers.CharField(source="session.title", allow_blank=True)
    chain_id = serializers.CharField(source="session.chain_id")
    status = serializers.ChoiceField(source="session.status", choices=SESSION_STATUSES)
    author = TextOrNull(source="session.author")
    created_at = serializers.DateTimeField(source="session.created_at")
    started_at = serializers.DateTimeField(source="session.started_at", allow_null=True)
    completed_at = serializers.DateTimeField(source="session.completed_at", allow_null=True)
    duration_ms = serializers.SerializerMethodField()
    error_message = TextOrNull(source="session.error_message")
    executive_summary = TextOrNull(source="session.executive_summary")
    llm_interaction_count = serializers.IntegerField(source="costs.calls")
    mcp_interaction_count = serializers.IntegerField(source="mcp_interactions")
    total_stages = serializers.IntegerField(source="session.total_stages")
    completed_stages = serializers.IntegerField(source="stages.completed")
    has_parallel_stages = serializers.BooleanField(source="stages.parallel")
    has_action_stages = serializers.BooleanField(source="stages.action")
    actions_executed = serializers.BooleanField(
        source="stages.actions_were_executed", allow_null=True
    )
    chat_message_count = serializers.IntegerField(source="chat_messages")
    current_stage_index = serializers.IntegerField(
        source="session.current_stage_index", allow_null=True
    )
    current_stage_id = serializers.UUIDField(source="session.current_stage_id", allow_null=True)

    def get_duration_ms(self, row: object) -> int | None:
        session = row.session  # type: ignore[attr-defined]
        return _duration_ms(session.started_at, session.completed_at)


class SessionItemSerializer(_SessionFields):
    has_sub_agents = serializers.BooleanField(source="sub_agents")
    provider_fallback_count = serializers.IntegerField(source="provider_fallbacks")
    matched_in_content = serializers.BooleanField()


class SessionListSerializer(serializers.Serializer[Any]):
    sessions = SessionItemSerializer(many=True)
    pagination = PaginationSerializer()
    cost_estimation_enabled = serializers.BooleanField()


class ExecutionSerializer(_CostFields):
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
    task = TextOrNull(source="execution.task")
    original_llm_provider = TextOrNull(source="execution.original_llm_provider")
    original_llm_backend = TextOrNull(source="execution.original_llm_backend")
    original_model_name = TextOrNull(source="execution.original_model_name")
    fallback_reason = serializers.SerializerMethodField()
    fallback_error_code = serializers.SerializerMethodField()
    fallback_attempt = serializers.SerializerMethodField()
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


class SessionDetailSerializer(_SessionFields):
    """Reads a `SessionSummary`; the view adds stages and chat."""

    alert_data = serializers.CharField(source="session.alert_data")
    final_analysis = TextOrNull(source="session.final_analysis")
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
    unverified_writes = serializers.SerializerMethodField()
    stages = serializers.SerializerMethodField()

    def get_chat_enabled(self, _row: object) -> bool:
        return bool(self.context["detail"].chat_enabled)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_chat_id(self, _row: object) -> str | None:
        chat_id = self.context["detail"].chat_id
        return str(chat_id) if chat_id else None

    def get_cost_estimation_enabled(self, _row: object) -> bool:
        return bool(self.context["cost_estimation_enabled"])

    @extend_schema_field(WriteStatusSerializer(many=True))
    def get_unverified_writes(self, _row: object) -> object:
        return WriteStatusSerializer(self.context["detail"].unverified, many=True).data

    @extend_schema_field(StageSerializer(many=True))
    def get_stages(self, _row: object) -> object:
        return StageSerializer(self.context["detail"].stages, many=True).data


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
