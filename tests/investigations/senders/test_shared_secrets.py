"""Secrets in the form of each vendor: the vectors are those of their documents, or made here."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema.alert_senders import AlertSenderConfig
from investigations.senders.proofs import Refused
from investigations.senders.shared_secrets import check_secret
from tests.investigations.senders.knocks import BODY, NOW, knock, with_headers

SECRET, OTHER = "correct horse", "battery-staple"
NONE = AlertSenderConfig()
STAMP = str(int(NOW.timestamp()))


def hex_of(secret: str, signed: bytes = BODY) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def refusal(form, sender, post, secrets=(SECRET,)) -> Refused:
    with pytest.raises(Refused) as caught:
        check_secret(form, sender, secrets, post)
    return caught.value


@pytest.mark.parametrize(
    ("form", "header", "body", "shown"),
    [
        ("github", "x_hub_signature_256", b"Hello, World!",
         "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"),
        ("jira", "x_hub_signature", b"Hello World!",
         "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"),
    ],
)  # fmt: skip
def test_the_example_of_a_vendors_document_is_right(form, header, body, shown):
    post = with_headers(body, **{header: shown})

    check_secret(form, NONE, ["It's a Secret to Everybody"], post)


def test_the_example_of_standard_webhooks_is_right_under_both_names():
    key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    signed = b"msg_p5jXN8AQM9LWM0D4loKWxJek." + STAMP.encode() + b"." + body
    digest = hmac.new(base64.b64decode(key), signed, hashlib.sha256).digest()
    shown = base64.b64encode(digest).decode()
    old = base64.b64encode(b"x" * 32).decode()

    for name in ("webhook", "svix"):
        headers = {
            f"{name}-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            f"{name}-timestamp": STAMP,
            f"{name}-signature": f"v1a,zz v1,{old} v1,{shown}",
        }
        check_secret("standard_webhooks", NONE, [f"whsec_{key}"], knock(body, headers=headers))
        late = {**headers, f"{name}-timestamp": str(int(STAMP) - 301)}
        assert refusal("standard_webhooks", NONE, knock(body, headers=late), [key]).code == (
            "wrong_proof"
        )


def test_an_old_post_of_standard_webhooks_is_refused_and_one_from_the_future():
    for offset in (-301, 301):
        stamp = str(int(STAMP) + offset)
        digest = hmac.new(b"key!", f"m.{stamp}.".encode() + BODY, hashlib.sha256).digest()
        shown = f"v1,{base64.b64encode(digest).decode()}"
        post = with_headers(webhook_id="m", webhook_timestamp=stamp, webhook_signature=shown)

        error = refusal("standard_webhooks", NONE, post, [base64.b64encode(b"key!").decode()])

        assert error.code == "too_old"


SIGNED = [
    ("github", "x_hub_signature_256", "sha256={}"),
    ("jira", "x_hub_signature", "sha256={}"),
    ("pagerduty", "x_pagerduty_signature", "v1={}"),
    ("sentry", "sentry_hook_signature", "{}"),
    ("grafana", "x_grafana_alerting_signature", "{}"),
]


@pytest.mark.parametrize(("form", "header", "written"), SIGNED)
def test_a_signature_holds_for_its_secret_and_its_body_alone(form, header, written):
    shown = written.format(hex_of(SECRET))

    check_secret(form, NONE, [OTHER, SECRET], with_headers(**{header: shown}))
    assert refusal(form, NONE, with_headers(**{header: shown}), [OTHER]).code == "wrong_proof"
    assert refusal(form, NONE, with_headers(BODY + b" ", **{header: shown})).code == "wrong_proof"
    assert refusal(form, NONE, with_headers()).code == "no_proof"
    for broken in ("", "v1=", "sha256=", "é", written.format(""), f"v2={hex_of(SECRET)}"):
        assert refusal(form, NONE, with_headers(**{header: broken})).code in (
            "no_proof", "wrong_proof",
        )  # fmt: skip


def test_pagerduty_signs_with_each_of_its_secrets_while_one_is_replaced():
    shown = f"v1={hex_of(OTHER)},v1={hex_of(SECRET)}"

    check_secret("pagerduty", NONE, [SECRET], with_headers(x_pagerduty_signature=shown))
    check_secret("pagerduty", NONE, ["x", OTHER], with_headers(x_pagerduty_signature=shown))


def test_grafana_signs_the_time_where_it_is_told_to():
    sender = AlertSenderConfig(header="X-Signed", timestamp_header="X-Signed-At")
    shown = hex_of(SECRET, STAMP.encode() + b":" + BODY)

    check_secret("grafana", sender, [SECRET], with_headers(x_signed=shown, x_signed_at=STAMP))
    for stamp in (str(int(STAMP) + 1), "", "yesterday", "9" * 30):
        post = with_headers(x_signed=shown, x_signed_at=stamp)
        assert refusal("grafana", sender, post).code in ("no_proof", "wrong_proof")
    old = str(int(STAMP) - 301)
    late = with_headers(x_signed=hex_of(SECRET, old.encode() + b":" + BODY), x_signed_at=old)
    assert refusal("grafana", sender, late).code == "too_old"


def test_a_token_is_read_where_the_operator_says():
    in_header = AlertSenderConfig(header="X-Api-Key")
    in_query = AlertSenderConfig(query="auth_token")

    for shown in (f"Bearer {OTHER}", f"bearer  {OTHER}", OTHER):
        check_secret("token", NONE, [SECRET, OTHER], with_headers(authorization=shown))
    check_secret("token", in_header, [SECRET], with_headers(x_api_key=SECRET))
    check_secret("token", in_query, [SECRET], knock(query={"auth_token": SECRET}))
    assert refusal("token", in_query, with_headers(authorization=SECRET)).code == "no_proof"
    assert refusal("token", in_query, knock(query={"auth_token": "☃"})).code == "wrong_proof"
    assert refusal("token", in_header, with_headers(authorization=SECRET)).code == "no_proof"
    assert refusal("token", NONE, with_headers(authorization=f"Bearer {OTHER}")).code == (
        "wrong_proof"
    )


@pytest.mark.parametrize("shown", ["{}", "Bearer {}", "token  {}"])
def test_a_token_may_have_blanks_in_it(shown):
    secret = "correct horse battery"

    check_secret("token", NONE, [secret], with_headers(authorization=shown.format(secret)))
    for part in ("battery", "Bearer horse battery", "Bearer"):
        assert refusal("token", NONE, with_headers(authorization=part), [secret]).code == (
            "wrong_proof"
        )


def test_a_secret_of_standard_webhooks_that_is_no_key_is_told_to_the_operator():
    sender = AlertSenderConfig(secret_envs=("HOOK_SECRET",))
    post = with_headers(webhook_id="m", webhook_timestamp=STAMP, webhook_signature="v1,x")

    error = refusal("standard_webhooks", sender, post, ["no base64!"])

    assert error.code == "not_set_up"
    assert "HOOK_SECRET" in str(error)


def test_user_and_password_must_both_be_right():
    sender = AlertSenderConfig(user="nagios")

    def basic(pair: str) -> str:
        return f"Basic {base64.b64encode(pair.encode()).decode()}"

    check_secret("basic", sender, [SECRET], with_headers(authorization=basic(f"nagios:{SECRET}")))
    for pair in (f"root:{SECRET}", "nagios:", f"nagios:{SECRET} ", f"nagios{SECRET}"):
        post = with_headers(authorization=basic(pair))
        assert refusal("basic", sender, post).code == "wrong_proof"
    assert refusal("basic", sender, with_headers(authorization="Basic ~~~")).code == "wrong_proof"
    assert refusal("basic", sender, with_headers(authorization=f"Bearer {SECRET}")).code == (
        "no_proof"
    )


@given(
    st.sampled_from([form for form, _, _ in SIGNED] + ["token", "basic", "standard_webhooks"]),
    st.dictionaries(
        st.sampled_from(
            [header.replace("_", "-") for _, header, _ in SIGNED]
            + ["authorization", "webhook-id", "webhook-timestamp", "webhook-signature"]
        ),
        st.text(alphabet=st.characters(max_codepoint=255), max_size=80),
    ),
)
def test_whatever_is_shown_without_the_secret_is_refused_with_a_reason(form, headers):
    error = refusal(form, NONE, knock(headers=headers), ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZI"])

    assert str(error)
    assert "MfKQ9r8" not in str(error)
