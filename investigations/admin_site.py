"""The administration pages as a whole."""

from functools import update_wrapper
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import BadRequest, ValidationError
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase
from typing_extensions import override

from investigations.access.limits import count_login
from investigations.views.access import refuse_too_many
from tarsy.errors import TooManyRequests


class Pages(AdminSite):
    """Answers 400 to what an address or a form names and no column can hold."""

    site_header = "TARSy"
    site_title = "TARSy admin"
    index_title = "Administration"
    enable_nav_sidebar = False
    login_template = "investigations/login.html"

    @override
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "POST":
            try:
                count_login(request, request.POST.get("username", ""))
            except TooManyRequests as error:
                return refuse_too_many(request, error)
        return super().login(request, extra_context)

    @override
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        guarded = super().admin_view(view, cacheable)

        def careful(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                answer: HttpResponseBase = guarded(request, *args, **kwargs)
            except (ValidationError, DataError) as error:
                # Forms keep the mistakes in them: this was an id or a value in the address.
                raise BadRequest("a value in the request is not what its column holds") from error
            return answer

        return update_wrapper(careful, guarded)
