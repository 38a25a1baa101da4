"""Which token a request bears."""

from datetime import timedelta

from django.utils import timezone

from investigations.models import ApiToken

_USE_IS_NOTED_EVERY = timedelta(minutes=1)


def find_token(text: str) -> ApiToken | None:
    """The valid token with this text, noted as used; None when unknown, revoked or ownerless."""
    if not text.startswith(ApiToken.PREFIX):
        return None
    token = (
        ApiToken.objects.select_related("owner")
        .filter(token_hash=ApiToken.hash_of(text), revoked_at=None, owner__is_active=True)
        .first()
    )
    if token is not None:
        _note_use(token)
    return token


def _note_use(token: ApiToken) -> None:
    # Once a minute is enough to see which tokens live, and keeps reads from becoming writes.
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - _USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
