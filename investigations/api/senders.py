"""Posts of alert sources that bring no API token: let in by what their source can show."""

from functools import cache

from django.http import HttpRequest
from django.utils import timezone
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.request import Request
from typing_extensions import override

from config import get_config
from config.senders import form_of, signs_no_time
from investigations.access.identity import (
    Identity,
    NotIdentified,
    Sender,
    address_of,
    identify,
)
from investigations.access.limits import count_false_token
from investigations.api.identity import IdentityAuthentication, refuse_other_sites
from investigations.api.parsing import read_raw, read_unpacked
from investigations.models import RefusedPosts
from investigations.runbooks.addresses import Unavailable
from investigations.senders.chains import public_roots
from investigations.senders.fetching import Shelf
from investigations.senders.letting_in import check_place, let_in
from investigations.senders.proofs import Knock, Refused
from investigations.services.refused_posts import count_refused_post
from investigations.sources.reading import Post, Reading
from investigations.sources.registry import GENERIC, SOURCES, recognise
from tarsy.env import read_variable
from tarsy.errors import InvalidInput
from tarsy.proxies import came_straight

_HIDDEN = ("authorization", "cookie", "proxy-authorization")


class ProofUnavailable(APIException):
    """The sender: 503, come again; what its post is checked with cannot be had now."""

    status_code = 503


class SenderAuthentication(IdentityAuthentication):
    """An API token counts as elsewhere; without one, the rule of the post's own source does."""

    @override
    def authenticate(self, request: Request) -> tuple[object, Identity]:
        plain = request._request
        if request.method != "POST":
            return super().authenticate(request)
        try:
            identity = identify(plain)
        except NotIdentified as error:
            return plain.user, _let_in(request, str(error))
        if identity.kind == "open":
            sender = _let_in(request, "")
            # As everywhere else where nobody has to log in.
            return plain.user, sender if sender.form else identity
        if identity.travels_by_itself:
            refuse_other_sites(plain, identity)
        return plain.user, identity


def headers_of(request: Request) -> dict[str, str]:
    """Headers by their names in lower case, without what proves who sends."""
    return {
        name.lower(): value
        for name, value in request.headers.items()
        if name.lower() not in _HIDDEN
    }


def read_posted(request: Request) -> Post:
    """The post, however it is packed. Raises InvalidInput."""
    return Post(read_unpacked(request._request), headers_of(request))


def refuse_smuggled(request: Request, reading: Reading) -> None:
    """Raise AuthenticationFailed for a post whose envelope needed no secret and which holds one of
    a source that needs one, or that may not come from there."""
    identity = request.auth
    if not isinstance(identity, Identity) or identity.kind not in ("sender", "open"):
        return
    has_shown = isinstance(identity, Sender) and identity.form is not None
    inner = get_config().alert_senders.get(reading.source)
    if has_shown or inner is None:
        return
    told = f"holds a post of {reading.source}, and shows no secret of that source"
    plain = request._request
    if form_of(reading.source, inner) is not None:
        raise _refuse(plain, reading.source, Refused("no_proof", told))
    try:
        check_place(inner, _describe(plain))
    except Refused as error:
        raise _refuse(plain, reading.source, error) from error


def shows_no_time(request: Request) -> bool:
    """Whether the post was let in by a signature that says nothing of when it was made."""
    sender = request.auth
    if not isinstance(sender, Sender) or sender.form is None:
        return False
    source = _source_of(request)
    rule = get_config().alert_senders.get(source)
    return rule is not None and signs_no_time(source, rule)


@cache
def certificates() -> Shelf:
    """Those of Amazon that this process has fetched."""
    return Shelf()


def _let_in(request: Request, otherwise: str) -> Sender:
    """The sender. `otherwise` says what was wrong with what the request brought in place of a proof
    of its source. Raises AuthenticationFailed, TooManyRequests and ProofUnavailable."""
    plain = request._request
    source = _source_of(request)
    rule = get_config().alert_senders.get(source)
    if rule is None and otherwise:
        raise _refuse(plain, source, Refused("no_proof", otherwise))
    try:
        form = let_in(
            source,
            rule,
            _describe(plain),
            read_secret=read_variable,
            read_body=lambda: read_unpacked(plain),
            fetch=certificates().get,
            roots=public_roots,
        )
    except Refused as error:
        raise _refuse(plain, source, error) from error
    except Unavailable as error:
        # Whoever sends says what is fetched, so that is counted as well.
        count_false_token(plain)
        told = f"the certificate of Amazon {error}"
        raise ProofUnavailable(told) from error
    sender = Sender.of(source, form)
    if form is None:
        refuse_other_sites(plain, sender)
    return sender


def _describe(request: HttpRequest) -> Knock:
    return Knock(
        body=read_raw(request),
        moment=timezone.now(),
        headers={name.lower(): value for name, value in request.headers.items()},
        query=request.GET.dict(),
        address=address_of(request),
        came_straight=came_straight(request),
    )


def _source_of(request: Request) -> str:
    """The source of the address, else the one that the post is recognised as."""
    context = request.parser_context or {}
    named = context["kwargs"].get("source") or getattr(context["view"], "source", "")
    if named:
        return str(named)
    if not get_config().alert_senders:
        return GENERIC.name
    try:
        found = recognise(read_posted(request)).source
    except InvalidInput:
        return GENERIC.name
    return (found or GENERIC).name


def _refuse(request: HttpRequest, source: str, error: Refused) -> AuthenticationFailed:
    """Counts the refusal. Raises TooManyRequests where an address has had many."""
    count_false_token(request)
    is_known = source in SOURCES or source in get_config().alert_sources
    count_refused_post(
        source=source if is_known else RefusedPosts.UNKNOWN,
        code=error.code,
        address=address_of(request),
        reason=str(error),
    )
    return AuthenticationFailed(_tell(source, error))


def _tell(source: str, error: Refused) -> str:
    if source not in get_config().alert_senders:
        return str(error)
    return f"the post {error}" if not str(error).startswith("the ") else str(error)
