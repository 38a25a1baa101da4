"""Having a worker look at something now, from a row of the page System."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from investigations.access.limits import count_request
from investigations.views.access import refuse_too_many
from tarsy.errors import Conflict, NotFound, TooManyRequests


def ask_worker(
    request: HttpRequest,
    name: str,
    ask: Callable[[], None],
    *,
    show_row: Callable[[str], HttpResponse],
    section: str,
) -> HttpResponse:
    """Counted as a question. A script gets the row with why it was refused, a browser the page."""
    refusal = ""
    try:
        count_request(request, "questions")
        ask()
    except TooManyRequests as error:
        return refuse_too_many(request, error)
    except NotFound as error:
        raise Http404 from error
    except Conflict as error:
        refusal = str(error)
    if request.headers.get("HX-Request"):
        return show_row(refusal)
    if refusal:
        messages.warning(request, f"{name}: {refusal}")
    return redirect(f"{reverse('system')}#{section}")
