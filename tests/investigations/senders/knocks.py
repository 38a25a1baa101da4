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
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import Store

from investigations.runbooks.addresses import Address
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
def _key(bits: int = 2048, owner: str = "all") -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


AUTHORITY, INTERMEDIATE = "An authority of tests", "Amazon RSA 2048 T01"
STRANGER = "Another authority"


@cache
def _authority(name: str = AUTHORITY) -> x509.Certificate:
    return _certify(name, name, _key(owner=name), _key(owner=name), may_sign=True)


@cache
def intermediate(name: str = INTERMEDIATE, root: str = AUTHORITY) -> x509.Certificate:
    """What Amazon has between its roots and the certificates of its services."""
    return _certify(name, root, _key(owner="between"), _key(owner=root), may_sign=True)


def roots() -> Store:
    return Store([_authority()])


def issue(
    *,
    bits: int = 2048,
    begins: datetime | None = None,
    days: int = 3650,
    host: str = "sns.amazonaws.com",
    by: str = INTERMEDIATE,
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> Issued:
    """A certificate of our authority, which holds at `NOW` unless told otherwise."""
    owner = "between" if by == INTERMEDIATE else by
    certificate = _certify(
        host, by, _key(bits), _key(owner=owner), begins=begins, days=days, usage=usage
    )
    return Issued(certificate.public_bytes(Encoding.PEM), _key(bits))


def of_unknown_kind(issued: Issued) -> bytes:
    """The certificate as if its key were of a kind that is not known yet."""
    der = x509.load_pem_x509_certificate(issued.pem).public_bytes(Encoding.DER)
    changed = der.replace(_RSA_KEY, _RSA_KEY[:-1] + b"\x7f")
    return x509.load_der_x509_certificate(changed).public_bytes(Encoding.PEM)


_RSA_KEY = bytes.fromhex("06092a864886f70d010101")
"""1.2.840.113549.1.1.1, as it names the kind of a key."""


def _certify(
    name: str,
    issuer: str,
    key: rsa.RSAPrivateKey,
    signs: rsa.RSAPrivateKey,
    *,
    begins: datetime | None = None,
    days: int = 3650,
    may_sign: bool = False,
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> x509.Certificate:
    begins = begins or NOW - timedelta(days=30)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=may_sign, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signs.public_key()), critical=False
        )
    )
    if may_sign:
        certificate = certificate.add_extension(_MAY_SIGN, critical=True)
    else:
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        certificate = certificate.add_extension(names, critical=False)
        certificate = certificate.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    return certificate.sign(signs, SHA256())


_MAY_SIGN = x509.KeyUsage(
    digital_signature=True, content_commitment=False, key_encipherment=False,
    data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
    encipher_only=False, decipher_only=False,
)  # fmt: skip


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


def serve(pem: bytes, between: x509.Certificate | None = None) -> Callable[[Address], bytes]:
    """A fetcher that finds this certificate at every address of Amazon's SNS, and at that of
    Amazon's authority the one that gave it."""
    issuer = (between or intermediate()).public_bytes(Encoding.PEM)
    return lambda address: issuer if address.host == "www.amazontrust.com" else pem
