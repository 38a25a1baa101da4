"""The list of sessions and its pieces."""

import uuid
from collections.abc import Sequence
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from investigations.models import AlertSession
from investigations.selectors import lists
from investigations.templatetags.tarsy import state_look
from investigations.views.access import for_viewers
from tarsy.errors import InvalidInput


@require_safe
@for_viewers
def session_list(request: HttpRequest) -> HttpResponse:
    context = {**_active_context(), **_recent_context(request), "is_empty": lists.is_empty()}
    context["host"] = f"{request.scheme}://{request.get_host()}"
    return render(request, "investigations/list.html", context)


@require_safe
@for_viewers
def active_fragment(request: HttpRequest) -> HttpResponse:
    return render(request, "investigations/list/active.html", _active_context())


@require_safe
@for_viewers
def recent_fragment(request: HttpRequest) -> HttpResponse:
    return render(request, "investigations/list/recent.html", _recent_context(request))


@require_safe
@for_viewers
def running_row(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    row = lists.read_running_row(session_id)
    if row is None:
        raise Http404
    return render(request, "investigations/list/running_row.html", {"row": row})


def _active_context() -> dict[str, object]:
    queued, queued_count = lists.read_queued()
    return {"running": lists.read_running(), "queued": queued, "queued_count": queued_count}


def _recent_context(request: HttpRequest) -> dict[str, object]:
    known = set(AlertSession.Status.values)
    statuses = [status for status in request.GET.getlist("status") if status in known]
    try:
        recent = lists.read_recent(statuses, request.GET.get("before", ""))
    except InvalidInput as error:
        raise BadRequest(str(error)) from error
    return {
        "recent": recent,
        "statuses": statuses,
        "status_choices": _status_choices(statuses),
        "status_query": "".join(f"&status={status}" for status in statuses),
        "is_first_page": "before" not in request.GET,
    }


def _status_choices(chosen: Sequence[str]) -> list[dict[str, object]]:
    """A link for each way to end, which adds it to the filter or takes it out."""
    choices: list[dict[str, object]] = []
    for status in AlertSession.TERMINAL:
        is_on = status.value in chosen
        others = [other for other in chosen if other != status.value]
        wanted = others if is_on else [*others, status.value]
        href = f"/?{urlencode({'status': wanted}, doseq=True)}" if wanted else "/"
        choices.append(
            {"href": href, "is_on": is_on, "word": status.label, "icon": state_look(status)[1]}
        )
    return choices
