"""The person whom a trusted proxy names is logged in, for as long as this request lasts."""

from contextlib import suppress

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from investigations.identity import NotIdentified, name_from_proxy


class LogInByProxy(MiddlewareMixin):
    """For what asks `request.user`, as the administration does; `identify` says the same.

    A name without an account leaves a login by password as it is: somebody has to make accounts.
    """

    def process_request(self, request: HttpRequest) -> None:
        with suppress(NotIdentified):
            if name := name_from_proxy(request):
                account = User.objects.filter(username=name, is_active=True).first()
                request.user = account or request.user
