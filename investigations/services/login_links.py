"""A link that logs one person in once: for a terminal that has just made the account."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.core.signing import BadSignature, TimestampSigner
from django.utils import timezone

_SALT = "tarsy.login-link"
VALID_FOR = timedelta(hours=1)


def make_login_link_token(user: User) -> str:
    """A token for `/login/link/<token>/`, good for one hour and one use."""
    return TimestampSigner(salt=_SALT).sign_object([user.pk, _last_login(user)])


def use_login_link_token(token: str) -> User | None:
    """The person a token logs in; None when it is false, old, used or the account is closed.

    A login since the token was made uses it up as well: that is what makes it count once.
    """
    try:
        user_id, seen_login = TimestampSigner(salt=_SALT).unsign_object(token, max_age=VALID_FOR)
    except (BadSignature, ValueError, TypeError):
        return None
    users = User.objects
    user = users.filter(pk=user_id, is_active=True).first()
    if user is None or _last_login(user) != seen_login:
        return None
    unused = users.filter(pk=user.pk, last_login=user.last_login)
    if user.last_login is None:
        unused = users.filter(pk=user.pk, last_login__isnull=True)
    return user if unused.update(last_login=timezone.now()) else None


def _last_login(user: User) -> str:
    return user.last_login.isoformat() if user.last_login else ""
