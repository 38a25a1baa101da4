"""A link that logs one person in once: for a terminal that has just made the account.

It fits into a line of 80 columns with any port: 27 characters that hold whose it is and when it was
made, and a proof of both and of the person's last login.
"""

import binascii
import struct
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

_SALT = "tarsy.login-link"
_HEAD = struct.Struct(">II")
_PROOF_BYTES = 12
VALID_FOR = timedelta(hours=1)


def make_login_link_token(user: User) -> str:
    """A token for `/login/link/<token>/`, good for one hour and one use."""
    head = _HEAD.pack(user.pk, int(time.time()))
    token = urlsafe_b64encode(head + _prove(head, user))
    return token.rstrip(b"=").decode()


def use_login_link_token(token: str) -> User | None:
    """The person a token logs in; None when it is false, old, used or the account is closed.

    A login since the token was made uses it up as well: that is what makes it count once.
    """
    try:
        told = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        return None
    head, proof = told[: _HEAD.size], told[_HEAD.size :]
    if len(proof) != _PROOF_BYTES:
        return None
    user_id, made_at = _HEAD.unpack(head)
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not constant_time_compare(proof, _prove(head, user)):
        return None
    if not 0 <= time.time() - made_at <= VALID_FOR.total_seconds():
        return None
    unused = User.objects.filter(pk=user.pk, last_login=user.last_login)
    if user.last_login is None:
        unused = User.objects.filter(pk=user.pk, last_login__isnull=True)
    return user if unused.update(last_login=timezone.now()) else None


def _prove(head: bytes, user: User) -> bytes:
    last_login = user.last_login.isoformat() if user.last_login else ""
    value = f"{head.hex()} {last_login}"
    return salted_hmac(_SALT, value, algorithm="sha256").digest()[:_PROOF_BYTES]
