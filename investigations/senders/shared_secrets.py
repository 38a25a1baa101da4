"""Secrets that sender and receiver both know: shown as they are, or signed with.

Every secret is compared with every proof, and each comparison takes the same time wherever the two
differ.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from config.schema.alert_senders import AlertSenderConfig, Form
from config.words import list_names
from investigations.senders.proofs import Knock, Refused, check_age

_USUAL_SECONDS = 300.0
_MOST_PROOFS = 10
"""Signatures in one header: a sender has as many as it has secrets at once."""
_AUTHORIZATION = "authorization"


@dataclass(frozen=True)
class _Signed:
    """The hexadecimal HMAC-SHA256 of the body, in a header."""

    header: str
    prefix: str = ""


_SIGNED: Mapping[Form, _Signed] = {
    "github": _Signed("X-Hub-Signature-256", "sha256="),
    "grafana": _Signed("X-Grafana-Alerting-Signature"),
    "jira": _Signed("X-Hub-Signature", "sha256="),
    "pagerduty": _Signed("X-PagerDuty-Signature", "v1="),
    "sentry": _Signed("Sentry-Hook-Signature"),
}
_STANDARD = ("webhook", "svix")
"""What the three headers of a signature of Standard Webhooks begin with."""


def check_secret(
    form: Form, sender: AlertSenderConfig, secrets: Sequence[str], knock: Knock
) -> None:
    """Raise Refused unless the post shows one of the secrets, or is signed with one."""
    if form == "token":
        _check_token(sender, secrets, knock)
    elif form == "basic":
        _check_basic(sender, secrets, knock)
    elif form == "standard_webhooks":
        _check_standard(sender, secrets, knock)
    else:
        _check_signed(_SIGNED[form], sender, secrets, knock)


def _check_token(sender: AlertSenderConfig, secrets: Sequence[str], knock: Knock) -> None:
    if sender.query:
        shown = knock.query.get(sender.query, "")
        if not shown:
            raise Refused("no_proof", f"brings no token in the parameter {sender.query}")
    else:
        header = sender.header or "Authorization"
        shown = knock.headers.get(header.lower(), "").strip()
        if not shown:
            raise Refused("no_proof", f"brings no token in the header {header}")
    # Behind a scheme such as Bearer, or alone; a secret may have blanks in it.
    told = [shown, shown.partition(" ")[2].strip()]
    _require_one(
        [_bytes_of(each) for each in told if each],
        [secret.encode() for secret in secrets],
        "the token is wrong",
    )


def _check_basic(sender: AlertSenderConfig, secrets: Sequence[str], knock: Knock) -> None:
    scheme, _, shown = knock.headers.get(_AUTHORIZATION, "").strip().partition(" ")
    if scheme.lower() != "basic":
        raise Refused("no_proof", "brings no user and password as `Authorization: Basic`")
    try:
        pair = base64.b64decode(shown.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise Refused("wrong_proof", "brings a user and password that are not in base64") from None
    expected = [f"{sender.user}:{secret}".encode() for secret in secrets]
    _require_one([pair], expected, "the user or the password is wrong")


def _check_signed(
    form: _Signed, sender: AlertSenderConfig, secrets: Sequence[str], knock: Knock
) -> None:
    header = sender.header or form.header
    entries = _entries(knock.headers.get(header.lower(), ""), ",")
    if not entries:
        raise Refused("no_proof", f"brings no signature in the header {header}")
    signatures = [
        _bytes_of(entry.removeprefix(form.prefix).lower())
        for entry in entries
        if entry.startswith(form.prefix)
    ]
    moment, before = _read_stamp(sender, knock) if sender.timestamp_header else (None, b"")
    expected = [_sign(secret.encode(), before, knock.body).hex().encode() for secret in secrets]
    _require_one(signatures, expected, f"the signature in the header {header} is wrong")
    if moment:
        check_age(moment, knock, _seconds_of(sender))


def _read_stamp(sender: AlertSenderConfig, knock: Knock) -> tuple[datetime, bytes]:
    """When it was signed, and what of it is signed before the body."""
    text = knock.headers.get(sender.timestamp_header.lower(), "").strip()
    return _read_moment(text, sender.timestamp_header), _bytes_of(f"{text}:")


def _check_standard(sender: AlertSenderConfig, secrets: Sequence[str], knock: Knock) -> None:
    headers = knock.headers
    name = next((each for each in _STANDARD if f"{each}-signature" in headers), _STANDARD[0])
    entries = _entries(headers.get(f"{name}-signature", ""), " ")
    identity, stamp = headers.get(f"{name}-id", ""), headers.get(f"{name}-timestamp", "").strip()
    if not (entries and identity):
        raise Refused(
            "no_proof",
            "brings no signature in the headers webhook-id, webhook-timestamp and "
            "webhook-signature",
        )
    moment = _read_moment(stamp, f"{name}-timestamp")
    signatures = [_bytes_of(each.removeprefix("v1,")) for each in entries if each[:3] == "v1,"]
    before = _bytes_of(f"{identity}.{stamp}.")
    keys = [key for key in map(_key_of, secrets) if key]
    if not keys:
        named = list_names(sender.secret_envs)
        raise Refused("not_set_up", f"cannot be checked: {named} holds no key in base64")
    expected = [base64.b64encode(_sign(key, before, knock.body)) for key in keys]
    _require_one(signatures, expected, f"the signature in the header {name}-signature is wrong")
    check_age(moment, knock, _seconds_of(sender))


def _key_of(secret: str) -> bytes:
    """The key that `whsec_...` stands for; empty where it is none."""
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _sign(key: bytes, before: bytes, body: bytes) -> bytes:
    code = hmac.new(key, before, hashlib.sha256)
    code.update(body)
    return code.digest()


def _require_one(shown: Sequence[bytes], expected: Sequence[bytes], otherwise: str) -> None:
    fits = [hmac.compare_digest(each, right) for right in expected for each in shown]
    if not any(fits):
        raise Refused("wrong_proof", otherwise)


def _read_moment(text: str, header: str) -> datetime:
    if not (text.isascii() and text.isdigit() and len(text) <= 11):
        raise Refused("no_proof", f"brings no time in the header {header}, in seconds since 1970")
    return datetime.fromtimestamp(int(text), UTC)


def _seconds_of(sender: AlertSenderConfig) -> float:
    return sender.max_age.total_seconds() if sender.max_age else _USUAL_SECONDS


def _entries(value: str, separator: str) -> list[str]:
    return list(_filled(value.split(separator)))[:_MOST_PROOFS]


def _filled(parts: Sequence[str]) -> Iterator[str]:
    return filter(None, (part.strip() for part in parts))


def _bytes_of(text: str) -> bytes:
    """Of a header, which is read as Latin-1 whatever it holds."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:  # A parameter of the address is read as UTF-8.
        return text.encode()
