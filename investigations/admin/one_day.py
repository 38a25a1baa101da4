"""Lists whose filters look through one day, or what an id finds, instead of a whole table."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from typing_extensions import override

from investigations.admin.change_list import CarefulAdmin
from investigations.selectors.session_list.search import read_ids

_FILTERS = ("", "exact", "in", "isnull", "isempty", "gte", "gt", "lte", "lt", "year")
"""What a filter may be: what an index answers, and no pattern."""


class OneDayAdmin(CarefulAdmin):
    """Filters by nothing but what is shown, and where it has to be, within one day."""

    filters_one_day = False
    """A filter over all rows would read all of them: it looks through a day, or what an id finds.
    Such models have a `date_hierarchy`."""

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if self.looks_too_far(request):
            told = "A filter looks through one day, or one session: these are the rows of today."
            messages.info(request, f"{told} Choose another day, or search for an id.")
            return HttpResponseRedirect(f"?{_ask_for_today(request, str(self.date_hierarchy))}")
        return super().changelist_view(request, extra_context)

    def looks_too_far(self, request: HttpRequest) -> bool:
        """Whether a filter is asked for and nothing bounds the rows that it has to read."""
        names = {_name_of_filter(each) for each in self.list_filter}
        asked = {lookup for lookup in request.GET if any(map(lookup.startswith, names))}
        if not self.filters_one_day or not asked or read_ids(request.GET.get("q", "")):
            return False
        return self._chosen_day(request) is None

    def _chosen_day(self, request: HttpRequest) -> date | None:
        chosen = [
            request.GET.get(f"{self.date_hierarchy}__{part}") for part in ("year", "month", "day")
        ]
        try:
            return date(*(int(part or "") for part in chosen))
        except (ValueError, OverflowError):
            return None

    def bounded_rows(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows that a filter looks through: what an id finds, the chosen day, or today."""
        rows = self.get_queryset(request)
        if not self.filters_one_day:
            return rows
        if read_ids(term := request.GET.get("q", "")):
            return self.get_search_results(request, rows, term)[0]
        day = self._chosen_day(request) or timezone.now().date()
        start = datetime.combine(day, time.min, tzinfo=UTC)
        moments = (start, start + timedelta(days=1))
        return rows.filter((f"{self.date_hierarchy}__range", moments))

    @override
    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only the filters that are shown, or an address could ask for a walk over all rows."""
        if lookup in (f"{self.date_hierarchy}__month", f"{self.date_hierarchy}__day"):
            return request is not None and f"{self.date_hierarchy}__year" in request.GET
        names = [_name_of_filter(each) for each in (*self.list_filter, self.date_hierarchy)]
        allowed = {f"{name}__{how}" if how else name for name in names for how in _FILTERS}
        return lookup in allowed

    @override
    def get_ordering(self, request: HttpRequest) -> Any:
        # Whoever asks for a time goes by the index of times.
        ordering = super().get_ordering(request)
        newest = f"-{self.date_hierarchy}"
        if self.date_hierarchy and f"{self.date_hierarchy}__year" in request.GET:
            return (newest, *(each for each in ordering if each != newest))
        return ordering


def _name_of_filter(each: Any) -> Any:
    field = each[0] if isinstance(each, tuple) else each
    return getattr(field, "parameter_name", field)


def _ask_for_today(request: HttpRequest, field: str) -> str:
    """The same address with today's date among what it asks for."""
    query, today = request.GET.copy(), timezone.now()
    for part in ("year", "month", "day"):
        query[f"{field}__{part}"] = str(getattr(today, part))
    return query.urlencode()
