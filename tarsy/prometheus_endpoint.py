"""`/metrics`: what Prometheus collects, in its text format."""

import hmac
import ipaddress
from collections.abc import Iterator, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from investigations.access.identity import may_view
from investigations.selectors.system.prometheus_metrics import Family, Reading, Series, read_metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED", "HTTP_VIA",
              "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO")  # fmt: skip


@never_cache
@require_safe
def report_metrics(request: HttpRequest) -> HttpResponse:
    """Every metric of the product. 401 for strangers: names of tools and alerts are in it."""
    if not _may_read(request):
        answer = HttpResponse(
            "send TARSY_METRICS_TOKEN or an API token as `Authorization: Bearer TOKEN`\n",
            status=401,
            content_type="text/plain; charset=utf-8",
        )
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer
    return HttpResponse(render(read_metrics()), content_type=CONTENT_TYPE)


def _may_read(request: HttpRequest) -> bool:
    """A collector with its token, one on this very machine, or anybody who may see the pages."""
    return _has_token(request) or _is_local(request) or may_view(request)


def _has_token(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    given = request.META.get("HTTP_AUTHORIZATION", "")
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def _is_local(request: HttpRequest) -> bool:
    """From this machine and not on somebody's behalf: a proxy here speaks for the whole world."""
    if any(request.META.get(header) for header in _FORWARDED):
        return False
    try:
        peer = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    mapped = peer.ipv4_mapped if isinstance(peer, ipaddress.IPv6Address) else None
    return (mapped or peer).is_loopback


# ---- The text format ----------------------------------------------------------------------------


def render(reading: Reading) -> str:
    """Version 0.0.4 of the exposition format. Families without a series are announced as well."""
    return "".join(
        f"{line}\n" for family, series in reading.items() for line in _lines(family, series)
    )


def _lines(family: Family, series: Sequence[Series]) -> Iterator[str]:
    yield f"# HELP {family.name} {_escape_help(family.about)}"
    yield f"# TYPE {family.name} {family.kind}"
    for each in series:
        labels = list(zip(family.labels, each.labels, strict=True))
        if family.kind == "histogram":
            yield from _histogram_lines(family, each, labels)
        else:
            yield f"{family.name}{_labels(labels)} {_number(each.value)}"


def _histogram_lines(
    family: Family, series: Series, labels: list[tuple[str, str]]
) -> Iterator[str]:
    total = 0.0
    edges = (*map(_number, family.edges), "+Inf")
    for edge, count in zip(edges, series.buckets, strict=True):
        total += count
        yield f"{family.name}_bucket{_labels([*labels, ('le', edge)])} {_number(total)}"
    yield f"{family.name}_sum{_labels(labels)} {_number(series.value)}"
    yield f"{family.name}_count{_labels(labels)} {_number(total)}"


def _labels(labels: Sequence[tuple[str, str]]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _escape_help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
