"""Tokens of machines, to read."""

from investigations.models import ApiToken


def find_token(text: str) -> ApiToken | None:
    """The valid token with this text; None when it is unknown, revoked or ownerless."""
    if not text.startswith(ApiToken.PREFIX):
        return None
    return (
        ApiToken.objects.select_related("owner")
        .filter(token_hash=ApiToken.hash_of(text), revoked_at=None, owner__is_active=True)
        .first()
    )
