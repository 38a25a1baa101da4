"""The list of sessions and its pieces."""

import uuid
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_safe

from config import get_config
from config.usage import servers_in_use
from investigations.access.identity import actor_of, find_identity
from investigations.models import Incident
from investigations.roles import DELETE, OPERATE, SUBMIT
from investigations.selectors.alert_facts import label_of_source
from investigations.selectors.configuration.models_in_use import has_usable_model
from investigations.selectors.incidents import follows_incidents
from investigations.selectors.logins import has_admin_come_since
from investigations.selectors.outcomes import OUTCOMES
from investigations.selectors.session_list import needs, running
from investigations.selectors.session_list.hits import find_hits
from investigations.selectors.session_list.rows import (
    PAGE_SIZE,
    count_newer,
    count_recent,
    has_come_since,
    is_empty,
    read_recent,
)
from investigations.selectors.sessions import values_in_use
from investigations.selectors.system.workers import who_works
from investigations.views.access import for_viewers
from investigations.views.list_filter import (
    PERIODS,
    SEVERITIES,
    ListFilter,
    read_list_filter,
)
from tarsy.demo_word import DemoWord, read_word
from tarsy.errors import InvalidInput
from tarsy.proxies import address_asked

DEMO_COMES_WITHIN = timedelta(minutes=10)
"""Of when it was announced; later, something has kept it from coming."""


@require_safe
@for_viewers
def session_list(request: HttpRequest) -> HttpResponse:
    active = _active_context()
    context = {
        **active,
        **_recent_context(request),
        "host": address_asked(request),
        "has_tool_server": bool(servers_in_use(get_config())),
        "has_model": has_usable_model(),
    }
    if not active["is_empty"]:
        context["options"] = _options()
    return render(request, "investigations/list.html", context)


def _demo_that_is_coming() -> DemoWord | None:
    """What a demo here is about to show, as what starts it has noted; None where there is none, or
    where something has come since."""
    word = read_word(settings.VAR_DIR)
    if word is None or timezone.now() - word.left_at > DEMO_COMES_WITHIN:
        return None
    if has_come_since(word.left_at):
        return None
    # Whoever has just opened its link sees this page before the demo has noticed.
    return replace(word, waits=word.waits and not has_admin_come_since(word.left_at))


@require_safe
@for_viewers
def active_fragment(request: HttpRequest) -> HttpResponse:
    context = {**_active_context(), "is_piece": True}
    return render(request, "investigations/list/active.html", context)


@require_safe
@for_viewers
def recent_fragment(request: HttpRequest) -> HttpResponse:
    """The rows and what they are narrowed to; the browser's address becomes that of this view."""
    context = {**_recent_context(request), "is_swap": True}
    answer = render(request, "investigations/list/recent.html", context)
    before = request.GET.get("before", "")
    wanted = context["filter"]
    here = _address(wanted, before) if isinstance(wanted, ListFilter) else "/"
    shown = urlsplit(request.headers.get("HX-Current-URL", ""))
    if here != f"{shown.path}?{shown.query}".rstrip("?"):
        answer["HX-Push-Url"] = here
    return answer


@require_safe
@for_viewers
def new_rows(request: HttpRequest) -> HttpResponse:
    """How many sessions of this view came or ended since it was shown."""
    try:
        since = parse_datetime(request.GET.get("since", ""))
    except ValueError:
        since = None
    if since is None or since.tzinfo is None:
        raise BadRequest("since must be a moment")
    wanted = read_list_filter(request.GET)
    count = count_newer(wanted.narrowed(actor_of(request)), since)
    context = {"new_count": count, "filter": wanted, "as_of": since}
    return render(request, "investigations/list/new_rows.html", context)


@require_safe
@for_viewers
def hits(request: HttpRequest) -> HttpResponse:
    """Where a search found the rows that are shown; asked for after them, as it may take longer."""
    try:
        ids = [uuid.UUID(text) for text in request.GET.getlist("session")[:PAGE_SIZE]]
    except ValueError as error:
        raise BadRequest("session must be an id") from error
    wanted = read_list_filter(request.GET)
    in_timelines = request.GET.get("timelines", "") != "0"
    text = "" if wanted.is_search_too_short else wanted.search
    found = find_hits(ids, text, in_timelines=in_timelines) if text else []
    return render(request, "investigations/list/hits.html", {"hits": found})


@require_safe
@for_viewers
def running_row(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    row = running.read_running_row(session_id)
    if row is None:
        raise Http404
    return render(request, "investigations/list/running_row.html", {"row": row})


def _active_context() -> dict[str, object]:
    queued, queued_count = running.read_queued()
    return {
        "needs": needs.read_needs(),
        "running": running.read_running(),
        "slots": get_config().queue.max_concurrent_sessions,
        "queued": queued,
        "queued_count": queued_count,
        "who_works": who_works(),
        "demo": _demo_that_is_coming(),
        "is_empty": is_empty(),
    }


def _recent_context(request: HttpRequest) -> dict[str, object]:
    wanted, before = read_list_filter(request.GET), request.GET.get("before", "")
    who, as_of = find_identity(request), timezone.now()
    actor = who.actor if who else ""
    try:
        recent = read_recent(wanted.narrowed(actor), before)
    except InvalidInput as error:
        raise BadRequest(str(error)) from error
    permissions = {"cancel": OPERATE, "retry": SUBMIT, "delete": DELETE}
    acts = {act: who is not None and who.may(needed) for act, needed in permissions.items()}
    return {
        "filter": wanted,
        "chips": wanted.chips(),
        "recent": recent,
        "way_out": None if recent.rows or before else _find_way_out(wanted, actor),
        "is_first_page": not before,
        "as_of": as_of,
        "acts": acts,
        "may_act": any(acts.values()),
    }


def _find_way_out(wanted: ListFilter, actor: str) -> dict[str, object] | None:
    """The one filter that hides the most, where nothing is left."""
    found = [
        {"words": words, "href": rest.href, "count": count_recent(rest.narrowed(actor))}
        for words, rest in wanted.parts()
    ]
    best = max(found, key=lambda each: int(str(each["count"])), default=None)
    return best if best and best["count"] else None


def _address(wanted: ListFilter, before: str) -> str:
    # Encoded: a cursor may be spelled with any sign between its day and its hour.
    place = urlencode({"before": before}, safe=":") if before else ""
    query = "&".join(part for part in (place, wanted.query) if part)
    return f"/?{query}" if query else "/"


def _options() -> dict[str, object]:
    severities, services, clusters, sources, alert_types, chain_ids, authors = values_in_use(
        "severity", "service", "cluster", "source", "alert_type", "chain_id", "author"
    )
    return {
        "statuses": OUTCOMES,
        "severities": [each for each in SEVERITIES if each in severities],
        "states": Incident.State.choices if follows_incidents() else [],
        "services": services,
        "clusters": clusters,
        "sources": [(name, label_of_source(name)) for name in sources],
        "alert_types": alert_types,
        "chain_ids": chain_ids,
        "authors": authors,
        "periods": [(key, words) for key, (words, _length) in PERIODS.items()],
    }
