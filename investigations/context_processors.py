"""What every page shows: the version, and who is looking."""

from django.conf import settings
from django.http import HttpRequest

from investigations.identity import actor_of


def product(request: HttpRequest) -> dict[str, object]:
    return {
        "product_version": settings.VERSION,
        "actor": actor_of(request),
        "needs_login": settings.TARSY_AUTH != "none",
    }
