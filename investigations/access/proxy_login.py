"""The person whom a trusted proxy names is logged in, for as long as this request lasts."""

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from investigations.access.identity import NotIdentified, name_from_proxy


class LogInByProxy(MiddlewareMixin):
    """For what asks `request.user`, as the administration does; `identify` says the same.

    Where a proxy names somebody, a login by password counts for nothing: it may be of whoever used
    this browser before. So a name without an account, or with a closed one, is nobody here.
    """

    def process_request(self, request: HttpRequest) -> None:
        try:
            name = name_from_proxy(request)
        except NotIdentified:
            request.user = AnonymousUser()
            return
        if name:
            account = User.objects.filter(username=name, is_active=True).first()
            request.user = account or AnonymousUser()
