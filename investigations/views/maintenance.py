"""The page of maintenance windows: those that are open or to come, and a form for another one."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from config import get_config
from investigations.access.identity import actor_of, find_identity
from investigations.roles import OPERATE
from investigations.selectors.incidents import list_windows
from investigations.services.incidents.windows import WindowRequest, end_window, open_window
from investigations.views.access import for_those_who_may, for_viewers
from investigations.views.form_errors import FORM, find_subject, say_error
from tarsy.errors import Conflict, InvalidInput, NotFound

_NEEDED = {
    "name": "A name is needed.",
    "ends_at": "The end is needed: when the window ends, in UTC.",
}
_SUBJECTS = {
    "name": "The name",
    "matchers": "A matcher",
    "starts_at": "The start",
    "ends_at": "The end",
}
"""What an error is about, by its place on the page."""


@require_safe
@for_viewers
def maintenance(request: HttpRequest) -> HttpResponse:
    return _show(request)


@require_POST
@for_those_who_may(OPERATE)
def open_one(request: HttpRequest) -> HttpResponse:
    """What is wrong is shown beside what was typed."""
    given = request.POST
    if missing := {
        field: said for field, said in _NEEDED.items() if not given.get(field, "").strip()
    }:
        return _show(request, errors=missing, status=422)
    try:
        starts_at = given.get("starts_at", "").strip()
        lines = given.get("matchers", "").splitlines()
        wanted = WindowRequest(
            name=given.get("name", ""),
            matchers=tuple(line.strip() for line in lines if line.strip()),
            starts_at=_moment("starts_at", starts_at) if starts_at else timezone.now(),
            ends_at=_moment("ends_at", given["ends_at"]),
        )
        open_window(wanted, actor_of(request))
    except InvalidInput as error:
        subject = find_subject(error.field, _SUBJECTS)
        place = error.field.split("[")[0] if subject else FORM
        return _show(request, errors={place: say_error(error, subject)}, status=422)
    return redirect("maintenance")


@require_POST
@for_those_who_may(OPERATE)
def end_one(request: HttpRequest, window_id: uuid.UUID) -> HttpResponse:
    try:
        end_window(window_id, actor_of(request))
    except NotFound as error:
        raise Http404 from error
    except Conflict:
        pass  # Somebody else was quicker.
    return redirect("maintenance")


def _show(
    request: HttpRequest, *, errors: Mapping[str, str] | None = None, status: int = 200
) -> HttpResponse:
    who, now = find_identity(request), timezone.now()
    context = {
        "windows": list_windows(now),
        "configured": [
            (window, window.closes_at(now)) for window in get_config().incidents.maintenance
        ],
        "may_open": who is not None and who.may(OPERATE),
        "given": request.POST,
        "errors": errors or {},
        "now": now,
    }
    return render(request, "investigations/maintenance.html", context, status=status)


def _moment(field: str, text: str) -> datetime:
    """As a form field writes it, in UTC."""
    try:
        moment = parse_datetime(text.strip())
    except ValueError:
        moment = None
    if moment is None:
        raise InvalidInput(field, "must be a moment such as 2026-01-31T22:00")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
