"""The product's URLs and the null view that intake is compared with."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from tarsy.urls import handler400, handler500
from tarsy.urls import urlpatterns as product_patterns

__all__ = ["handler400", "handler500", "urlpatterns"]

NULL_PATH = "/benchmark/null"


@csrf_exempt
def accept(_request: HttpRequest) -> HttpResponse:
    """Do nothing, with every middleware around it."""
    return HttpResponse(b"{}", status=202, content_type="application/json")


urlpatterns = [path(NULL_PATH.removeprefix("/"), accept), *product_patterns]
