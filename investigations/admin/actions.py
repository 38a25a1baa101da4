"""Acts on the chosen rows of a list: shown first, then done one by one, and each one noted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from investigations.access.limits import Kind, count_request
from investigations.services.bulk import MOST_AT_ONCE
from tarsy.errors import TarsyError

_TOLD = 10


@dataclass(frozen=True)
class RowAction:
    """What is done to each chosen row. `act` is a service, and raises where it must not be."""

    name: str
    title: str
    done: str
    warning: str
    act: Callable[[Any, str], object]
    limit: Kind | None = None
    """What each one counts as."""


def offer(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    rows: QuerySet[Any],
    action: RowAction,
) -> HttpResponse | None:
    """The page that lists what was chosen, or, once that was confirmed, the acts themselves."""
    chosen = list(rows[: MOST_AT_ONCE + 1])
    if not chosen:
        messages.warning(request, "Nothing of what was chosen is in this list any more.")
        return None
    if len(chosen) > MOST_AT_ONCE:
        text = f"Choose at most {MOST_AT_ONCE} at once; nothing was done."
        messages.error(request, text)
        return None
    if request.POST.get("confirmed") == "yes":
        _act(model_admin, request, chosen, action)
        return None
    context = {
        **model_admin.admin_site.each_context(request),
        "title": action.title,
        "action": action,
        "rows": chosen,
        "opts": model_admin.opts,
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)


def _act(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    chosen: Sequence[Model],
    action: RowAction,
) -> None:
    refusals = []
    for row in chosen:
        try:
            if action.limit:
                count_request(request, action.limit)
            action.act(row, request.user.get_username())
        except TarsyError as refusal:
            refusals.append(f"{row}: {refusal}")
            continue
        model_admin.log_change(request, row, f"{action.done.capitalize()}.")
    count = len(chosen) - len(refusals)
    if count:
        name = model_admin.opts.verbose_name if count == 1 else model_admin.opts.verbose_name_plural
        messages.success(request, f"{count} {name} {action.done}.")
    for told in refusals[:_TOLD]:
        messages.warning(request, told)
    if len(refusals) > _TOLD:
        messages.warning(request, f"{len(refusals) - _TOLD} more were refused.")
