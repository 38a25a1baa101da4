"""Messages of Amazon SNS: signed by a certificate that lies at an address of Amazon's.

The address stands in the message, so it is nothing but a name for one of Amazon's certificates:
its host must be that of SNS in the region of a topic that the operator has listed.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm

from config.schema.alert_senders import AlertSenderConfig
from investigations.runbooks.addresses import Address, Unavailable, read_address
from investigations.senders.proofs import Knock, Refused, check_age

Fetch = Callable[[Address], bytes]
"""The body at an address; raises Unavailable."""

_HOUR = 3600.0
_SMALLEST_KEY = 2048
_HASHES: Mapping[str, Callable[[], HashAlgorithm]] = {"1": SHA1, "2": SHA256}
_NOTIFICATION = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_CONFIRMATION = (
    "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
)  # fmt: skip
_SIGNED_FIELDS: Mapping[str, Sequence[str]] = {
    "Notification": _NOTIFICATION,
    "SubscriptionConfirmation": _CONFIRMATION,
    "UnsubscribeConfirmation": _CONFIRMATION,
}
"""What is signed of each type of message, in this order."""
_MAY_LACK = "Subject"
_CERTIFICATE = re.compile(r"/[\w.-]{1,200}\.pem", re.ASCII)


def check_message(sender: AlertSenderConfig, body: object, knock: Knock, fetch: Fetch) -> None:
    """Raise Refused unless Amazon has signed the message, for a topic that is listed."""
    message = body if isinstance(body, Mapping) else {}
    fields = _SIGNED_FIELDS.get(_text(message, "Type"))
    if fields is None or not _text(message, "Signature"):
        raise Refused("no_proof", "is no signed message of Amazon SNS; raw delivery is not signed")
    topic = _text(message, "TopicArn")
    if topic not in sender.topics:
        raise Refused("wrong_topic", "is of a topic that alert_senders does not list")
    moment = _read_moment(_text(message, "Timestamp"))
    key = _read_key(fetch(_address_of(message, "SigningCertURL", topic)), knock.moment)
    _verify(message, fields, key)
    seconds = sender.max_age.total_seconds() if sender.max_age else _HOUR
    check_age(moment, knock, seconds)


def subscription_address(message: Mapping[str, object]) -> Address | None:
    """Where a message that was checked asks to be confirmed; None where it asks for nothing.

    Raises Unavailable for an address that confirms no subscription of the message's own topic.
    """
    if _text(message, "Type") != "SubscriptionConfirmation":
        return None
    topic = _text(message, "TopicArn")
    address = _read_amazon_address(_text(message, "SubscribeURL"), topic)
    asked = urlsplit(str(address))
    named = parse_qs(asked.query, max_num_fields=20)
    is_right = named.get("Action") == ["ConfirmSubscription"] and named.get("TopicArn") == [topic]
    if asked.path != "/" or not is_right:
        raise Unavailable("SubscribeURL confirms no subscription of this topic")
    return address


def host_of(topic: str) -> str:
    """The host of SNS in the region of a topic."""
    _arn, partition, _sns, region, *_ = topic.split(":")
    return f"sns.{region}.amazonaws.com{'.cn' if partition == 'aws-cn' else ''}"


def _address_of(message: Mapping[str, object], name: str, topic: str) -> Address:
    try:
        address = _read_amazon_address(_text(message, name), topic)
    except Unavailable as error:
        raise Refused("certificate", f"{name} {error}") from None
    if not _CERTIFICATE.fullmatch(address.target):
        raise Refused("certificate", f"{name} names no certificate")
    return address


def _read_amazon_address(url: str, topic: str) -> Address:
    address = read_address(url)
    if address.host != host_of(topic):
        raise Unavailable(f"must lead to {host_of(topic)}")
    return address


def _read_key(pem: bytes, moment: datetime) -> RSAPublicKey:
    try:
        certificate = x509.load_pem_x509_certificate(pem)
        key = certificate.public_key()
    except ValueError:
        raise Refused("certificate", "the certificate of Amazon cannot be read") from None
    if not certificate.not_valid_before_utc <= moment <= certificate.not_valid_after_utc:
        raise Refused("certificate", "the certificate of Amazon does not hold now")
    if not isinstance(key, RSAPublicKey) or key.key_size < _SMALLEST_KEY:
        raise Refused("certificate", "the certificate of Amazon has no RSA key of 2,048 bits")
    return key


def _verify(message: Mapping[str, object], fields: Sequence[str], key: RSAPublicKey) -> None:
    make_hash = _HASHES.get(_text(message, "SignatureVersion"))
    if make_hash is None:
        raise Refused("wrong_proof", "has a SignatureVersion that is neither 1 nor 2")
    lines: list[str] = []
    for name in fields:
        value = message.get(name)
        if value is None and name == _MAY_LACK:
            continue
        lines += [name, _text(message, name)]
    signed = "".join(f"{line}\n" for line in lines).encode()
    try:
        signature = base64.b64decode(_text(message, "Signature"), validate=True)
        key.verify(signature, signed, PKCS1v15(), make_hash())
    except (InvalidSignature, binascii.Error, ValueError):
        raise Refused("wrong_proof", "the signature of the message is wrong") from None


def _read_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused("no_proof", "has no Timestamp") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(message: Mapping[str, object], name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""
