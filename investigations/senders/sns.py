"""Messages of Amazon SNS: signed by a certificate that lies at an address of Amazon's.

The address stands in the message, so it is nothing but a name for one of Amazon's certificates:
its host must be that of SNS in the region of a topic that the operator has listed. Whether what
lies there is Amazon's stands in `chains`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm
from cryptography.x509.verification import Store

from config.schema.alert_senders import AlertSenderConfig
from investigations.runbooks.addresses import Address, Unavailable, read_address
from investigations.senders.chains import Fetch, read_key
from investigations.senders.proofs import Knock, Refused, check_age

_HOUR = 3600.0
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


def check_message(
    sender: AlertSenderConfig, body: object, knock: Knock, fetch: Fetch, roots: Store
) -> None:
    """Raise Refused unless Amazon has signed the message, for a topic that is listed."""
    message = body if isinstance(body, Mapping) else {}
    fields = _SIGNED_FIELDS.get(_text(message, "Type"))
    if fields is None or not _text(message, "Signature"):
        raise Refused("no_proof", "is no signed message of Amazon SNS; raw delivery is not signed")
    topic = _text(message, "TopicArn")
    if topic not in sender.topics:
        raise Refused("wrong_topic", "is of a topic that alert_senders does not list")
    moment = _read_moment(_text(message, "Timestamp"))
    pem = fetch(_address_of(message, "SigningCertURL", topic))
    key = read_key(pem, knock.moment, names_of(topic), fetch, roots)
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


def names_of(topic: str) -> Sequence[str]:
    """Whom the certificate may be for: SNS everywhere, or in the region, whose name stands in one
    of three places; all of the US government's is that of its western region."""
    _arn, partition, _sns, region, *_ = topic.split(":")
    suffix = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
    main = "us-gov-west-1" if partition == "aws-us-gov" else region
    regional = (f"sns.{region}", f"sns-signing.{region}", f"sns-{region}", f"sns-{main}")
    everywhere = ("sns",) if partition == "aws" else ()
    return [f"{name}.{suffix}" for name in (*everywhere, *regional)]


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
