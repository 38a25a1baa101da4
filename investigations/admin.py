"""The history, to read and search. Nothing is changed here: what happened, happened."""

import json
import uuid
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from investigations.models import (
    AgentExecution,
    AlertSession,
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
from investigations.plain_text import show_invisible
from investigations.selectors.audit_search import find_acts, list_actions
from investigations.selectors.sessions import COUNT_LIMIT
from investigations.services.notes import forget_note
from investigations.templatetags.tarsy import pill

_SHOWN_CHARACTERS = 20_000

admin.site.site_header = "TARSy"
admin.site.site_title = "TARSy admin"
admin.site.index_title = "History"
admin.site.enable_nav_sidebar = False


class CappedPaginator(Paginator[Any]):
    """Counts no further than a person turns pages."""

    @cached_property
    @override
    def count(self) -> int:
        rows: QuerySet[Model] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[:COUNT_LIMIT].count()


class IndexedChangeList(ChangeList):
    """Sorts by no column that has no index, whatever the address says."""

    @override
    def get_ordering_field(self, field_name: Any) -> Any:
        is_indexed = field_name in (self.sortable_by or ())
        return super().get_ordering_field(field_name) if is_indexed else None


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """A model to look at: no adding, changing or removing, and no page that reads a whole table."""

    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = CappedPaginator
    long_fields: ClassVar[tuple[str, ...]] = ()
    """Text and JSON fields that may be large: not read for lists, cut on the page of one row."""
    id_fields: ClassVar[tuple[str, ...]] = ("id", "session_id")
    """Indexed columns in which an id is looked up; words are looked up in `search_fields`."""
    filters_one_session = False
    """A filter over all rows would read all of them: it is there once an id is searched for."""
    sortable_by: ClassVar[tuple[str, ...]] = ()
    search_help_text = "The id of a row or of its session"

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return rows.defer(*self.long_fields) if is_list else rows

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if identity := _read_id(search_term):
            wanted = [Q((field, identity)) for field in self.id_fields]
            return queryset.filter(reduce(or_, wanted)), False
        if search_term and not self.search_fields:
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @override
    def get_search_fields(self, request: HttpRequest) -> Any:
        # The search box is there for ids alone, too.
        return self.search_fields or self.id_fields

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return IndexedChangeList

    @override
    def get_list_filter(self, request: HttpRequest) -> Any:
        is_narrow = not self.filters_one_session or _read_id(request.GET.get("q", ""))
        return self.list_filter if is_narrow else ()

    @override
    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only the filters that are shown, or an address could ask for a walk over all rows."""
        shown = self.get_list_filter(request) if request is not None else ()
        names = [getattr(each, "parameter_name", each) for each in shown]
        return any(lookup == name or lookup.startswith(f"{name}__") for name in names)

    @override
    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        hidden = self.exclude or ()
        names = [field.name for field in self.opts.concrete_fields if field.name not in hidden]
        return [f"shown_{name}" if name in self.long_fields else name for name in names]

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return [*self.get_fields(request, obj), "live_page"]

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        links = ["live_page"] if hasattr(self.model, "session") or self._is_session else []
        return [(None, {"fields": [*links, *self.get_fields(request, obj)]})]

    def __getattr__(self, name: str) -> Any:
        """`shown_content` shows the field `content` cut and with nothing invisible in it."""
        field = name.removeprefix("shown_")
        if field == name or field not in type(self).long_fields:
            raise AttributeError(name)
        return _shown_field(field)

    @property
    def _is_session(self) -> bool:
        return self.model is AlertSession

    @admin.display(description="Live page")
    def live_page(self, row: Model) -> SafeString:
        session_id = row.pk if self._is_session else getattr(row, "session_id", None)
        if session_id is None:
            return SafeString("-")
        anchor = f"#e-{row.sequence_number}" if isinstance(row, TimelineEvent) else ""
        page = reverse("session", args=[session_id])
        return format_html('<a href="{}{}">Open</a>', page, anchor)


def _read_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text.strip())
    except ValueError:
        return None


def _shown_field(field: str) -> Any:
    @admin.display(description=field.replace("_", " "))
    def show(row: Model) -> SafeString:
        value = getattr(row, field)
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        cut = "\n[cut here]" if len(text) > _SHOWN_CHARACTERS else ""
        return format_html("<pre>{}{}</pre>", show_invisible(text[:_SHOWN_CHARACTERS]), cut)

    return show


class _StatusAdmin(ReadOnlyAdmin):
    @admin.display(description="Status", ordering="status")
    def state(self, row: Any) -> SafeString:
        return pill(row.status, "bare")


@admin.register(AlertSession)
class AlertSessionAdmin(_StatusAdmin):
    list_display = ("name", "state", "alert_type", "chain_id", "author", "created_at", "live_page")
    list_filter = ("status", "created_at")
    search_help_text = "An id, a whole alert type or chain; words are found on the list of sessions"
    id_fields = ("id",)
    ordering = ("-created_at", "-id")
    sortable_by = ("created_at",)
    long_fields = (
        "alert_data", "final_analysis", "executive_summary", "session_metadata", "mcp_selection",
    )  # fmt: skip

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if search_term and not _read_id(search_term):
            return queryset.filter(Q(alert_type=search_term) | Q(chain_id=search_term)), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="Alert")
    def name(self, row: AlertSession) -> str:
        return show_invisible(row.title or row.alert_type)


@admin.register(Stage)
class StageAdmin(_StatusAdmin):
    list_display = ("stage_name", "state", "stage_type", "session_id", "created_at", "live_page")
    list_filter = ("status", "stage_type", "parallel_type")
    filters_one_session = True
    ordering = ("-created_at", "-id")


@admin.register(AgentExecution)
class AgentExecutionAdmin(_StatusAdmin):
    list_display = ("agent_name", "state", "llm_provider", "model_name", "attempt", "worker_id",
                    "created_at", "live_page")  # fmt: skip
    list_filter = ("status",)
    filters_one_session = True
    id_fields = ("id", "session_id", "stage_id")
    ordering = ("-created_at", "-id")
    exclude = ("lease_token",)


@admin.register(TimelineEvent)
class TimelineEventAdmin(_StatusAdmin):
    list_display = ("event_type", "state", "sequence_number", "session_id", "created_at",
                    "live_page")  # fmt: skip
    list_filter = ("event_type", "status")
    filters_one_session = True
    id_fields = ("id", "session_id", "execution_id")
    ordering = ("-id",)
    long_fields = ("content", "content_html", "metadata")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("role", "sequence_number", "tool_name", "execution_id", "created_at",
                    "live_page")  # fmt: skip
    list_filter = ("role",)
    filters_one_session = True
    id_fields = ("id", "session_id", "execution_id")
    ordering = ("-id",)
    long_fields = ("content", "tool_calls", "tool_call_id", "provider_fields")


@admin.register(LLMInteraction)
class LLMInteractionAdmin(ReadOnlyAdmin):
    list_display = ("interaction_type", "model_name", "provider_name", "total_tokens",
                    "estimated_cost_usd", "duration_ms", "created_at", "live_page")  # fmt: skip
    list_filter = ("interaction_type",)
    filters_one_session = True
    id_fields = ("id", "session_id", "execution_id")
    ordering = ("-id",)
    long_fields = ("llm_request", "llm_response", "thinking_content", "response_metadata")


@admin.register(MCPInteraction)
class MCPInteractionAdmin(ReadOnlyAdmin):
    list_display = ("interaction_type", "server_name", "tool_name", "tool_number", "duration_ms",
                    "created_at", "live_page")  # fmt: skip
    list_filter = ("interaction_type",)
    filters_one_session = True
    id_fields = ("id", "session_id", "execution_id")
    ordering = ("-id",)
    long_fields = ("tool_arguments", "tool_result", "available_tools")


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("seq", "kind", "session_id", "created_at", "live_page")
    id_fields = ("session_id",)
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
class ApprovalRequestAdmin(_StatusAdmin):
    list_display = ("tool_name", "state", "target", "decided_by", "created_at", "live_page")
    list_filter = ("status", "risk")
    search_fields = ("tool_name", "target", "decided_by")
    ordering = ("-created_at", "-id")
    long_fields = ("arguments", "preview")


@admin.register(Chat)
class ChatAdmin(ReadOnlyAdmin):
    list_display = ("id", "chain_id", "created_by", "created_at", "live_page")
    search_fields = ("created_by",)


@admin.register(ChatUserMessage)
class ChatUserMessageAdmin(ReadOnlyAdmin):
    list_display = ("author", "chat_id", "created_at")
    search_fields = ("author",)
    id_fields = ("id", "chat_id")
    ordering = ("-created_at",)
    long_fields = ("content",)


@admin.register(ResourceNote)
class ResourceNoteAdmin(ReadOnlyAdmin):
    """The one thing that may be deleted here: what an agent believes may be wrong, or planted."""

    list_display = ("resource_id", "category", "agent_name", "told_at", "live_page")
    list_filter = ("told_at",)
    search_fields = ("resource_id", "text", "agent_name")
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
    list_display = ("created_at", "actor", "action", "target_type", "target_id")
    list_filter = (ActionFilter,)
    search_help_text = "A whole actor, action or target id"
    ordering = ("-id",)
    long_fields = ("details",)

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (find_acts(queryset, search_term) if search_term else queryset), False
