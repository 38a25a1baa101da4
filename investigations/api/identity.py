"""Identity and permission of REST requests."""

from typing import TYPE_CHECKING, cast

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from typing_extensions import override

from investigations.access.identity import Identity, NotIdentified, identify, is_own_origin
from investigations.access.limits import count_false_token
from investigations.roles import VIEW

if TYPE_CHECKING:
    # Django REST framework loads this module while it loads its own views.
    from rest_framework.views import APIView


class IdentityAuthentication(BaseAuthentication):
    """Puts the `Identity` of the caller into `request.auth`; keeps other sites out."""

    @override
    def authenticate(self, request: Request) -> tuple[object, Identity]:
        plain = request._request
        try:
            identity = identify(plain)
        except NotIdentified as error:
            if "HTTP_AUTHORIZATION" in plain.META:
                count_false_token(plain)
            raise AuthenticationFailed(str(error)) from error
        if request.method not in SAFE_METHODS and identity.travels_by_itself:
            refuse_other_sites(plain, identity)
        return plain.user, identity

    @override
    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsIdentified(BasePermission):
    """For what is judged, and its refusal audited, where it is done."""

    @override
    def has_permission(self, request: Request, view: "APIView") -> bool:
        return isinstance(request.auth, Identity)


class MayUseApi(BasePermission):
    """Reading needs the permission to view, anything else the `permission` that a view names."""

    message = "you may not do this: your role or the scope of your token does not allow it"

    @override
    def has_permission(self, request: Request, view: "APIView") -> bool:
        if not isinstance(request.auth, Identity):
            return False
        if request.method in SAFE_METHODS:
            return request.auth.may(VIEW)
        permission = getattr(view, "permission", None)
        return permission is not None and request.auth.may(permission)


def refuse_other_sites(request: HttpRequest, identity: Identity) -> None:
    """Raise PermissionDenied when a page of another site may have made this request.

    Browsers name the origin of every unsafe request. Where none is named, a login session must
    bring its CSRF token; other identities are then no browser's.
    """
    origin = request.META.get("HTTP_ORIGIN")
    if origin is not None:
        if not is_own_origin(origin, host=request.get_host(), scheme=request.scheme or "http"):
            raise PermissionDenied(f"pages of {origin[:200]} may not do this")
        return
    if request.META.get("HTTP_SEC_FETCH_SITE", "none") not in ("none", "same-origin"):
        raise PermissionDenied("pages of other sites may not do this")
    if identity.kind == "login":
        _require_csrf_token(request)


def _require_csrf_token(request: HttpRequest) -> None:
    check = CSRFCheck(lambda _request: None)  # type: ignore[arg-type]  # it is never called
    check.process_request(request)
    reason = check.process_view(request, None, (), {})  # type: ignore[arg-type]
    if reason:
        raise PermissionDenied(f"CSRF check failed: {reason}")


def author_of(request: Request) -> str:
    """The name for author fields."""
    return cast(Identity, request.auth).name
