"""Sessions: the history of one, and what may be done with those that were chosen."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from investigations import roles
from investigations.admin.actions import RowAction, offer
from investigations.admin.base import ErrorColumn, StatusAdmin
from investigations.admin.filters import ErrorFilter, SessionValueFilter
from investigations.models import AlertSession
from investigations.rendering.plain_text import show_invisible
from investigations.selectors.session_list.search import find_sessions, read_ids
from investigations.services.sessions import (
    cancel_session,
    delete_session,
    restore_session,
    retry_session,
)

CANCEL = RowAction(
    name="cancel",
    title="Cancel sessions",
    done="told to stop",
    warning="Those that wait or run are stopped; what they have found so far stays.",
    act=lambda session, actor: cancel_session(session.pk, actor),
)
RETRY = RowAction(
    name="retry",
    title="Retry sessions",
    done="queued once more",
    warning="The alert of each is investigated again, in a new session. That costs model calls.",
    act=lambda session, actor: retry_session(session.pk, actor),
    limit="alerts",
)
DELETE = RowAction(
    name="delete",
    title="Delete sessions",
    done="deleted",
    warning=(
        "They vanish from every page at once. All that belongs to them leaves the database 30 days "
        "later; the audit trail keeps its own."
    ),
    act=lambda session, actor: delete_session(session.pk, actor),
)


class DeletedFilter(admin.SimpleListFilter):
    """Deleted sessions are shown to who asks for them, or for one of them by its id; they stay in
    the database for 30 days."""

    title = "deleted"
    parameter_name = "deleted"

    def __init__(self, request: HttpRequest, params: Any, model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self._usual = "all" if read_ids(request.GET.get("q", "")) else "no"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "Not deleted"), ("yes", "Deleted"), ("all", "All")]

    @override
    def value(self) -> str:
        return super().value() or self._usual

    @override
    def choices(self, changelist: Any) -> Iterator[Any]:
        choices = super().choices(changelist)
        next(choices)  # Django's own "All" asks for nothing, which is no choice of ours.
        return choices

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "all":
            return queryset
        return queryset.filter(deleted_at__isnull=self.value() != "yes")


RESTORE = RowAction(
    name="restore",
    title="Restore sessions",
    done="brought back",
    warning="They are on every page again, with all that belongs to them.",
    act=lambda session, actor: restore_session(session.pk, actor),
)


@admin.register(AlertSession)
class AlertSessionAdmin(ErrorColumn, StatusAdmin):
    list_display = ("name", "state", "alert_type", "chain_id", "author", "error", "created_at",
                    "deleted_at", "live_page")  # fmt: skip
    list_filter = ("status", ErrorFilter, DeletedFilter, "created_at",
                   ("alert_type", SessionValueFilter), ("chain_id", SessionValueFilter),
                   ("author", SessionValueFilter))  # fmt: skip
    date_hierarchy = "created_at"
    search_help_text = (
        "Words of the title, the alert or the report, an author, alert type or chain, or the first "
        "eight characters of an id"
    )
    id_fields = ("id",)
    ordering = ("-created_at", "-id")
    sortable_by = ("created_at",)
    actions = ("cancel", "retry", "delete", "restore")
    long_fields = (
        "alert_data", "final_analysis", "executive_summary", "session_metadata", "mcp_selection",
    )  # fmt: skip

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term or read_ids(search_term):
            return super().get_search_results(request, queryset, search_term)
        return find_sessions(queryset, search_term), False

    @override
    @admin.display(description="Status", ordering="status")
    def state(self, row: AlertSession) -> SafeString:
        status = super().state(row)
        if row.deleted_at is None:
            return status
        return format_html('{} <span class="t-pill">deleted</span>', status)

    @admin.display(description="Alert")
    def name(self, row: AlertSession) -> str:
        return show_invisible(row.title or row.alert_type)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(roles.OPERATE)

    def has_submit_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(roles.SUBMIT)

    def has_hide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(roles.DELETE)

    @admin.action(description="Cancel", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return offer(self, request, queryset, CANCEL)

    @admin.action(description="Retry", permissions=["submit"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return offer(self, request, queryset, RETRY)

    @admin.action(description="Delete", permissions=["hide"])
    def delete(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return offer(self, request, queryset, DELETE)

    @admin.action(description="Restore", permissions=["hide"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return offer(self, request, queryset, RESTORE)
