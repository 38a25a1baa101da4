"""What models and tools were asked and what they answered, kept verbatim but masked."""

import uuid

from django.db import models
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField
from investigations.models.keys import cascading_key


class Message(models.Model):
    """One turn of an execution's conversation, replayed verbatim when it is continued."""

    class Role(models.TextChoices):
        SYSTEM = "system"
        USER = "user"
        ASSISTANT = "assistant"
        TOOL = "tool"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="messages")
    stage = cascading_key("investigations.Stage", related_name="messages")
    execution = cascading_key("investigations.AgentExecution", related_name="messages")
    sequence_number = models.PositiveIntegerField(help_text="1-based within the execution.")
    role = models.CharField(max_length=10, choices=Role)
    content = models.TextField(blank=True)
    tool_calls = ForeignJSONField(null=True, blank=True)
    tool_call_id = models.TextField(blank=True, help_text="Unbounded: signatures hide in it.")
    tool_name = models.CharField(max_length=200, blank=True)
    tool_number = models.PositiveIntegerField(null=True, blank=True)
    provider_fields = ForeignJSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["execution_id", "sequence_number"]
        constraints = [
            models.UniqueConstraint(
                fields=["execution", "sequence_number"], name="message_sequence_unique"
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-sequence_number"], name="message_newest"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.role} #{self.sequence_number}"


class LLMInteraction(models.Model):
    """One model call: what was asked, what it cost, how it ended."""

    class Type(models.TextChoices):
        ITERATION = "iteration"
        FINAL_ANALYSIS = "final_analysis"
        EXECUTIVE_SUMMARY = "executive_summary"
        CHAT_RESPONSE = "chat_response"
        SUMMARIZATION = "summarization"
        SYNTHESIS = "synthesis"
        FORCED_CONCLUSION = "forced_conclusion"
        SCORING = "scoring"
        MEMORY_EXTRACTION = "memory_extraction"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="llm_interactions")
    stage = cascading_key(
        "investigations.Stage", related_name="llm_interactions", null=True, blank=True
    )
    execution = cascading_key(
        "investigations.AgentExecution", related_name="llm_interactions", null=True, blank=True
    )
    interaction_type = models.CharField(max_length=20, choices=Type)
    iteration = models.PositiveIntegerField(default=0)
    model_name = models.CharField(max_length=200)
    provider_name = models.CharField(max_length=200, blank=True)
    last_message_id = models.UUIDField(null=True, blank=True)
    llm_request = ForeignJSONField(default=dict)
    llm_response = ForeignJSONField(default=dict)
    thinking_content = models.TextField(blank=True)
    response_metadata = ForeignJSONField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    total_tokens = models.PositiveIntegerField(null=True, blank=True)
    thinking_tokens = models.PositiveIntegerField(null=True, blank=True)
    estimated_cost_usd = models.FloatField(null=True, blank=True, help_text="Null is unpriced.")
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name, verbose_name_plural = "LLM interaction", "LLM interactions"
        ordering = ["session_id", "created_at"]
        indexes = [
            models.Index(fields=["execution", "created_at"], name="llm_execution"),
            models.Index(fields=["stage", "created_at"], name="llm_stage"),
            models.Index(fields=["session", "created_at"], name="llm_session"),
            models.Index(fields=["created_at"], name="llm_created"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.interaction_type} by {self.model_name}"


class MCPInteraction(models.Model):
    """One tool call, or one look at which tools a server has."""

    class Type(models.TextChoices):
        TOOL_CALL = "tool_call"
        TOOL_LIST = "tool_list"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="mcp_interactions")
    stage = cascading_key("investigations.Stage", related_name="mcp_interactions")
    execution = cascading_key("investigations.AgentExecution", related_name="mcp_interactions")
    interaction_type = models.CharField(max_length=20, choices=Type)
    server_name = models.CharField(max_length=200)
    tool_name = models.CharField(max_length=200, blank=True)
    tool_number = models.PositiveIntegerField(null=True, blank=True)
    tool_arguments = ForeignJSONField(null=True, blank=True)
    tool_result = ForeignJSONField(null=True, blank=True)
    available_tools = ForeignJSONField(
        rows={"name": str, "description": str},
        null=True,
        blank=True,
        help_text="Of a list: what the agent is offered.",
    )
    hidden_tools = ForeignJSONField(
        rows={"name": str, "reason": str},
        null=True,
        blank=True,
        help_text="Of a list: what it is not offered, and why.",
    )
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name, verbose_name_plural = "MCP interaction", "MCP interactions"
        ordering = ["session_id", "created_at"]
        indexes = [
            models.Index(fields=["execution", "created_at"], name="mcp_execution"),
            models.Index(fields=["stage", "created_at"], name="mcp_stage"),
            models.Index(fields=["session", "created_at"], name="mcp_session"),
            models.Index(fields=["created_at"], name="mcp_created"),
            models.Index(
                fields=["session"],
                name="mcp_check",
                condition=models.Q(interaction_type="tool_call", tool_number=None),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.server_name}.{self.tool_name}"
