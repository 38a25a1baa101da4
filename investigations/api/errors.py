"""Every error as JSON: `{"message", "field"?, "detail"?}`."""

import logging
import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from psycopg.errors import LockNotAvailable
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.views import exception_handler

from tarsy.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    NotPermitted,
    PayloadTooLarge,
    QueueFull,
    TooManyRequests,
)

logger = logging.getLogger(__name__)

UNAVAILABLE_SECONDS = 5
"""When to come back after the database could not be reached."""
_UNAVAILABLE = "the database is not available now, try again"
_HELD_UP = "others are writing what this is about and take too long: nothing is kept, try again"
_AWAY = (OperationalError, InterfaceError)


class UnsupportedContent(InvalidInput):
    """The caller: 415, this kind of body is not read."""


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """What the caller must react to becomes a 4xx; anything else rises."""
    if isinstance(error, InvalidInput):
        return Response(_describe(error), status=_status_of(error))
    if isinstance(error, QueueFull):
        return _answer_full_queue(error)
    if isinstance(error, TooManyRequests):
        return _answer_too_many(error)
    if isinstance(error, NotPermitted):
        return Response({"message": str(error)}, status=status.HTTP_403_FORBIDDEN)
    if isinstance(error, NotFound):
        return Response({"message": str(error)}, status=status.HTTP_404_NOT_FOUND)
    if isinstance(error, Conflict):
        return Response({"message": str(error)}, status=status.HTTP_409_CONFLICT)
    if isinstance(error, _AWAY):
        return _answer_unavailable(error)
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"message": _message_of(error)}
    return response


def _describe(error: InvalidInput) -> dict[str, str]:
    return {"message": f"{error.field}: {error.message}", "field": error.field}


def _status_of(error: InvalidInput) -> int:
    if isinstance(error, PayloadTooLarge):
        return status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    if isinstance(error, UnsupportedContent):
        return status.HTTP_415_UNSUPPORTED_MEDIA_TYPE
    return status.HTTP_400_BAD_REQUEST


def _answer_full_queue(error: QueueFull) -> Response:
    body = {
        "message": str(error),
        "detail": {
            "error": "Queue full",
            "message": str(error),
            "queue_size": error.queue_size,
            "max_queue_size": error.max_queue_size,
        },
    }
    return Response(
        body,
        status=status.HTTP_429_TOO_MANY_REQUESTS,
        headers={"Retry-After": str(error.retry_after)},
    )


def _answer_too_many(error: TooManyRequests) -> Response:
    detail = {"error": "Too many requests", "limit": error.limit, "per": "minute"}
    return Response(
        {"message": str(error), "detail": detail},
        status=status.HTTP_429_TOO_MANY_REQUESTS,
        headers={"Retry-After": str(error.retry_after)},
    )


def _answer_unavailable(error: Exception) -> Response:
    is_held_up = isinstance(error.__cause__, LockNotAvailable)
    logger.error("The database could not be used", exc_info=error)
    return Response(
        {"message": _HELD_UP if is_held_up else _UNAVAILABLE},
        status=status.HTTP_503_SERVICE_UNAVAILABLE,
        headers={"Retry-After": str(UNAVAILABLE_SECONDS)},
    )


def _message_of(error: Exception) -> str:
    if isinstance(error, APIException) and isinstance(error.detail, str):
        return str(error.detail)
    return str(error) or "not found"


@csrf_exempt  # A path that is not there is told as such, whoever asks.
def answer_unknown_path(request: HttpRequest) -> JsonResponse:
    """The last route below /api/."""
    return JsonResponse({"message": f"there is no {request.path[:200]}"}, status=404)


def answer_bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if isinstance(exception, RequestDataTooBig):
        return answer_too_large(request.path)
    if _is_api(request.path):
        return JsonResponse({"message": "bad request"}, status=400)
    return defaults.bad_request(request, exception)


def answer_too_large(path: str) -> HttpResponse:
    """The page asks nobody who is looking: it stands for a request that was not read."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if _is_api(path):
        message = f"body: must not be larger than {limit:,} bytes"
        return JsonResponse({"message": message, "field": "body"}, status=413)
    return HttpResponse(render_to_string("413.html", {"limit": limit}), status=413)


def answer_server_error(request: HttpRequest) -> HttpResponse | HttpResponseBase:
    """Says nothing of the cause, which stands in the log, unless it is a database that is away."""
    if isinstance(sys.exc_info()[1], _AWAY):
        return _answer_outage(request)
    if _is_api(request.path):
        return JsonResponse({"message": "internal server error"}, status=500)
    return defaults.server_error(request)


def _answer_outage(request: HttpRequest) -> HttpResponse:
    """The page asks nobody who is looking: that stands in the database, too."""
    answer: HttpResponse
    if _is_api(request.path):
        answer = JsonResponse({"message": _UNAVAILABLE}, status=503)
    else:
        context = {"again_after": UNAVAILABLE_SECONDS if request.method == "GET" else None}
        answer = HttpResponse(render_to_string("503.html", context), status=503)
    answer.headers["Retry-After"] = str(UNAVAILABLE_SECONDS)
    return answer


def _is_api(path: str) -> bool:
    return path.startswith("/api/")
