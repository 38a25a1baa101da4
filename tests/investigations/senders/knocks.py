"""Posts at the door, and a certificate authority of our own in place of Amazon's."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from investigations.senders.proofs import Knock

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
BODY = b'{"alerts": [], "name": "caf\xc3\xa9"}'
TOPIC = "arn:aws:sns:eu-central-1:111122223333:alarms"
CERTIFICATE_URL = (
    "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"
)


def knock(body: bytes = BODY, *, address: str = "198.51.100.7", **more: object) -> Knock:
    return Knock(body=body, moment=NOW, address=address, **more)  # type: ignore[arg-type]


def with_headers(body: bytes = BODY, **headers: str) -> Knock:
    """Names with `_` for `-`."""
    return knock(body, headers={name.replace("_", "-"): text for name, text in headers.items()})


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    pem: bytes
    key: rsa.RSAPrivateKey


@cache
def _key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


def issue(*, bits: int = 2048, begins: datetime | None = None, days: int = 300) -> Issued:
    """A certificate of our authority, which holds at `NOW` unless told otherwise."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of tests")])
    begins = begins or NOW - timedelta(days=30)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(authority)
        .public_key(_key(bits).public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=days))
        .sign(_key(), SHA256())
    )
    return Issued(certificate.public_bytes(Encoding.PEM), _key(bits))


def notification(**changes: object) -> dict[str, object]:
    message = {
        "Type": "Notification",
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Subject": "ALARM: \"disk\" in EU (Frankfurt)",
        "Message": "{\"AlarmName\": \"disk\",\n\"NewStateValue\": \"ALARM\"}",
        "Timestamp": "2026-11-30T08:59:30.000Z",
        "SignatureVersion": "2",
        "SigningCertURL": CERTIFICATE_URL,
        "UnsubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
    }  # fmt: skip
    return {**message, **changes}


def confirmation(kind: str = "SubscriptionConfirmation", **changes: object) -> dict[str, object]:
    message = notification(Type=kind, Message="You have chosen to subscribe", Token="23 36")
    del message["Subject"], message["UnsubscribeURL"]
    address = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription"
    message["SubscribeURL"] = f"{address}&TopicArn={TOPIC}&Token=2336"
    return {**message, **changes}


def sign(message: Mapping[str, object], issued: Issued) -> dict[str, object]:
    """As the vendor's document writes it: names and values in order of name, a line each."""
    if message["Type"] == "Notification":
        order = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
    else:
        order = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    text = "".join(f"{name}\n{message[name]}\n" for name in order if name in message)
    chosen = SHA256() if message["SignatureVersion"] == "2" else SHA1()
    signature = issued.key.sign(text.encode(), padding.PKCS1v15(), chosen)
    return {**message, "Signature": base64.b64encode(signature).decode()}


def serve(pem: bytes) -> Callable[[object], bytes]:
    """A fetcher that finds this certificate at every address."""
    return lambda _address: pem
