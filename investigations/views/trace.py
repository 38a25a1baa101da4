"""The trace of a session: the page with every call, and each call when it is opened."""

import uuid
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from investigations.rendering.plain_text import show_invisible
from investigations.selectors.trace.bodies import read_model_call, read_tool_call, read_turn
from investigations.selectors.trace.page import read_iteration, read_trace_page
from investigations.selectors.trace.rows import RowFilter
from investigations.views.access import find_shown, for_viewers, is_from_script
from tarsy.errors import NotFound

T = TypeVar("T")

_LONGER = (1, 5, 10, 30, 60)
_WORDS = {"all": "All", "errors": "Errors", "llm": "LLM", "tools": "Tools"}


@require_safe
@for_viewers
def trace(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    row_filter = _read_filter(request)
    page = read_trace_page(find_shown(session_id), row_filter)
    context = {
        "page": page,
        "session": page.session,
        "scale": page.scale,
        "filters": [_link_filter(name, page.counts[name], row_filter) for name in _WORDS],
        "longer": _LONGER,
        "zoom": urlencode(_zoom_of(row_filter)),
    }
    return render(request, "investigations/trace.html", context)


def _read_filter(request: HttpRequest) -> RowFilter:
    """What the address asks for; what it cannot mean lets everything through."""
    wanted, longer = request.GET.get("show", "all"), request.GET.get("longer", "")
    seconds = _read_number(longer) or 0
    return RowFilter(wanted if wanted in _WORDS else "all", seconds, _read_stage(request))


def _read_stage(request: HttpRequest) -> int | None:
    return _read_number(request.GET.get("stage", ""))


def _read_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _zoom_of(row_filter: RowFilter) -> dict[str, str]:
    return {} if row_filter.stage is None else {"stage": str(row_filter.stage)}


def _link_filter(name: str, count: int, row_filter: RowFilter) -> dict[str, object]:
    query = {"show": name} if name != "all" else {}
    if row_filter.seconds:
        query["longer"] = str(row_filter.seconds)
    query |= _zoom_of(row_filter)
    return {"name": name, "word": _WORDS[name], "count": count, "query": urlencode(query),
            "is_on": name == row_filter.wanted}  # fmt: skip


@require_safe
@for_viewers
def model_call(
    request: HttpRequest, session_id: uuid.UUID, interaction_id: uuid.UUID
) -> HttpResponse:
    opened = _or_404(lambda: read_model_call(session_id, interaction_id))
    return _render_call(request, session_id, "llm", f"llm-{interaction_id}", {"opened": opened})


@require_safe
@for_viewers
def tool_call(
    request: HttpRequest, session_id: uuid.UUID, interaction_id: uuid.UUID
) -> HttpResponse:
    opened = _or_404(lambda: read_tool_call(session_id, interaction_id))
    return _render_call(request, session_id, "tool", f"tool-{interaction_id}", {"opened": opened})


@require_safe
@for_viewers
def message(
    _request: HttpRequest, session_id: uuid.UUID, interaction_id: uuid.UUID, place: int
) -> HttpResponse:
    """The whole text of one message, with what nobody would see named: [U+202E]."""
    return _answer_text(lambda: read_turn(session_id, interaction_id, place))


@require_safe
@for_viewers
def tool_arguments(
    _request: HttpRequest, session_id: uuid.UUID, interaction_id: uuid.UUID
) -> HttpResponse:
    return _answer_text(lambda: read_tool_call(session_id, interaction_id).raw_arguments)


@require_safe
@for_viewers
def tool_result(
    _request: HttpRequest, session_id: uuid.UUID, interaction_id: uuid.UUID
) -> HttpResponse:
    return _answer_text(lambda: read_tool_call(session_id, interaction_id).result)


@require_safe
@for_viewers
def iteration(
    request: HttpRequest, session_id: uuid.UUID, execution_id: uuid.UUID, place: int
) -> HttpResponse:
    """The calls of one iteration, where the page left them out."""
    session = find_shown(session_id)
    stage = _read_stage(request)
    found, scale = _or_404(lambda: read_iteration(session, execution_id, place, stage))
    context: dict[str, object] = {"each": found, "scale": scale}
    return _render_call(request, session_id, "iteration", f"agent-{execution_id}-{place}", context)


def _render_call(
    request: HttpRequest, session_id: uuid.UUID, kind: str, key: str, context: dict[str, object]
) -> HttpResponse:
    """The inside of a row for the page's script; a page of its own for everybody else."""
    template = f"investigations/trace/{kind}.html"
    if is_from_script(request):
        return render(request, template, {"session_id": session_id, **context})
    whole = {"session_id": session_id, "template": template, "key": key,
             "session": find_shown(session_id)}  # fmt: skip
    return render(request, "investigations/trace/call_page.html", {**whole, **context})


def _answer_text(read: Callable[[], str]) -> HttpResponse:
    text = show_invisible(_or_404(read))
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _or_404(read: Callable[[], T]) -> T:
    try:
        return read()
    except NotFound as error:
        raise Http404 from error
