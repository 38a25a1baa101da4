"""The pages and the pieces of them that scripts ask for. Complete without a script."""

import uuid
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import quote, urlencode

from django.conf import settings
from django.contrib.auth import login as start_login
from django.contrib.auth import logout as end_login
from django.contrib.auth.views import LoginView
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from investigations.fragments import fragment_for, render_facts, session_context
from investigations.identity import account_of, actor_of, may_view
from investigations.models import AlertSession
from investigations.selectors import lists, pages
from investigations.selectors.approvals import get_approval
from investigations.selectors.timeline import CATCHUP_LIMIT, list_stream
from investigations.services.approvals import Verdict, decide_approval, read_reason
from investigations.services.login_links import use_login_link_token
from investigations.services.sessions import cancel_session
from investigations.templatetags.tarsy import state_look
from tarsy.errors import Conflict, InvalidInput, NotFound, NotPermitted

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def for_viewers(view: View[P]) -> View[P]:
    """Send strangers to the login page; a script gets 401 and keeps its page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if may_view(request):
            return view(request, *args, **kwargs)
        if request.headers.get("X-Requested-With") or request.headers.get("HX-Request"):
            return HttpResponse("Sign in again.", status=401, content_type="text/plain")
        return redirect(f"{settings.LOGIN_URL}?next={quote(request.get_full_path())}")

    # functools.wraps names the parameters otherwise than the type does.
    return cast("View[P]", guarded)


# ---- The list -----------------------------------------------------------------------------------


@require_GET
@for_viewers
def session_list(request: HttpRequest) -> HttpResponse:
    context = {**_active_context(), **_recent_context(request), "is_empty": lists.is_empty()}
    context["host"] = f"{request.scheme}://{request.get_host()}"
    return render(request, "investigations/list.html", context)


@require_GET
@for_viewers
def active_fragment(request: HttpRequest) -> HttpResponse:
    return render(request, "investigations/list/active.html", _active_context())


@require_GET
@for_viewers
def recent_fragment(request: HttpRequest) -> HttpResponse:
    return render(request, "investigations/list/recent.html", _recent_context(request))


@require_GET
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


# ---- One session --------------------------------------------------------------------------------


@require_GET
@for_viewers
def session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    context = session_context(pages.read_session_page(_find(session_id)))
    return render(request, "investigations/session.html", context)


@require_GET
@for_viewers
def facts(_request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    return HttpResponse(render_facts(pages.read_session_page(_find(session_id))))


@require_GET
@for_viewers
def stage(request: HttpRequest, session_id: uuid.UUID, stage_id: uuid.UUID) -> HttpResponse:
    view = pages.read_stage(_find(session_id).pk, stage_id)
    if view is None:
        raise Http404
    context = {"item": view, "tools": pages.read_cited_tools(session_id)}
    return render(request, "investigations/session/stage.html", context)


@require_GET
@for_viewers
def event(request: HttpRequest, session_id: uuid.UUID, event_id: uuid.UUID) -> HttpResponse:
    view = pages.read_event(_find(session_id).pk, event_id)
    if view is None:
        raise Http404
    context = {"item": view, "tools": pages.read_cited_tools(session_id)}
    return render(request, view.template, context)


@require_GET
@for_viewers
def event_content(
    _request: HttpRequest, session_id: uuid.UUID, event_id: uuid.UUID
) -> HttpResponse:
    """The whole content as plain text, exactly as it is kept."""
    content = pages.read_event_content(_find(session_id).pk, event_id)
    if content is None:
        raise Http404
    return HttpResponse(content, content_type="text/plain; charset=utf-8")


@require_GET
@for_viewers
def earlier(request: HttpRequest, session_id: uuid.UUID, execution_id: uuid.UUID) -> HttpResponse:
    found = _find(session_id)
    agent = pages.read_agent(found.pk, execution_id)
    before = request.GET.get("before", "")
    if agent is None or not (before.isascii() and before.isdigit() and len(before) < 18):
        raise Http404
    older, still_older = pages.read_earlier(execution_id, int(before))
    context = {
        "agent": agent,
        "events": older,
        "earlier": still_older,
        "oldest": older[0].event.sequence_number if older else 0,
        "tools": pages.read_cited_tools(session_id),
        "session": found,
    }
    is_piece = bool(request.headers.get("HX-Request"))
    name = "earlier_events" if is_piece else "earlier_page"
    return render(request, f"investigations/session/{name}.html", context)


@require_GET
@for_viewers
def events(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """What a page missed, for pages whose socket cannot be opened: the same messages as there."""
    after = request.GET.get("after", "0")
    if not (after.isascii() and after.isdigit() and len(after) < 18):
        raise BadRequest("after must be a number")
    found = _find(session_id)
    missed = list_stream(found.pk, after=int(after), limit=CATCHUP_LIMIT + 1)
    messages = [{**payload, "html": fragment_for(payload)} for payload in missed[:CATCHUP_LIMIT]]
    # Retention removes messages of ended sessions: then the page must load anew.
    following = missed[0]["db_event_id"] if missed else found.last_seq + 1
    has_more = len(missed) > CATCHUP_LIMIT or following > int(after) + 1
    return JsonResponse({"messages": messages, "has_more": has_more})


@require_POST
@for_viewers
def cancel(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    try:
        cancel_session(session_id, actor_of(request))
    except NotFound as error:
        raise Http404 from error
    except Conflict:
        pass  # It ended first; the page shows how.
    if request.POST.get("next") == "list":
        return redirect("list")
    return redirect("session", session_id=session_id)


@require_POST
@for_viewers
def decide(request: HttpRequest, approval_id: uuid.UUID, verdict: Verdict) -> HttpResponse:
    """Approve or deny a write; the form has a field for the reason of each request."""
    try:
        reason = read_reason({"reason": request.POST.get(f"reason-{approval_id}", "")})
        session_id = get_approval(approval_id).session_id
        decide_approval(
            approval_id, verdict,
            account=account_of(request), actor=actor_of(request), reason=reason,
        )  # fmt: skip
    except NotFound as error:
        raise Http404 from error
    except NotPermitted as error:
        raise PermissionDenied(str(error)) from error
    except InvalidInput as error:
        raise BadRequest(str(error)) from error
    except Conflict:
        pass  # Somebody or the clock was first; the page shows who.
    return redirect("session", session_id=session_id)


def _find(session_id: uuid.UUID) -> AlertSession:
    found = pages.find_session(session_id)
    if found is None:
        raise Http404
    return found


# ---- Who asks -----------------------------------------------------------------------------------


class Login(LoginView):
    template_name = "investigations/login.html"
    redirect_authenticated_user = True


@require_GET
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log in by a one-time link, then go where `next` says, within this site."""
    user = use_login_link_token(token)
    if user is None and may_view(request):
        return HttpResponseRedirect(_safe_target(request))
    if user is None:
        page = render_to_string("investigations/login_link_used.html", request=request)
        return HttpResponse(page, status=403)
    start_login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponseRedirect(_safe_target(request))


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    end_login(request)
    return redirect("login" if settings.TARSY_AUTH != "none" else "list")


def _safe_target(request: HttpRequest) -> str:
    target = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return target
    return settings.LOGIN_REDIRECT_URL
