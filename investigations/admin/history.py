"""The history, to read and search. Nothing is changed here: what happened, happened."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from investigations.admin.base import ErrorColumn, ReadOnlyAdmin, StatusAdmin
from investigations.admin.filters import OF_THE_SESSION, ErrorFilter, ValueFilter
from investigations.models import (
    AgentExecution,
    ApprovalRequest,
    AuditEvent,
    Chat,
    ChatUserMessage,
    Event,
    LLMInteraction,
    MCPInteraction,
    Message,
    ResourceNote,
    Stage,
    TimelineEvent,
)
from investigations.rendering.plain_text import show_invisible
from investigations.selectors.audit import find_acts, list_actions
from investigations.selectors.audit_targets import ActTarget, name_targets
from investigations.services.notes import forget_note
from investigations.templatetags.display import pill


@admin.register(Stage)
class StageAdmin(ErrorColumn, StatusAdmin):
    list_display = ("stage_name", "state", "stage_type", "error", "session_id", "created_at",
                    "live_page")  # fmt: skip
    list_filter = ("status", "stage_type", "parallel_type", ErrorFilter, *OF_THE_SESSION)
    filters_one_day = True
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")


@admin.register(AgentExecution)
class AgentExecutionAdmin(ErrorColumn, StatusAdmin):
    list_display = ("agent_name", "state", "error", "llm_provider", "model_name", "attempt",
                    "worker_id", "created_at", "live_page")  # fmt: skip
    list_filter = ("status", ("agent_name", ValueFilter), ("llm_provider", ValueFilter),
                   ("model_name", ValueFilter), ErrorFilter, *OF_THE_SESSION)  # fmt: skip
    filters_one_day = True
    id_fields = ("id", "session_id", "stage_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    exclude = ("lease_token",)


@admin.register(TimelineEvent)
class TimelineEventAdmin(StatusAdmin):
    list_display = ("event_type", "state", "sequence_number", "session_id", "created_at",
                    "live_page")  # fmt: skip
    list_filter = ("event_type", "status", *OF_THE_SESSION)
    filters_one_day = True
    id_fields = ("id", "session_id", "execution_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-sequence_number", "-id")
    long_fields = ("content", "content_html", "metadata")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("role", "sequence_number", "tool_name", "execution_id", "created_at",
                    "live_page")  # fmt: skip
    list_filter = ("role", ("tool_name", ValueFilter), *OF_THE_SESSION)
    filters_one_day = True
    id_fields = ("id", "session_id", "execution_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-sequence_number", "-id")
    long_fields = ("content", "tool_calls", "tool_call_id", "provider_fields")


@admin.register(LLMInteraction)
class LLMInteractionAdmin(ErrorColumn, ReadOnlyAdmin):
    list_display = ("interaction_type", "model_name", "provider_name", "error", "total_tokens",
                    "estimated_cost_usd", "duration_ms", "created_at", "live_page")  # fmt: skip
    list_filter = ("interaction_type", ("model_name", ValueFilter),
                   ("provider_name", ValueFilter), ErrorFilter, *OF_THE_SESSION)  # fmt: skip
    filters_one_day = True
    id_fields = ("id", "session_id", "execution_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    long_fields = ("llm_request", "llm_response", "thinking_content", "response_metadata")


@admin.register(MCPInteraction)
class MCPInteractionAdmin(ErrorColumn, ReadOnlyAdmin):
    list_display = ("interaction_type", "server_name", "tool_name", "tool_number", "error",
                    "duration_ms", "created_at", "live_page")  # fmt: skip
    list_filter = ("interaction_type", ("server_name", ValueFilter), ("tool_name", ValueFilter),
                   ErrorFilter, *OF_THE_SESSION)  # fmt: skip
    filters_one_day = True
    id_fields = ("id", "session_id", "execution_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    long_fields = ("tool_arguments", "tool_result", "available_tools", "hidden_tools")


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("seq", "kind", "session_id", "created_at", "live_page")
    id_fields = ("session_id",)
    date_hierarchy = "created_at"
    ordering = ("-id",)
    long_fields = ("payload",)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        kind = KeyTextTransform("type", "payload")
        rows: QuerySet[Any] = super().get_queryset(request).annotate(kind=kind)
        return rows

    @admin.display(description="Kind")
    def kind(self, row: Any) -> str:
        return str(row.kind)


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(StatusAdmin):
    list_display = ("tool_name", "state", "target", "decided_by", "created_at", "live_page")
    list_filter = ("status", "risk")
    search_fields = ("tool_name", "target", "decided_by")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    long_fields = ("arguments", "preview")

    @override
    @admin.display(description="Status", ordering="status")
    def state(self, row: Any) -> SafeString:
        # The word of the pages: nobody queues it, a person is waited for.
        is_waiting = row.status == ApprovalRequest.Status.PENDING
        return pill("needs_approval" if is_waiting else row.status, "bare")


@admin.register(Chat)
class ChatAdmin(ReadOnlyAdmin):
    list_display = ("id", "chain_id", "created_by", "created_at", "live_page")
    list_filter = (("chain_id", ValueFilter), ("created_by", ValueFilter))
    filters_one_day = True
    search_fields = ("created_by",)
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")


@admin.register(ChatUserMessage)
class ChatUserMessageAdmin(ReadOnlyAdmin):
    list_display = ("author", "chat_id", "created_at")
    list_filter = (("author", ValueFilter),)
    filters_one_day = True
    search_fields = ("author",)
    id_fields = ("id", "chat_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    long_fields = ("content",)


@admin.register(ResourceNote)
class ResourceNoteAdmin(ReadOnlyAdmin):
    """The one thing that may be deleted here: what an agent believes may be wrong, or planted."""

    list_display = ("resource_id", "category", "agent_name", "told_at", "live_page")
    list_filter = ("told_at",)
    search_fields = ("resource_id", "text", "agent_name")
    date_hierarchy = "told_at"
    ordering = ("-told_at", "-id")
    long_fields = ("text",)

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    @override
    def delete_model(self, request: HttpRequest, obj: ResourceNote) -> None:
        forget_note(obj, request.user.get_username())

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ResourceNote]) -> None:
        for note in queryset:
            forget_note(note, request.user.get_username())


class ActionFilter(admin.SimpleListFilter):
    """What was done; the actions there are come out of the index."""

    title = "action"
    parameter_name = "action"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(action, action) for action in list_actions()]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "actor", "action", "target_type", "target")
    list_filter = (ActionFilter,)
    search_help_text = "A whole actor, action or target id"
    date_hierarchy = "created_at"
    ordering = ("-id",)
    long_fields = ("details",)
    exported_long_fields = ("details",)

    @override
    def complete(self, rows: Iterable[AuditEvent]) -> None:
        named = name_targets(rows)
        for row in rows:
            row.named_target = named.get(row.target_id)  # type: ignore[attr-defined]

    @admin.display(description="Target")
    def target(self, row: Any) -> SafeString:
        """The page of a session or approval by its name; anything else by its id."""
        named: ActTarget | None = getattr(row, "named_target", None)
        if named is None:
            return conditional_escape(show_invisible(row.target_id))
        page = reverse("session", args=[named.session_id])
        words = show_invisible(named.words)
        return format_html('<a href="{}" title="{}">{}</a>', page, row.target_id, words)

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (find_acts(queryset, search_term) if search_term else queryset), False
