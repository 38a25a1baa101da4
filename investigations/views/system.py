"""How the product is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from investigations.views.access import for_viewers


@require_GET
@for_viewers
def system(request: HttpRequest) -> HttpResponse:
    return render(request, "base.html", {})
