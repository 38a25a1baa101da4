"""Lists that read no whole table, whatever the address asks for."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Paginator
from django.db import DataError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from typing_extensions import override

from investigations.selectors.sessions import COUNT_LIMIT

LONGEST_SEARCH = 300


class CappedPaginator(Paginator[Any]):
    """Counts no further than a person turns pages."""

    @cached_property
    @override
    def count(self) -> int:
        rows: QuerySet[Model] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[:COUNT_LIMIT].count()


@contextmanager
def _bad_values_told() -> Iterator[None]:
    try:
        yield
    except (ValueError, OverflowError, DataError) as error:
        raise IncorrectLookupParameters(error) from error


class CarefulChangeList(ChangeList):
    """Says that a filter is wrong where Django would only notice it in the database.

    Sorts by no column that has no index, whatever the address says.
    """

    @override
    def get_ordering_field(self, field_name: Any) -> Any:
        return (
            super().get_ordering_field(field_name)
            if field_name in (self.sortable_by or ())
            else None
        )

    @override
    def get_filters(self, request: HttpRequest) -> Any:
        if len(self.query) > LONGEST_SEARCH:
            raise IncorrectLookupParameters("the search is too long")
        with _bad_values_told():
            return super().get_filters(request)

    @override
    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        with _bad_values_told():
            rows: QuerySet[Any] = super().get_queryset(request, *args, **kwargs)
        return rows

    @override
    def get_results(self, request: HttpRequest) -> None:
        with _bad_values_told():
            super().get_results(request)
            len(self.result_list)  # reads the rows of the page
        if isinstance(self.model_admin, CarefulAdmin):
            self.model_admin.complete(self.result_list)

    @property
    def export_links(self) -> Iterator[tuple[str, str]]:
        """Where all rows of this list can be had, by format."""
        if not getattr(self.model_admin, "is_exported", False):
            return
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_export"
        for format_name in ("csv", "json"):
            address = reverse(name, args=[format_name])
            yield format_name.upper(), address + self.get_query_string()

    def date_choices(self) -> dict[str, Any]:
        """Years, months or days to choose from, for Django's template.

        Django's own reads every row to offer only dates that have some; this asks for the oldest.
        """
        field = str(self.date_hierarchy)
        rows = self.root_queryset.order_by(field).values_list(field, flat=True)
        oldest, newest = rows.first() or timezone.now(), timezone.now()
        year, month, day = (self._chosen(part) for part in ("year", "month", "day"))
        if year and month and day:
            shown = date(year, month, day).strftime("%B %-d")
            return self._choices({"year": year, "month": month}, f"{month}/{year}", [(shown, {})])
        if year and month:
            start = date(year, month, 1)
            return self._choices({"year": year}, str(year), [
                (f"{each:%B} {each.day}", {"year": year, "month": month, "day": each.day})
                for each in _days_of(start) if oldest.date() <= each <= newest.date()
            ])  # fmt: skip
        if year:
            return self._choices({}, "All dates", [
                (f"{date(year, each, 1):%B} {year}", {"year": year, "month": each})
                for each in range(1, 13)
                if (oldest.year, oldest.month) <= (year, each) <= (newest.year, newest.month)
            ])  # fmt: skip
        years = range(oldest.year, newest.year + 1)
        return self._choices(None, "", [(str(each), {"year": each}) for each in years])

    def _chosen(self, part: str) -> int | None:
        value = self.params.get(f"{self.date_hierarchy}__{part}")
        return int(value) if value else None

    def _choices(
        self, back: dict[str, int] | None, title: str, choices: list[tuple[str, dict[str, int]]]
    ) -> dict[str, Any]:
        return {
            "show": True,
            "back": None if back is None else {"link": self._link(back), "title": title},
            "choices": [
                {"title": label, "link": self._link(wanted)} if wanted else {"title": label}
                for label, wanted in choices
            ],
        }

    def _link(self, wanted: dict[str, int]) -> str:
        field = f"{self.date_hierarchy}__"
        return str(self.get_query_string({field + part: n for part, n in wanted.items()}, [field]))


def _days_of(start: date) -> Iterator[date]:
    day = start
    while day.month == start.month:
        yield day
        day += timedelta(days=1)


class CarefulAdmin(ModelAdmin[Any]):
    """For every model in the administration, ours or not."""

    paginator = CappedPaginator
    show_full_result_count = False
    list_max_show_all = 0

    def complete(self, rows: Iterable[Any]) -> None:
        """Read at once what the rows of a page show beyond their own columns."""

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return CarefulChangeList

    @override
    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for text in request.POST.getlist("_selected_action"):
            try:
                self.opts.pk.to_python(text)
            except ValidationError as error:
                raise BadRequest("a chosen row has no such id") from error
        answer: HttpResponseBase | None = super().response_action(request, queryset)
        return answer
