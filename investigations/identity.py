"""Who asks: one answer for pages, sockets and the API."""

from django.conf import settings
from django.http import HttpRequest


def may_view(request: HttpRequest) -> bool:
    """Everybody on a closed network (`TARSY_AUTH=none`), else who is known."""
    return settings.TARSY_AUTH == "none" or request.user.is_authenticated


def actor_of(request: HttpRequest) -> str:
    """The name for author fields."""
    return request.user.get_username() if request.user.is_authenticated else "anonymous"
