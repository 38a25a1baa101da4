"""What the panel of unconfirmed writes sends."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from investigations.access.identity import actor_of
from investigations.roles import OPERATE
from investigations.services.write_checks import ask_for_write_check
from investigations.views.access import find_shown, for_those_who_may, is_from_script
from tarsy.errors import Conflict, NotFound


@require_POST
@for_those_who_may(OPERATE)
def check_now(request: HttpRequest, session_id: uuid.UUID, number: int) -> HttpResponse:
    """Have a worker look at a write's effect; what it sees comes into the timeline."""
    found = find_shown(session_id)
    try:
        ask_for_write_check(found.pk, number, actor_of(request))
    except NotFound as error:
        raise Http404 from error
    except Conflict as error:
        if is_from_script(request):
            return JsonResponse({"error": str(error)}, status=409)
    if is_from_script(request):
        return JsonResponse({}, status=202)
    return redirect("session", session_id=session_id)
