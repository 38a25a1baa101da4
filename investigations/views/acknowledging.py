"""Letting go of failures that somebody has seen."""

import uuid

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from investigations.access.identity import actor_of
from investigations.roles import OPERATE
from investigations.selectors.session_list.failures import MOST_LOOKED_AT
from investigations.services.acknowledging import acknowledge_failures
from investigations.views.access import for_those_who_may, is_from_script
from investigations.views.lists import active_fragment


@require_POST
@for_those_who_may(OPERATE)
def acknowledge(request: HttpRequest) -> HttpResponseBase:
    """A script gets the upper part of the list anew, a browser the whole page."""
    try:
        ids = [uuid.UUID(text) for text in request.POST.getlist("session")]
    except ValueError as error:
        raise BadRequest("a session is named by its id") from error
    if len(ids) > MOST_LOOKED_AT:
        raise BadRequest(f"at most {MOST_LOOKED_AT} sessions at once")
    acknowledge_failures(ids, actor_of(request))
    if not is_from_script(request):
        return redirect("list")
    request.method = "GET"
    return active_fragment(request)
