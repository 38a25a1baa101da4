"""Who may see a page, and which session a page is about."""

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from investigations.access.identity import may, may_view
from investigations.models import AlertSession
from investigations.selectors.session_page.page import find_session
from tarsy.errors import TooManyRequests
from tarsy.stack_room import call_with_room

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def for_viewers(view: View[P]) -> View[P]:
    """Send strangers to the login page; a script gets 401 and keeps its page.

    Templates call deeply and often, so they get room for that.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if may_view(request):
            return call_with_room(view, request, *args, **kwargs)
        if is_from_script(request):
            return HttpResponse("Sign in again.", status=401, content_type="text/plain")
        return redirect(f"{settings.LOGIN_URL}?next={quote(request.get_full_path())}")

    # functools.wraps names the parameters otherwise than the type does.
    return cast("View[P]", guarded)


def for_those_who_may(permission: str) -> Callable[[View[P]], View[P]]:
    """As `for_viewers`, and 403 for whoever may look but not do this."""

    def guard(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not may(request, permission):
                raise PermissionDenied("your role does not allow this")
            return view(request, *args, **kwargs)

        return for_viewers(cast("View[P]", guarded))

    return guard


def refuse_too_many(request: HttpRequest, error: TooManyRequests) -> HttpResponse:
    """The page, or the words for a script, that say when to come back."""
    reason = str(error)[:1].upper() + str(error)[1:]
    answer = (
        HttpResponse(reason, status=429, content_type="text/plain")
        if is_from_script(request)
        else render(request, "429.html", {"reason": reason}, status=429)
    )
    answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def is_from_script(request: HttpRequest) -> bool:
    """Whether a page's script asks for a piece, instead of a person for a page."""
    return bool(request.headers.get("X-Requested-With") or request.headers.get("HX-Request"))


def find_shown(session_id: uuid.UUID) -> AlertSession:
    found = find_session(session_id)
    if found is None:
        raise Http404
    return found
