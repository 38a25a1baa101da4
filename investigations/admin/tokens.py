"""API tokens: which there are, and their end. They are made where their text is shown once."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from typing_extensions import override

from investigations.admin.actions import RowAction, offer
from investigations.admin.base import ReadOnlyAdmin
from investigations.models import ApiToken
from investigations.services.tokens import revoke

REVOKE = RowAction(
    name="revoke",
    title="Revoke API tokens",
    done="revoked",
    warning="Whatever uses them is refused from then on. This cannot be undone.",
    act=revoke,
)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "scopes", "created_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username")
    search_help_text = "Words of the name, or of the owner's; `manage.py create_token` makes one"
    id_fields = ()
    ordering = ("-created_at", "-id")
    exclude = ("token_hash",)
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("investigations.change_apitoken")

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return offer(self, request, queryset, REVOKE)

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return admin.ModelAdmin.get_search_results(self, request, queryset, search_term)
