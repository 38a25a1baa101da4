"""The box that says what would become of a post of an alert source; it starts nothing."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from config import get_config
from investigations.access.limits import count_request
from investigations.api.parsing import parse_json
from investigations.roles import SUBMIT
from investigations.services.deliveries import preview_delivery, read_delivery
from investigations.sources.content import POST_LIMIT
from investigations.sources.reading import Post, Reading
from investigations.sources.registry import SOURCES
from investigations.views.access import for_those_who_may
from tarsy.errors import InvalidInput, NotFound, PayloadTooLarge, QueueFull, TooManyRequests


@require_http_methods(["GET", "HEAD", "POST"])
@for_those_who_may(SUBMIT)
def route(request: HttpRequest) -> HttpResponse:
    """What would be done about each alert of a post, and by which rule."""
    source, text = request.POST.get("source", ""), request.POST.get("post", "")
    context: dict[str, object] = {
        "chosen": source,
        "post": text,
        "route_sources": list_sources(),
        "is_open": True,
    }
    status, retry_after = 200, 0
    if request.method == "POST":
        try:
            count_request(request, "requests")
            context["routed"] = preview_delivery(_read(source, text))
        except (InvalidInput, NotFound) as error:
            context["route_error"], status = str(error), 422
        except (QueueFull, TooManyRequests) as error:
            context["route_error"], status = str(error), 429
            retry_after = error.retry_after
    shown = render(request, "investigations/submit/route_page.html", context, status=status)
    if retry_after:
        shown.headers["Retry-After"] = str(retry_after)
    return shown


def list_sources() -> list[tuple[str, str]]:
    """Every source by its name in the address, and what it is called."""
    own = [(name, name) for name in get_config().alert_sources]
    return [
        ("", "told by its shape"),
        *own,
        *((each.name, each.label) for each in SOURCES.values()),
    ]


def _read(source: str, text: str) -> Reading:
    body = text.encode("utf-8", "replace")
    if len(body) > POST_LIMIT:
        raise PayloadTooLarge("post", f"must not be larger than {POST_LIMIT:,} bytes")
    post = Post(parse_json(body))
    return read_delivery(post, source)
