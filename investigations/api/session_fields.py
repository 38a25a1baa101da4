"""Fields that several answers about sessions share. Names are the contract."""

from datetime import datetime
from typing import Any

from rest_framework import serializers
from typing_extensions import override

from config import get_config
from investigations.api.fields import NullField, TextOrNull
from investigations.models import AlertSession

SESSION_STATUSES = AlertSession.Status.choices
COMPLETENESS = ("none", "partial", "complete")


def duration_ms(start: datetime | None, end: datetime | None) -> int | None:
    return round((end - start).total_seconds() * 1000) if start and end else None


_MONEY = (
    "estimated_cost_usd",
    "average_cost_usd",
    "cost_completeness",
    "unpriced_interaction_count",
    "unpriced_token_count",
    "priced",
)


class MoneyFields(serializers.Serializer[Any]):
    """Leaves out what speaks of money where nobody wants it estimated."""

    @override
    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        if not get_config().system.cost_estimation.enabled:
            for name in _MONEY:
                shown.pop(name, None)
        return shown


class CostFields(MoneyFields):
    """What is added up from the model calls."""

    input_tokens = serializers.IntegerField(source="costs.input_tokens")
    output_tokens = serializers.IntegerField(source="costs.output_tokens")
    total_tokens = serializers.IntegerField(source="costs.total_tokens")
    estimated_cost_usd = serializers.FloatField(
        source="costs.estimated_cost_usd",
        allow_null=True,
        required=False,
        help_text="Of the priced calls; null where none is, which is not the same as free.",
    )
    cost_completeness = serializers.ChoiceField(
        source="costs.completeness", choices=COMPLETENESS, required=False
    )


class SessionCostFields(CostFields):
    """What a session or an execution cost: always a number, as clients of the contract expect."""

    estimated_cost_usd = serializers.FloatField(
        source="costs.priced_usd",
        required=False,
        help_text="Of the priced calls alone: `cost_completeness` says whether that is all.",
    )


class _ReviewFields(serializers.Serializer[Any]):
    """Reviews and scores: none exist yet."""

    latest_score = NullField()
    scoring_status = NullField()
    review_status = NullField()
    assignee = NullField()
    quality_rating = NullField()
    action_taken = NullField()
    investigation_feedback = NullField()
    feedback_edited = serializers.SerializerMethodField()
    feedback_edited_by = NullField()
    feedback_edited_at = NullField()

    def get_feedback_edited(self, _row: object) -> bool:
        return False


class SessionFields(SessionCostFields, _ReviewFields):
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
    mcp_interaction_count = serializers.IntegerField(
        source="mcp_interactions",
        help_text="Tool calls, and looks at what a server offers.",
    )
    total_stages = serializers.IntegerField()
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
        return duration_ms(session.started_at, session.completed_at)
