"""What people see of an investigation."""

import uuid
from typing import ClassVar

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models.functions import Left, Now
from typing_extensions import override

from investigations.models.json_columns import ForeignJSONField, Types
from investigations.models.keys import cascading_key

METADATA_TYPES: Types = {
    "about": str, "argument_order": list, "author": str, "broken_off": bool, "check_of": int,
    "duration_ms": int, "forced_because": str, "forced_conclusion": bool, "given_bytes": int,
    "is_error": bool, "is_final": bool, "is_offered": bool, "iterations_used": int, "masked": int,
    "max_iterations": int, "may_write": bool, "original_tokens": int, "searched": bool,
    "sent_back": str,
    "server_name": str, "size_bytes": int, "summarization_fallback": bool,
    "summarization_model": str, "tool_call_id": str, "tool_name": str, "tool_number": int,
    "truncated": bool, "unsupported": list, "until": str,
    "verification": {"status": str, "reason": str}, "wait": str,
    "writes": {"at": int, "steps": list}, "written_by_code": bool, "written_calls": list,
}  # fmt: skip


class TimelineEvent(models.Model):
    """One thing on the timeline: a thought, an answer, a tool call, an error.

    Born STREAMING or finished; ends COMPLETED, FAILED, CANCELLED or TIMED_OUT. `sequence_number`
    is the `seq` of the event that announced it, so it orders the whole session.
    """

    class Type(models.TextChoices):
        LLM_THINKING = "llm_thinking"
        LLM_RESPONSE = "llm_response"
        LLM_TOOL_CALL = "llm_tool_call"
        MCP_TOOL_SUMMARY = "mcp_tool_summary"
        ERROR = "error"
        NOTICE = "notice"
        USER_QUESTION = "user_question"
        EXECUTIVE_SUMMARY = "executive_summary"
        FINAL_ANALYSIS = "final_analysis"
        CODE_EXECUTION = "code_execution"
        GOOGLE_SEARCH_RESULT = "google_search_result"
        URL_CONTEXT_RESULT = "url_context_result"
        TASK_ASSIGNED = "task_assigned"
        PROVIDER_FALLBACK = "provider_fallback"
        SKILL_LOADED = "skill_loaded"
        MEMORY_INJECTED = "memory_injected"

    class Status(models.TextChoices):
        STREAMING = "streaming"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"
        TIMED_OUT = "timed_out"

    ABOUT_WAIT: ClassVar = "provider_wait"
    """What the metadata of a notice is about that shows a wait for a model provider."""
    ABOUT_INCIDENT: ClassVar = "incident"
    """The same of one that tells what has become of the alerts of the session's incident."""
    MARKDOWN: ClassVar = (
        Type.LLM_RESPONSE,
        Type.FINAL_ANALYSIS,
        Type.EXECUTIVE_SUMMARY,
        Type.MCP_TOOL_SUMMARY,
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = cascading_key("investigations.AlertSession", related_name="timeline_events")
    stage = cascading_key(
        "investigations.Stage", related_name="timeline_events", null=True, blank=True
    )
    execution = cascading_key(
        "investigations.AgentExecution", related_name="timeline_events", null=True, blank=True
    )
    parent_execution = models.ForeignKey(
        "investigations.AgentExecution",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="sub_timeline_events",
        null=True,
        blank=True,
    )
    sequence_number = models.BigIntegerField()
    event_type = models.CharField(max_length=30, choices=Type)
    status = models.CharField(max_length=20, choices=Status, default=Status.STREAMING)
    content = models.TextField(blank=True)
    content_html = models.TextField(
        blank=True, help_text="Rendered once, when a Markdown block completes."
    )
    metadata = ForeignJSONField(default=dict, blank=True, types=METADATA_TYPES)
    llm_interaction_id = models.UUIDField(null=True, blank=True)
    mcp_interaction_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["session_id", "sequence_number"]
        indexes = [
            models.Index(fields=["-created_at", "-sequence_number"], name="timeline_newest"),
            models.Index(fields=["session", "sequence_number"], name="timeline_session"),
            models.Index(fields=["stage", "sequence_number"], name="timeline_stage"),
            models.Index(fields=["execution", "sequence_number"], name="timeline_execution"),
            GinIndex(  # as `session_list.search` asks
                SearchVector(Left("content", 100_000), config="english"), name="timeline_words"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.event_type} #{self.sequence_number}"
