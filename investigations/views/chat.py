"""What the field for questions sends. Whatever goes wrong, the text is given back."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from investigations.access.identity import actor_of, may, may_decide, may_view
from investigations.access.limits import count_request
from investigations.models import Stage
from investigations.roles import OPERATE
from investigations.selectors.session_page.page import read_session_page
from investigations.services.chat import Question, ask_question
from investigations.stream.fragments import session_context
from investigations.views.access import find_shown, for_viewers, is_from_script
from tarsy.errors import Conflict, InvalidInput, NotFound, NotPermitted, TooManyRequests


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """Take a question. A GET is somebody who came back from the login page."""
    if request.method in ("GET", "HEAD"):
        return redirect(f"{reverse('session', args=[session_id])}#ask")
    if not may_view(request) and not is_from_script(request):
        return _give_back(request, session_id)
    return _ask(request, session_id)


@for_viewers
def _ask(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    # Browsers send line ends as the network's; the question is kept as it was typed.
    content = request.POST.get("content", "").replace("\r\n", "\n")
    try:
        if not may(request, OPERATE):
            raise NotPermitted("your account may not ask questions")
        count_request(request, "questions")
        question = ask_question(
            session_id, content, author=actor_of(request), may_decide=may_decide(request)
        )
    except NotFound as error:
        raise Http404 from error
    except InvalidInput as error:
        what = "the question " if error.field == "content" else ""
        return _refuse(request, session_id, content, f"{what}{error.message}", status=400)
    except TooManyRequests as error:
        answer = _refuse(request, session_id, content, str(error), status=429)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    except NotPermitted as error:
        return _refuse(request, session_id, content, str(error), status=403)
    except Conflict as error:
        return _refuse(request, session_id, content, str(error), status=409)
    return _accept(request, session_id, question)


def _accept(request: HttpRequest, session_id: uuid.UUID, question: Question) -> HttpResponse:
    if not is_from_script(request):
        index = Stage.objects.values_list("stage_index", flat=True).get(pk=question.stage_id)
        return redirect(f"{reverse('session', args=[session_id])}#stage-{index}")
    context = session_context(read_session_page(find_shown(session_id)))
    html = render_to_string("investigations/session/ask_state.html", context)
    return JsonResponse({"stage_id": str(question.stage_id), "html": html}, status=202)


def _refuse(
    request: HttpRequest, session_id: uuid.UUID, content: str, reason: str, *, status: int
) -> HttpResponse:
    """Say why, and leave the question in the field."""
    if is_from_script(request):
        return JsonResponse({"error": reason}, status=status)
    context = session_context(read_session_page(find_shown(session_id)))
    told = {"draft": content, "ask_error": f"Not asked: {reason}."}
    return render(request, "investigations/session.html", {**context, **told}, status=status)


def _give_back(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Who is signed out by now gets the text on a page, as the login page could not keep it."""
    context = {"content": request.POST.get("content", ""), "session_id": session_id}
    return render(request, "investigations/question_kept.html", context, status=401)
