"""Acts on several sessions: a page that asks first, and one that says what came of each."""

import uuid
from collections.abc import Sequence

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from investigations import roles
from investigations.access.identity import actor_of
from investigations.access.limits import count_request
from investigations.services.bulk import (
    CANCEL,
    DELETE,
    MOST_AT_ONCE,
    RETRY,
    Act,
    Chosen,
    apply,
    preview,
)
from investigations.views.access import for_those_who_may
from investigations.views.list_filter import read_list_filter

METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
@for_those_who_may(roles.OPERATE)
def cancel(request: HttpRequest) -> HttpResponse:
    return _show(request, CANCEL)


@require_http_methods(METHODS)
@for_those_who_may(roles.SUBMIT)
def retry(request: HttpRequest) -> HttpResponse:
    return _show(request, RETRY)


@require_http_methods(METHODS)
@for_those_who_may(roles.DELETE)
def delete(request: HttpRequest) -> HttpResponse:
    return _show(request, DELETE)


def _show(request: HttpRequest, act: Act) -> HttpResponse:
    """Asked for, the page that confirms; sent, what came of each session."""
    is_sent = request.method == "POST"
    sent = request.POST if is_sent else request.GET
    ids = _read_ids(sent)
    chosen = _do(request, act, ids) if is_sent else preview(act, ids)
    back = read_list_filter(QueryDict(sent.get("back", "")))
    context = {
        "act": act,
        "chosen": chosen,
        "good": [each for each in chosen if not each.refusal],
        "back": back,
    }
    name = "outcome" if is_sent else "confirm"
    return render(request, f"investigations/bulk/{name}.html", context)


def _do(request: HttpRequest, act: Act, ids: Sequence[uuid.UUID]) -> list[Chosen]:
    def count() -> None:
        # Each is an alert like any other, or a hundred of them would cost one request.
        if act is RETRY:
            count_request(request, "alerts")

    return apply(act, ids, actor_of(request), count)


def _read_ids(sent: QueryDict) -> list[uuid.UUID]:
    try:
        ids = list(dict.fromkeys(uuid.UUID(text) for text in sent.getlist("session")))
    except ValueError as error:
        raise BadRequest("a session is named by its id") from error
    if len(ids) > MOST_AT_ONCE:
        raise BadRequest(f"at most {MOST_AT_ONCE} sessions at once")
    return ids
