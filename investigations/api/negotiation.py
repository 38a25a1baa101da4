"""In which form an answer is wanted."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from typing_extensions import override


class QuickNegotiation(DefaultContentNegotiation):
    """Reads what a caller accepts only where it is more than the usual form, or anything."""

    @override
    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> Any:
        usual = next(iter(renderers))
        accepted = request.META.get("HTTP_ACCEPT", "*/*")
        names_form = format_suffix or request.query_params.get(self.settings.URL_FORMAT_OVERRIDE)
        if accepted in ("*/*", usual.media_type) and not names_form:
            return usual, usual.media_type
        return super().select_renderer(request, renderers, format_suffix)
