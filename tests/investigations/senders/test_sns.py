"""Messages of Amazon SNS: whose signature holds, and which addresses are asked."""

import threading
import warnings
from datetime import timedelta

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import Store

from config.schema.alert_senders import AlertSenderConfig
from investigations.runbooks.addresses import Address, Unavailable
from investigations.senders import chains
from investigations.senders.chains import public_roots
from investigations.senders.fetching import Shelf
from investigations.senders.proofs import Refused
from investigations.senders.sns import (
    check_message,
    host_of,
    names_of,
    subscription_address,
)
from tests.investigations.senders.knocks import (
    INTERMEDIATE,
    NOW,
    STRANGER,
    TOPIC,
    confirmation,
    intermediate,
    issue,
    knock,
    notification,
    of_unknown_kind,
    roots,
    serve,
    sign,
)

SENDER = AlertSenderConfig(topics=(TOPIC,))
OURS = issue()


def refusal(message, fetch=None, sender=SENDER) -> Refused:
    with pytest.raises(Refused) as caught:
        check_message(sender, message, knock(), fetch or serve(OURS.pem), roots())
    return caught.value


def never(_address: object) -> bytes:
    raise AssertionError("nothing may be fetched for this")


def test_a_certificate_with_a_key_of_a_kind_that_nobody_knows_is_refused():
    told = refusal(sign(notification(), OURS), serve(of_unknown_kind(OURS)))

    assert told.code == "certificate"
    assert str(told) == "the certificate of Amazon cannot be read"


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize(
    "message",
    [notification(), confirmation(), confirmation("UnsubscribeConfirmation"),
     {name: text for name, text in notification().items() if name != "Subject"}],
)  # fmt: skip
def test_what_amazon_signed_is_taken_in_both_versions(message, version):
    message = sign({**message, "SignatureVersion": version}, OURS)

    check_message(SENDER, message, knock(), serve(OURS.pem), roots())
    changed = {**message, "Message": "another"}
    assert refusal(changed).code == "wrong_proof"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Signature": ""}, "no_proof"),
        ({"Signature": "not base64"}, "wrong_proof"),
        ({"SignatureVersion": "3"}, "wrong_proof"),
        ({"Type": "Other"}, "no_proof"),
        ({"Type": ["Notification"]}, "no_proof"),
        ({"TopicArn": TOPIC + "2"}, "wrong_topic"),
        ({"TopicArn": None}, "wrong_topic"),
        ({"Timestamp": "soon"}, "no_proof"),
    ],
)
def test_a_message_that_is_not_as_it_was_signed_is_refused(change, code):
    assert refusal({**sign(notification(), OURS), **change}).code == code


@pytest.mark.parametrize("body", [None, [], "text", 7, {}, {"AlarmName": "disk"}])
def test_a_raw_message_has_no_signature(body):
    assert refusal(body, never).code == "no_proof"


@pytest.mark.parametrize(
    "url",
    [
        "https://sns.eu-west-1.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com.evil.example/a.pem",
        "https://evil.example/sns.eu-central-1.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
        "https://sns.eu-central-1.amazonaws.com:8443/a.pem",
        "https://sns.s3.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com.cn/a.pem",
        "http://sns.eu-central-1.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com/a.pem?x=1",
        "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
        "https://sns.eu-central-1.amazonaws.com/../a.pem",
        "https://169.254.169.254/latest/a.pem",
        "file:///etc/passwd",
        "",
        None,
    ],
)
def test_a_certificate_from_anywhere_but_amazon_is_not_even_fetched(url):
    message = sign(notification(SigningCertURL=url), OURS)

    assert refusal(message, never).code == "certificate"


@pytest.mark.parametrize(
    "pem",
    [b"", b"<html>", issue(bits=1024).pem, issue(begins=NOW + timedelta(days=1)).pem,
     issue(begins=NOW - timedelta(days=20), days=10).pem],
)  # fmt: skip
def test_a_certificate_that_is_none_now_is_not_believed(pem):
    assert refusal(sign(notification(), OURS), serve(pem)).code == "certificate"


@pytest.mark.parametrize(
    ("certificate", "between"),
    [
        # By itself, by an authority that nobody knows, or by one that such an authority has made.
        (issue(by="sns.amazonaws.com"), None),
        (issue(by=STRANGER), None),
        (issue(), intermediate(root=STRANGER)),
        # For somebody else, in another region, or not for a server.
        (issue(host="mail.example.com"), None),
        (issue(host="sns.eu-west-1.amazonaws.com"), None),
        (issue(host="sns-signing.eu-central-1.amazonaws.com.evil.example"), None),
        (issue(usage=ExtendedKeyUsageOID.CLIENT_AUTH), None),
    ],
)
def test_a_certificate_of_amazons_name_that_no_trusted_authority_gave_is_refused(
    certificate, between
):
    message = sign(notification(), certificate)

    assert refusal(message, serve(certificate.pem, between)).code == "certificate"


@pytest.mark.parametrize(
    "host",
    ["sns.amazonaws.com", "sns.eu-central-1.amazonaws.com",
     "sns-signing.eu-central-1.amazonaws.com"],
)  # fmt: skip
def test_the_authority_of_amazon_is_asked_who_gave_the_certificate(host):
    ours, asked = issue(host=host), []
    found = serve(ours.pem)

    def fetch(address: Address) -> bytes:
        asked.append(str(address))
        return found(address)

    check_message(SENDER, sign(notification(), ours), knock(), fetch, roots())

    assert asked[1:] == [
        f"https://www.amazontrust.com/repository/{INTERMEDIATE.replace(' ', '-')}.pem"
    ]


def test_who_gave_the_certificate_may_stand_beside_it():
    both = OURS.pem + intermediate().public_bytes(Encoding.PEM)

    def fetch(address: Address) -> bytes:
        assert address.host == "sns.eu-central-1.amazonaws.com"
        return both

    check_message(SENDER, sign(notification(), OURS), knock(), fetch, roots())


def test_without_the_authority_the_sender_is_told_to_come_again():
    def fetch(address: Address) -> bytes:
        if address.host == "www.amazontrust.com":
            raise Unavailable("did not answer")
        return OURS.pem

    with pytest.raises(Unavailable):
        check_message(SENDER, sign(notification(), OURS), knock(), fetch, roots())


def test_the_roots_of_this_machine_are_those_that_are_trusted_everywhere():
    assert refusal_by(public_roots()).code == "certificate"


def test_reading_the_roots_leaves_alone_how_other_threads_are_warned():
    found = chains._readable(httpx.create_ssl_context())
    as_before = warnings.filters

    next(found)

    # Where a generator waits, whoever else runs would meet what it has changed for itself.
    assert warnings.filters is as_before
    assert len(list(found)) > 10


def refusal_by(store: Store) -> Refused:
    with pytest.raises(Refused) as caught:
        check_message(SENDER, sign(notification(), OURS), knock(), serve(OURS.pem), store)
    return caught.value


def test_a_message_may_be_as_old_as_amazon_tries_again_and_no_older():
    def sent(seconds: int) -> dict[str, object]:
        moment = NOW - timedelta(seconds=seconds)
        return sign(notification(Timestamp=moment.isoformat()), OURS)

    check_message(SENDER, sent(3600), knock(), serve(OURS.pem), roots())
    assert refusal(sent(3601)).code == "too_old"
    strict = AlertSenderConfig(topics=(TOPIC,), max_age=timedelta(minutes=5))
    assert refusal(sent(301), sender=strict).code == "too_old"


def test_the_host_is_that_of_the_region_of_the_topic():
    assert host_of(TOPIC) == "sns.eu-central-1.amazonaws.com"
    assert host_of("arn:aws-cn:sns:cn-north-1:1:t") == "sns.cn-north-1.amazonaws.com.cn"
    assert host_of("arn:aws-us-gov:sns:us-gov-west-1:1:t") == "sns.us-gov-west-1.amazonaws.com"
    assert "sns-cn-north-1.amazonaws.com.cn" in names_of("arn:aws-cn:sns:cn-north-1:1:t")
    assert "sns-us-gov-west-1.amazonaws.com" in names_of("arn:aws-us-gov:sns:us-gov-east-1:1:t")


def test_only_a_subscription_asks_to_be_confirmed():
    asked = subscription_address(confirmation())

    assert str(asked) == confirmation()["SubscribeURL"]
    assert subscription_address(confirmation("UnsubscribeConfirmation")) is None
    assert subscription_address(notification()) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/?Action=ConfirmSubscription&TopicArn=" + TOPIC,
        "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe&TopicArn=" + TOPIC,
        "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=other",
        "https://sns.eu-central-1.amazonaws.com/x?Action=ConfirmSubscription&TopicArn=" + TOPIC,
        "",
    ],
)
def test_nothing_else_is_asked_than_to_confirm_this_topic(url):
    with pytest.raises(Unavailable):
        subscription_address(confirmation(SubscribeURL=url))


def test_a_certificate_is_fetched_once_a_day_and_a_failure_is_kept_for_a_minute():
    now, asked, broken = [0.0], [], [True]

    def fetch(address) -> bytes:
        asked.append(str(address))
        if broken[0]:
            raise Unavailable("did not answer")
        return b"pem"

    shelf = Shelf(fetch, clock=lambda: now[0])
    address = subscription_address(confirmation())
    assert address

    for _ in range(2):
        with pytest.raises(Unavailable, match="did not answer"):
            shelf.get(address)
    assert len(asked) == 1
    now[0], broken[0] = 61.0, False
    assert [shelf.get(address), shelf.get(address)] == [b"pem", b"pem"]
    assert len(asked) == 2
    now[0] += 25 * 3600
    assert shelf.get(address) == b"pem"
    assert len(asked) == 3


def test_addresses_that_strangers_invent_push_no_certificate_out():
    asked: list[str] = []

    def fetch(address: Address) -> bytes:
        asked.append(address.target)
        if address.target != "/real.pem":
            raise Unavailable("answered with status 404")
        return b"pem"

    shelf = Shelf(fetch)
    real = Address("sns.eu-central-1.amazonaws.com", "/real.pem")
    shelf.get(real)
    for number in range(100):
        with pytest.raises(Unavailable):
            shelf.get(Address(real.host, f"/{number}.pem"))

    assert shelf.get(real) == b"pem"
    assert asked.count("/real.pem") == 1


def test_nobody_waits_for_long_behind_others_who_fetch():
    goes_on, is_there = threading.Event(), threading.Event()

    def fetch(address: Address) -> bytes:
        is_there.set()
        assert goes_on.wait(30)
        return b"pem"

    shelf = Shelf(fetch, patience=0.0)
    first = Address("sns.eu-central-1.amazonaws.com", "/1.pem")
    thread = threading.Thread(target=shelf.get, args=[first])
    thread.start()
    assert is_there.wait(30)
    try:
        with pytest.raises(Unavailable, match="too many"):
            shelf.get(Address(first.host, "/2.pem"))
    finally:
        goes_on.set()
        thread.join()
    assert shelf.get(first) == b"pem"
