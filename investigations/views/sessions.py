"""The page of one session, its pieces, and what its forms send."""

import uuid
from dataclasses import asdict

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from investigations.access.identity import actor_of
from investigations.rendering.markdown import LONGEST_SHOWN_QUOTE
from investigations.rendering.plain_text import show_invisible
from investigations.rendering.streamed_file import stream_file
from investigations.roles import OPERATE
from investigations.selectors.export import export_session
from investigations.selectors.incidents import read_shown_incident
from investigations.selectors.passages import read_passage
from investigations.selectors.session_page import event_slices
from investigations.selectors.session_page.event_previews import (
    read_call_of_session,
    read_cited_tools,
    read_event,
    read_event_content,
)
from investigations.selectors.session_page.page import read_session_page, read_stage
from investigations.selectors.similar_sessions import find_similar
from investigations.selectors.timeline import CATCHUP_LIMIT, list_stream
from investigations.services.lookers import look_at
from investigations.services.sessions import cancel_session
from investigations.stream.fragments import fragments_for, render_facts, session_context
from investigations.views.access import find_shown, for_those_who_may, for_viewers, is_from_script
from investigations.views.missing_workers import tell_absence
from tarsy.errors import Conflict, NotFound

MOST_WORDS = 200
"""Characters of what is searched for."""


@require_safe
@for_viewers
def session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    found = find_shown(session_id)
    page = read_session_page(found)
    context = session_context(page)
    context["absence"] = tell_absence(found, [each.stage for each in page.stages])
    context["neighbours"] = event_slices.find_neighbours(found)
    context["similar"] = find_similar(found)
    context["incident"] = read_shown_incident(found)
    return render(request, "investigations/session.html", context)


@never_cache
@require_safe
@for_viewers
def lookers(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Who else has the page open, in words; whoever asks has it open too."""
    names = look_at(find_shown(session_id).pk, actor_of(request))
    shown = ", ".join(show_invisible(name) for name in names)
    words = f"Also here: {shown}" if names else ""
    return HttpResponse(words, content_type="text/plain; charset=utf-8")


@require_safe
@for_viewers
def facts(_request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    return HttpResponse(render_facts(read_session_page(find_shown(session_id))))


@require_safe
@for_viewers
def workers(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Whether anybody works, for a page on which nothing happens."""
    found = find_shown(session_id)
    context = {"absence": tell_absence(found, found.stages.all())}
    return render(request, "investigations/session/workers.html", context)


@require_safe
@for_viewers
def stage(request: HttpRequest, session_id: uuid.UUID, stage_id: uuid.UUID) -> HttpResponse:
    found = find_shown(session_id)
    view = read_stage(found.pk, stage_id)
    if view is None:
        raise Http404
    context = {"item": view, "tools": read_cited_tools(session_id), "session": found}
    return render(request, "investigations/session/stage.html", context)


@require_safe
@for_viewers
def event(request: HttpRequest, session_id: uuid.UUID, event_id: uuid.UUID) -> HttpResponse:
    found = find_shown(session_id)
    view = read_event(found.pk, event_id)
    if view is None:
        raise Http404
    context = {"item": view, "tools": read_cited_tools(session_id), "session": found}
    return render(request, view.template, context)


@require_safe
@for_viewers
def event_content(
    _request: HttpRequest, session_id: uuid.UUID, event_id: uuid.UUID
) -> HttpResponse:
    """The whole content as it is kept, with what nobody would see named: [U+202E]."""
    content = read_event_content(find_shown(session_id).pk, event_id)
    if content is None:
        raise Http404
    return HttpResponse(show_invisible(content), content_type="text/plain; charset=utf-8")


@require_safe
@for_viewers
def event_chart(request: HttpRequest, session_id: uuid.UUID, event_id: uuid.UUID) -> HttpResponse:
    """The series of a result, drawn."""
    content = read_event_content(find_shown(session_id).pk, event_id)
    if content is None:
        raise Http404
    return render(request, "investigations/session/chart.html", {"content": content})


@require_safe
@for_viewers
def quote(request: HttpRequest, session_id: uuid.UUID, number: int) -> HttpResponse:
    """A call that a text cites, and what it quotes where that stands in the result; where it
    quotes nothing, what reads most like the words in `claim`."""
    found = find_shown(session_id)
    words = request.GET.get("q", "")[:LONGEST_SHOWN_QUOTE]
    claim = request.GET.get("claim", "")[:LONGEST_SHOWN_QUOTE]
    context = {
        "session": found,
        "passage": read_passage(found.pk, number, words, claim),
        "call": read_call_of_session(found.pk, number),
    }
    return render(request, "investigations/session/passage.html", context)


@require_safe
@for_viewers
def earlier(request: HttpRequest, session_id: uuid.UUID, execution_id: uuid.UUID) -> HttpResponse:
    """Events that the page left out: those before one and behind another, or those around one."""
    found = find_shown(session_id)
    execution = event_slices.find_execution(found.pk, execution_id)
    before, after, at = (_read_number(request, name) for name in ("before", "after", "at"))
    if execution is None or before is None:
        raise Http404
    read = (
        event_slices.read_earlier(execution_id, before, after=after or 0)
        if at is None
        else event_slices.read_around(execution_id, at, before=before, after=after or 0)
    )
    context = {
        "agent": {"execution": execution},
        "slice": read,
        "before": before,
        "after": after or 0,
        "tools": read_cited_tools(session_id),
        "session": found,
    }
    is_piece = bool(request.headers.get("HX-Request"))
    name = "earlier_events" if is_piece else "earlier_page"
    return render(request, f"investigations/session/{name}.html", context)


def _read_number(request: HttpRequest, name: str) -> int | None:
    given = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 18 else None


@require_safe
@for_viewers
def place(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Where in the timeline a link leads, for a page that has not loaded it; null for nowhere."""
    found = event_slices.find_place(find_shown(session_id).pk, request.GET.get("at", ""))
    return JsonResponse({"place": asdict(found) if found else None})


@require_safe
@for_viewers
def search(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Every event that holds the words, in order."""
    words = request.GET.get("q", "").strip()[:MOST_WORDS]
    session = find_shown(session_id)
    found = event_slices.search_session(session, words) if words else event_slices.Search((), False)
    hits = [asdict(hit) for hit in found.hits]
    return JsonResponse({"hits": hits, "has_more": found.has_more})


@require_safe
@for_viewers
def export(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The session as a JSON document to keep."""
    session = find_shown(session_id)
    texts = export_session(session)
    return stream_file(request, texts, f"tarsy-{session.pk}.json", "application/json")


@require_safe
@for_viewers
def events(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """What a page missed, for pages whose socket cannot be opened: the same messages as there."""
    after = _read_number(request, "after") if "after" in request.GET else 0
    if after is None:
        raise BadRequest("after must be a number")
    found = find_shown(session_id)
    missed = list_stream(found.pk, after=after, limit=CATCHUP_LIMIT + 1)
    told = missed[:CATCHUP_LIMIT]
    fragments = fragments_for(told)
    messages = [{**each, "html": html} for each, html in zip(told, fragments, strict=True)]
    # Retention removes messages of ended sessions: then the page must load anew.
    following = missed[0]["db_event_id"] if missed else found.last_seq + 1
    has_more = len(missed) > CATCHUP_LIMIT or following > after + 1
    return JsonResponse({"messages": messages, "has_more": has_more})


@require_POST
@for_those_who_may(OPERATE)
def cancel(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    try:
        cancel_session(session_id, actor_of(request))
    except NotFound as error:
        raise Http404 from error
    except Conflict:
        pass  # It ended first; the page shows how.
    if is_from_script(request):
        return HttpResponse(status=204)
    if request.POST.get("next") == "list":
        return redirect("list")
    place = "#ask" if request.POST.get("next") == "ask" else ""
    return redirect(f"{reverse('session', args=[session_id])}{place}")
