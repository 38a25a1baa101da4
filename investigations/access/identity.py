"""Who is asking: the same answer for REST, pages and sockets.

In this order: identity headers of a trusted proxy, a bearer token, a login session, and with
`TARSY_AUTH=none` anybody. Headers of anyone but a trusted proxy count for nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.request import split_domain_port

from investigations.roles import DECIDE, ROLES, SCOPES, SUBMIT, VIEW
from investigations.selectors.tokens import find_token
from investigations.services.tokens import note_use
from tarsy.errors import TarsyError
from tarsy.proxies import trace_route

API_CLIENT = "api-client"
ANONYMOUS = "anonymous"
_LONGEST_NAME = 200


class NotIdentified(TarsyError):
    """The caller: 401, we do not know who this is."""


@dataclass(frozen=True)
class Identity:
    """Who acts, and what vouches for it.

    `username` is the account whose permissions count: the token's owner, or whoever the proxy
    names. Empty where nobody in particular asks.
    """

    name: str
    kind: Literal["proxy", "token", "login", "open", "sender"]
    username: str = ""
    scopes: frozenset[str] | None = None
    """What a token may be used for; None where no token was used."""

    @property
    def actor(self) -> str:
        """The name for author fields."""
        return ANONYMOUS if self.kind == "open" else self.name

    @property
    def travels_by_itself(self) -> bool:
        """A browser sends it along without being asked, so other sites could use it."""
        return self.kind not in ("token", "sender")

    @cached_property
    def account(self) -> User | None:
        """The account when it was first asked for; None where there is none, or it is closed.

        It knows its permissions from then on: an identity is good for one request.
        """
        if not self.username:
            return None
        return User.objects.filter(username=self.username, is_active=True).first()

    @property
    def decider(self) -> User | None:
        """The account that decides about writes; None also where a token is not meant for that."""
        return self.account if self.has_scope(DECIDE) else None

    @property
    def may_decide(self) -> bool:
        """Whether it may approve or deny writes. That takes somebody, not a usual role."""
        return self.decider is not None and self.decider.has_perm(DECIDE)

    def has_scope(self, permission: str) -> bool:
        return self.scopes is None or SCOPES[permission] in self.scopes

    def may(self, permission: str) -> bool:
        """Whether the token, the groups and the permissions of the account allow it.

        Every role may view, so that is not looked up.
        """
        if not self.has_scope(permission):
            return False
        if self.kind == "sender":
            return permission == SUBMIT
        if permission == VIEW:
            return True
        if self.account is not None and self.account.has_perm(permission):
            return True
        return permission in ROLES[settings.DEFAULT_ROLE] and not self._has_role

    @cached_property
    def _has_role(self) -> bool:
        return self.account is not None and self.account.groups.filter(name__in=ROLES).exists()


@dataclass(frozen=True)
class Sender(Identity):
    """An alert source that nobody has given a token. It may send posts of its own, and that is all.

    `form` is what its post has shown; None where it was enough to come from the right place, which
    proves nothing of who made it do so.
    """

    form: str | None = None

    @classmethod
    def of(cls, source: str, form: str | None) -> "Sender":
        return cls(source, "sender", scopes=frozenset({SCOPES[SUBMIT]}), form=form)


def identify(request: HttpRequest) -> Identity:
    """Raises NotIdentified with a reason that helps."""
    if name := name_from_proxy(request):
        if User.objects.filter(username=name, is_active=False).exists():
            raise NotIdentified("the account of this name is closed")
        return Identity(name, "proxy", name)
    if header := request.META.get("HTTP_AUTHORIZATION", ""):
        return _identify_bearer(header)
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and user.is_active:
        return Identity(user.get_username()[:_LONGEST_NAME], "login", user.get_username())
    if settings.TARSY_AUTH == "none":
        return Identity(API_CLIENT, "open")
    raise NotIdentified("log in, or send an API token as `Authorization: Bearer TOKEN`")


def find_identity(request: HttpRequest) -> Identity | None:
    """Who asks; None when nobody is identified."""
    try:
        return identify(request)
    except NotIdentified:
        return None


def actor_of(request: HttpRequest) -> str:
    """The name for author fields; empty when nobody is identified. Pages use this."""
    identity = find_identity(request)
    return identity.actor if identity else ""


def may_decide(request: HttpRequest) -> bool:
    """Whether whoever asks is known and may decide about writes."""
    identity = find_identity(request)
    return identity is not None and identity.may_decide


def decider_of(request: HttpRequest) -> User | None:
    """The account that would decide; None where nobody in particular asks."""
    identity = find_identity(request)
    return identity.decider if identity else None


def may(request: HttpRequest, permission: str) -> bool:
    """Whether whoever asks is known and may do it."""
    identity = find_identity(request)
    return identity is not None and identity.may(permission)


def may_view(request: HttpRequest) -> bool:
    """Whether the pages and streams are open to this request."""
    return may(request, VIEW)


def is_own_origin(origin: str, *, host: str, scheme: str) -> bool:
    """Whether a page of this origin may speak to us with a browser's credentials.

    Ours are the host that was asked for, and what the operator listed: the public address is among
    those. During development any port of this machine is.
    """
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
        return False
    own = {f"{scheme}://{host}", *settings.CSRF_TRUSTED_ORIGINS}
    if f"{parts.scheme}://{parts.netloc}".lower() in {value.lower() for value in own}:
        return True
    name, _port = split_domain_port(parts.netloc)
    return settings.DEBUG and name in ("localhost", "127.0.0.1", "[::1]")


def name_from_proxy(request: HttpRequest) -> str:
    """Whom a trusted proxy names; empty where none does. Raises NotIdentified where it is two."""
    values = [request.headers.get(header, "").strip() for header in settings.IDENTITY_HEADERS]
    value = next(filter(None, values), "")
    if not value or not trace_route(request).may_name:
        return ""
    # Two headers of one name arrive joined by a comma: one of them the proxy did not set.
    if "," in value or not value.isprintable():
        raise NotIdentified("the identity header holds more than one name")
    return value[:_LONGEST_NAME]


def _identify_bearer(header: str) -> Identity:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        raise NotIdentified("use `Authorization: Bearer TOKEN`")
    token = find_token(text.strip())
    if token is None:
        raise NotIdentified("the API token is not valid")
    note_use(token)
    return Identity(token.name, "token", token.owner.get_username(), frozenset(token.scopes))


def address_of(request: HttpRequest) -> str:
    """Where a request comes from; what our own proxies say of it is believed, and nobody else."""
    return trace_route(request).address
