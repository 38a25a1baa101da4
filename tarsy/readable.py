"""Requests in which nobody could read what was meant are refused before anything reads them."""

from collections.abc import Iterable

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from investigations.services.texts import UNSTORABLE

_CHARSETS = ("utf-8", "utf8", "us-ascii")


class RefuseUnreadable(MiddlewareMixin):
    """Before the login session is looked up, by a cookie that the caller wrote."""

    def process_request(self, request: HttpRequest) -> None:
        _refuse_unstorable("a cookie", request.COOKIES.values())
        self._settle_charset(request)
        if _is_api(request):
            return  # names the parameter itself
        for name, values in request.GET.lists():
            _refuse_unstorable("the address", (name, *map(str, values)))

    def _settle_charset(self, request: HttpRequest) -> None:
        """Everything is UTF-8: Django would take any codec that Python has, `hex` included."""
        charset = (request.content_params or {}).get("charset")
        if charset is None or charset.strip("\"'").lower() in _CHARSETS:
            return
        request.encoding = "utf-8"
        if request.method == "POST" and not _is_api(request):
            raise BadRequest("a form must be encoded in UTF-8")


def _refuse_unstorable(what: str, texts: Iterable[str]) -> None:
    if any(UNSTORABLE.search(text) for text in texts):
        raise BadRequest(f"{what} holds a character that is no text")


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")
