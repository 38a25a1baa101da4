"""Messages that a page shows once, kept in a cookie until it does."""

from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest
from typing_extensions import override


class MessagesOfPages(MessageMiddleware):
    """The API has none, and is asked too often to look for them."""

    @override
    def process_request(self, request: HttpRequest) -> None:
        if not request.path_info.startswith("/api/"):
            super().process_request(request)
