"""Tokens of machines: made, used, revoked."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from investigations.models import ApiToken
from investigations.services.audit import record_audit
from tarsy.errors import Conflict, InvalidInput, NotFound

_USE_IS_NOTED_EVERY = timedelta(minutes=1)


@transaction.atomic
def create_token(
    *, owner: User, name: str, actor: str, scopes: Sequence[str] = ApiToken.Scope.values
) -> str:
    """Make a token and return its text, which nobody can read again.

    It may do what its owner may, within its scopes. Raises InvalidInput on an empty or long name or
    an unknown scope, Conflict when the owner has such a token.
    """
    name = name.strip()
    if not name or len(name) > 100:
        raise InvalidInput("name", "must have 1 to 100 characters")
    unknown = [each for each in scopes if each not in ApiToken.Scope.values]
    if unknown or not scopes:
        raise InvalidInput("scopes", f"must be some of {', '.join(ApiToken.Scope.values)}")
    if ApiToken.objects.filter(owner=owner, name=name, revoked_at=None).exists():
        raise Conflict(f'{owner.username} already has a token named "{name}"; revoke it first')
    text = ApiToken.generate()
    token = ApiToken.objects.create(
        owner=owner, name=name, scopes=sorted(set(scopes)), token_hash=ApiToken.hash_of(text)
    )
    record_audit(
        actor, "token.create", "token", str(token.pk),
        name=name, owner=owner.username, scopes=token.scopes,
    )  # fmt: skip
    return text


def note_use(token: ApiToken) -> None:
    """Keep when a token was used last."""
    # Once a minute is enough to see which tokens live, and keeps reads from becoming writes.
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - _USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


@transaction.atomic
def revoke_token(*, owner: User, name: str, actor: str) -> None:
    """From now on the owner's token of this name is refused. Raises NotFound."""
    token = ApiToken.objects.filter(owner=owner, name=name, revoked_at=None).first()
    if token is None:
        raise NotFound(f'{owner.username} has no token named "{name}"')
    revoke(token, actor)


@transaction.atomic
def revoke(token: ApiToken, actor: str) -> None:
    """From now on this token is refused. Raises Conflict when it is already."""
    is_valid = ApiToken.objects.filter(pk=token.pk, revoked_at=None)
    if not is_valid.update(revoked_at=timezone.now()):
        raise Conflict("the token is revoked already")
    record_audit(
        actor, "token.revoke", "token", str(token.pk),
        name=token.name, owner=token.owner.username,
    )  # fmt: skip
