"""What models and tools were asked and answered in a session."""

from typing import Any, get_args
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.types import HiddenWhy
from investigations.api.fields import KeptCount, TextOrNull
from investigations.api.responses import ONE_SESSION
from investigations.api.session_fields import MoneyFields
from investigations.models import LLMInteraction, MCPInteraction, Message, Stage
from investigations.selectors.trace.calls import (
    ExecutionTrace,
    get_llm_trace,
    get_session_trace,
    get_tool_trace,
)


class LLMCallSerializer(MoneyFields):
    """Reads a `ModelCall`, or the whole `LLMInteraction`."""

    id = serializers.UUIDField()
    interaction_type = serializers.ChoiceField(choices=LLMInteraction.Type.choices)
    model_name = serializers.CharField(allow_blank=True)
    provider_name = TextOrNull()
    iteration = serializers.IntegerField()
    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    total_tokens = serializers.IntegerField(allow_null=True)
    thinking_tokens = serializers.IntegerField(allow_null=True)
    estimated_cost_usd = serializers.FloatField(
        allow_null=True, required=False, help_text="Null is unpriced, which is not free."
    )
    duration_ms = serializers.IntegerField(allow_null=True)
    error_message = TextOrNull()
    created_at = serializers.DateTimeField()


class ToolCallSerializer(serializers.Serializer[Any]):
    """Reads a `ToolCall`, or the whole `MCPInteraction`."""

    id = serializers.UUIDField()
    interaction_type = serializers.ChoiceField(choices=MCPInteraction.Type.choices)
    server_name = serializers.CharField(allow_blank=True)
    tool_name = TextOrNull()
    tool_number = serializers.IntegerField(allow_null=True, help_text="The 5 of [T5].")
    duration_ms = serializers.IntegerField(allow_null=True)
    error_message = TextOrNull()
    created_at = serializers.DateTimeField()


class ExecutionTraceSerializer(serializers.Serializer[Any]):
    execution_id = serializers.UUIDField(source="execution.id")
    agent_name = serializers.CharField(source="execution.agent_name")
    llm_interactions = LLMCallSerializer(many=True)
    mcp_interactions = ToolCallSerializer(many=True)
    sub_agents = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_sub_agents(self, trace: ExecutionTrace) -> list[object]:
        return [ExecutionTraceSerializer(below).data for below in trace.sub_agents]


class StageTraceSerializer(serializers.Serializer[Any]):
    stage_id = serializers.UUIDField(source="stage.id")
    stage_name = serializers.CharField(source="stage.stage_name")
    stage_type = serializers.ChoiceField(source="stage.stage_type", choices=Stage.Type.choices)
    referenced_stage_id = serializers.UUIDField(source="stage.referenced_stage_id", allow_null=True)
    executions = ExecutionTraceSerializer(many=True)


class SessionTraceSerializer(serializers.Serializer[Any]):
    stages = StageTraceSerializer(many=True)
    session_interactions = LLMCallSerializer(many=True)


class ProposedCallSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(allow_blank=True)
    name = serializers.CharField(allow_blank=True)
    arguments = serializers.CharField(
        allow_blank=True, help_text="As the model wrote them, masked."
    )


class TurnSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Message.Role.choices)
    content = serializers.CharField(allow_blank=True)
    tool_calls = ProposedCallSerializer(many=True)
    tool_call_id = TextOrNull()
    tool_name = TextOrNull()
    tool_number = serializers.IntegerField(allow_null=True)
    is_shortened = serializers.BooleanField(help_text="The model got a short form of this result.")


class LLMRequestSerializer(serializers.Serializer[Any]):
    messages_count = KeptCount()
    tools_count = KeptCount()
    iteration = KeptCount()


class LLMResponseSerializer(serializers.Serializer[Any]):
    text_length = KeptCount()
    tool_calls_count = KeptCount()


class LLMCallTraceSerializer(LLMCallSerializer):
    """Takes the conversation from its context."""

    thinking_content = TextOrNull()
    llm_request = LLMRequestSerializer()
    llm_response = LLMResponseSerializer()
    response_metadata = serializers.JSONField(allow_null=True)
    conversation = serializers.SerializerMethodField()

    @extend_schema_field(TurnSerializer(many=True))
    def get_conversation(self, _call: LLMInteraction) -> object:
        return TurnSerializer(self.context["conversation"], many=True).data


class ToolResultSerializer(serializers.Serializer[Any]):
    content = serializers.CharField(allow_blank=True, default="")
    is_error = serializers.BooleanField(default=False)


class OfferedToolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True, default="")


class HiddenToolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    reason = serializers.ChoiceField(
        choices=get_args(HiddenWhy),
        help_text="`unclassed`: nobody has said what it does, and nothing may be written. `write`: "
        "it is known to write, and nothing may be.",
    )


class GateActSerializer(serializers.Serializer[Any]):
    """What the safety gate did about a call."""

    action = serializers.CharField()
    actor = serializers.CharField()
    created_at = serializers.DateTimeField()
    details = serializers.DictField()


class ToolCallTraceSerializer(ToolCallSerializer):
    """Takes the event and the acts of the gate from its context."""

    tool_arguments = serializers.JSONField(
        allow_null=True, help_text="Masked; what is no object stands under `raw`."
    )
    tool_result = ToolResultSerializer(allow_null=True)
    available_tools = OfferedToolSerializer(
        many=True, allow_null=True, help_text="Of a `tool_list`: what the agent was offered."
    )
    hidden_tools = HiddenToolSerializer(
        many=True, allow_null=True, help_text="Of a `tool_list`: what it was not, and why."
    )
    event_id = serializers.SerializerMethodField(help_text="Its timeline event.")
    gate = serializers.SerializerMethodField()

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_event_id(self, _call: MCPInteraction) -> str | None:
        event = self.context["trace"].event
        return str(event.pk) if event else None

    @extend_schema_field(GateActSerializer(many=True))
    def get_gate(self, _call: MCPInteraction) -> object:
        return GateActSerializer(self.context["trace"].acts, many=True).data


class SessionTraceView(APIView):
    @extend_schema(
        operation_id="get_session_trace", responses={200: SessionTraceSerializer, **ONE_SESSION}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Every model and tool call of a session, below its agent, without the bodies."""
        return Response(SessionTraceSerializer(get_session_trace(session_id)).data)


class LLMTraceView(APIView):
    @extend_schema(
        operation_id="get_llm_interaction", responses={200: LLMCallTraceSerializer, **ONE_SESSION}
    )
    def get(self, request: Request, session_id: UUID, interaction_id: UUID) -> Response:
        """A model call with the whole conversation as it was asked."""
        trace = get_llm_trace(session_id, interaction_id)
        context = {"conversation": trace.conversation}
        return Response(LLMCallTraceSerializer(trace.interaction, context=context).data)


class ToolTraceView(APIView):
    @extend_schema(
        operation_id="get_mcp_interaction", responses={200: ToolCallTraceSerializer, **ONE_SESSION}
    )
    def get(self, request: Request, session_id: UUID, interaction_id: UUID) -> Response:
        """A tool call with its arguments, its result and what the safety gate did about it."""
        trace = get_tool_trace(session_id, interaction_id)
        context = {"trace": trace}
        return Response(ToolCallTraceSerializer(trace.interaction, context=context).data)
