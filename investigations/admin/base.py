"""What every page about our rows has in common."""

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from typing_extensions import override

from investigations.admin.export import TYPES, stream_rows
from investigations.admin.one_day import OneDayAdmin
from investigations.models import AlertSession, TimelineEvent
from investigations.models.foreign_json import write_value
from investigations.rendering.plain_text import show_invisible
from investigations.selectors.session_list.search import read_ids
from investigations.services.audit import record_audit
from investigations.templatetags.display import pill

_SHOWN_CHARACTERS = 20_000
_SHOWN_OF_ERRORS = 160
_LINKS = ("live_page", "related")


class ReadOnlyAdmin(OneDayAdmin):
    """A model to look at: no adding, changing or removing, and no page that reads a whole table."""

    list_per_page = 50
    show_facets = admin.ShowFacets.NEVER
    is_exported = True
    long_fields: ClassVar[tuple[str, ...]] = ()
    """Text and JSON fields that may be large: not read for lists, cut on the page of one row."""
    exported_long_fields: ClassVar[tuple[str, ...]] = ()
    """Those that are in the files nevertheless, since they are short as a rule."""
    id_fields: ClassVar[tuple[str, ...]] = ("id", "session_id")
    """Indexed columns in which an id is looked up; words are looked up in `search_fields`."""
    sortable_by: ClassVar[tuple[str, ...]] = ()
    search_help_text = "The id of a row or of its session, or its first eight characters"

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
        name = (match.url_name or "") if match is not None else ""
        is_list = name.endswith(("_changelist", "_export"))
        return rows.defer(*self.long_fields) if is_list else rows

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if (ids := read_ids(search_term)) and self.id_fields:
            wanted = [Q((f"{_key_of(field)}__range", ids)) for field in self.id_fields]
            return queryset.filter(reduce(or_, wanted)), False
        if search_term and not self.search_fields:
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @override
    def get_search_fields(self, request: HttpRequest) -> Any:
        # The search box is there for ids alone, too.
        return self.search_fields or self.id_fields

    # ---- The whole list as a file ---------------------------------------------------------------

    @override
    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        view = self.admin_site.admin_view(self.export)
        return [path("export.<str:format_name>", view, name=name), *super().get_urls()]

    def export(self, request: HttpRequest, format_name: str) -> HttpResponseBase:
        """Every row that the list would show over all its pages; long texts are left out."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if format_name not in TYPES:
            raise Http404
        if self.looks_too_far(request):
            raise BadRequest("a filter looks through one day, or what an id finds: add either")
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters as error:
            raise BadRequest(str(error)) from error
        actor, model = request.user.get_username(), str(self.opts.model_name)
        query = {name: request.GET.getlist(name) for name in request.GET}
        record_audit(actor, "admin.export", "model", model, format=format_name, query=query)
        return stream_rows(
            request, rows, self._exported_columns(),
            key=self._export_key(),
            format_name=format_name, file_name=f"tarsy-{model}",
        )  # fmt: skip

    def _export_key(self) -> tuple[str, ...]:
        """What a file is ordered by: as the list is, by the moments where there is an index."""
        if not self.date_hierarchy:
            return ("id",)
        behind = (each.removeprefix("-") for each in self.ordering or ("id",))
        return (self.date_hierarchy, *(each for each in behind if each != self.date_hierarchy))

    def _exported_columns(self) -> list[str]:
        hidden = {*(self.exclude or ()), *self.long_fields} - {*self.exported_long_fields}
        return [each.attname for each in self.opts.concrete_fields if each.name not in hidden]

    # ---- One row --------------------------------------------------------------------------------

    @override
    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        hidden = self.exclude or ()
        names = [field.name for field in self.opts.concrete_fields if field.name not in hidden]
        return [f"shown_{name}" if name in self.long_fields else name for name in names]

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return [*self.get_fields(request, obj), *_LINKS]

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        links = _LINKS if hasattr(self.model, "session") or self._is_session else ()
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

    @admin.display(description="Belongs to it")
    def related(self, row: Model) -> SafeString:
        """Lists of what points here, found by the id of this row; they are never read for this."""
        found = format_html_join(" · ", '<a href="{}?q={}">{}</a>', (
            (reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
             row.pk, model._meta.verbose_name_plural)
            for model in self._pointing_here()
        ))  # fmt: skip
        return found or SafeString("-")

    def _pointing_here(self) -> Iterator[type[Model]]:
        for relation in self.opts.related_objects:
            model = relation.related_model
            page = self.admin_site._registry.get(model) if isinstance(model, type) else None
            if isinstance(page, ReadOnlyAdmin) and relation.field.attname in page.id_fields:
                yield page.model


def _key_of(field: str) -> str:
    """How a lookup compares the id that a column of another table's ids holds."""
    return f"{field.removesuffix('_id')}__id" if field.endswith("_id") else field


def _shown_field(field: str) -> Any:
    @admin.display(description=field.replace("_", " "))
    def show(row: Model) -> SafeString:
        value = getattr(row, field)
        text = write_value(value, indent=2)
        cut = "\n[cut here]" if len(text) > _SHOWN_CHARACTERS else ""
        return format_html("<pre>{}{}</pre>", show_invisible(text[:_SHOWN_CHARACTERS]), cut)

    return show


class StatusAdmin(ReadOnlyAdmin):
    @admin.display(description="Status", ordering="status")
    def state(self, row: Any) -> SafeString:
        return pill(row.status, "bare")


class ErrorColumn:
    """For lists of what has an `error_message`: its beginning, so that nobody opens each row."""

    @admin.display(description="Error")
    def error(self, row: Any) -> str:
        text: str = row.error_message
        cut = "…" if len(text) > _SHOWN_OF_ERRORS else ""
        return show_invisible(f"{text[:_SHOWN_OF_ERRORS]}{cut}")
