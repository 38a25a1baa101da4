"""Filters that read no whole table: of large ones only what one day or one id has."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from typing_extensions import override

from investigations.models import AlertSession
from investigations.selectors.distinct import distinct_values

MOST_VALUES = 200


class ValueFilter(AllValuesFieldListFilter):
    """The values that a column has, of those rows that the list may look through."""

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: Any,
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        values = self.find_values(model_admin.bounded_rows(request), field)
        self.lookup_choices = values  # type: ignore[assignment]  # it is only walked through
        self.title = field_path.removeprefix("session__").replace("_", " ")

    def find_values(self, rows: QuerySet[Any], _field: Any) -> Iterable[Any]:
        path = self.lookup_kwarg
        return rows.order_by(path).values_list(path, flat=True).distinct()[:MOST_VALUES]


class SessionValueFilter(ValueFilter):
    """The values that a column of the sessions has, each found by a look into its index."""

    @override
    def find_values(self, _rows: QuerySet[Any], field: Any) -> Iterable[Any]:
        return distinct_values(AlertSession._meta.db_table, field.column, most=MOST_VALUES)


OF_THE_SESSION = tuple(
    (f"session__{column}", SessionValueFilter) for column in ("alert_type", "chain_id", "author")
)
"""By what people know of the investigation that a row belongs to."""


class ErrorFilter(admin.SimpleListFilter):
    """Whether something went wrong, as `error_message` says."""

    title = "error"
    parameter_name = "error"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "With an error"), ("no", "Without one")]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "yes":
                return queryset.filter(~Q(error_message=""))
            case "no":
                return queryset.filter(error_message="")
        return queryset
