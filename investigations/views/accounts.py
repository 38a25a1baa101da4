"""Who asks: log in, by a form or a link, and log out."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login as start_login
from django.contrib.auth import logout as end_login
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override

from investigations.access.identity import may_view
from investigations.access.limits import count_login
from investigations.services.login_links import use_login_link_token
from investigations.views.access import refuse_too_many
from tarsy.errors import TooManyRequests


class Login(LoginView):
    template_name = "investigations/login.html"
    redirect_authenticated_user = True

    @override
    def post(self, request: HttpRequest, *args: str, **kwargs: Any) -> HttpResponse:
        try:
            count_login(request, request.POST.get("username", ""))
        except TooManyRequests as error:
            return refuse_too_many(request, error)
        return super().post(request, *args, **kwargs)


@require_GET
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log in by a one-time link, then go where `next` says, within this site."""
    user = use_login_link_token(token)
    if user is None and request.user.is_authenticated:
        return HttpResponseRedirect(_safe_target(request))
    if user is None:
        # Who may read without a login is told all the same, and not left to wonder at a decision.
        target = {"next": _safe_target(request), "may_read": may_view(request)}
        page = render_to_string("investigations/login_link_used.html", target, request=request)
        return HttpResponse(page, status=403)
    start_login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponseRedirect(_safe_target(request))


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    end_login(request)
    return redirect("login" if settings.TARSY_AUTH != "none" else "list")


def _safe_target(request: HttpRequest) -> str:
    target = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return target
    return settings.LOGIN_REDIRECT_URL
