"""API tokens: made, with their text shown once, listed, and revoked."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from typing_extensions import override

from investigations.admin.actions import RowAction, offer
from investigations.admin.base import ReadOnlyAdmin
from investigations.models import ApiToken
from investigations.services.tokens import create_token, revoke
from tarsy.errors import Conflict, InvalidInput

REVOKE = RowAction(
    name="revoke",
    title="Revoke API tokens",
    done="revoked",
    warning="Whatever uses them is refused from then on. This cannot be undone.",
    act=revoke,
)


class NewToken(forms.Form):
    """What a token is for and whose it is; only a superuser makes one for somebody else."""

    name = forms.CharField(max_length=100, help_text="Who acts with it, as it appears as author.")
    owner = forms.ModelChoiceField(
        User.objects.none(), help_text="It may do what its owner may, within its scopes."
    )
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=(ApiToken.Scope.READ, ApiToken.Scope.SUBMIT),
    )

    def __init__(self, actor: Any, data: Any = None) -> None:
        super().__init__(data, initial={"owner": actor.pk})
        self._actor = actor
        owners = User.objects.filter(is_active=True).order_by("username")
        field = self.fields["owner"]
        field.queryset = owners if actor.is_superuser else owners.filter(pk=actor.pk)  # type: ignore[attr-defined]

    def make(self) -> str:
        """The text of a new token; empty where there is none, and the form says why."""
        try:
            return create_token(**self.cleaned_data, actor=self._actor.get_username())
        except (InvalidInput, Conflict) as error:
            self.add_error(None, str(error))
            return ""


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "scopes", "created_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username")
    search_help_text = "Words of the name, or of the owner's"
    id_fields = ()
    ordering = ("-created_at", "-id")
    exclude = ("token_hash",)
    actions = ("revoke",)

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("investigations.add_apitoken")

    @override
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The form, and in answer to it the one page that ever holds the token's text."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = NewToken(request.user, request.POST or None)
        text = form.make() if form.is_valid() else ""
        context = {
            **self.admin_site.each_context(request),
            "title": "The new API token" if text else "Add an API token",
            "opts": self.opts,
            "form": form,
            "text": text,
        }
        return TemplateResponse(request, "admin/new_token.html", context)

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
