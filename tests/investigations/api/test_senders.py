"""Who may send posts of alert sources over REST, and what becomes of those who may not."""

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from django.db.models import F
from django.http import HttpResponse
from django.utils import timezone

from config import get_config, use_config
from config.schema.alert_senders import AlertSenderConfig
from investigations.api.senders import certificates
from investigations.models import AlertSession, Delivery, Incident, RefusedPosts
from investigations.selectors.system.prometheus_metrics import read_metrics
from investigations.selectors.system.senders import read_senders
from tests.investigations.runbooks.network import World, put_in_place, reply
from tests.investigations.senders.knocks import (
    CERTIFICATE_URL,
    TOPIC,
    confirmation,
    intermediate,
    issue,
    notification,
    roots,
    sign,
)

pytestmark = pytest.mark.django_db
SECRET = "a-secret-of-the-source"
ALERT = {"what": "pump", "now": "on fire"}
GROUP = {
    "version": "4",
    "groupKey": "g",
    "status": "firing",
    "alerts": [{"status": "firing", "labels": {"alertname": "A"}, "fingerprint": "f"}],
}
TOKEN = AlertSenderConfig(secret_envs=("ALERT_SECRET",))
Post = Callable[..., HttpResponse]


@pytest.fixture
def allow(monkeypatch):
    """Let these senders, by the names of their sources, be configured."""
    monkeypatch.setenv("ALERT_SECRET", SECRET)
    contexts = []

    def configure(**senders: AlertSenderConfig) -> None:
        context = use_config(replace(get_config(), alert_senders=senders))
        context.__enter__()
        contexts.append(context)

    yield configure
    for context in reversed(contexts):
        context.__exit__(None, None, None)


@pytest.fixture
def post(stranger) -> Post:
    """Send a body to a source where people have to log in."""

    def send(body, source="generic", *, address="198.51.100.7", query="", **headers):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        place = f"/api/v1/webhooks/{source}" if source else "/api/v1/webhooks"
        return stranger.generic(
            "POST", place + query, raw, content_type="application/json",
            headers=headers, REMOTE_ADDR=address,
        )  # fmt: skip

    return send


def test_a_signed_post_starts_an_investigation_by_its_source(post, allow):
    allow(github=AlertSenderConfig(secret_envs=("OLD", "ALERT_SECRET")))
    body = json.dumps({"action": "completed", "workflow_run": {"name": "ci", "id": 1,
                       "conclusion": "failure", "head_branch": "main"},
                       "repository": {"full_name": "a/b"}}).encode()  # fmt: skip
    shown = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()

    answer = post(body, "github", **{"X-Hub-Signature-256": f"sha256={shown}"})

    assert answer.status_code == 202, answer.json()
    assert AlertSession.objects.get().author == "github"
    again = post(body + b" ", "github", **{"X-Hub-Signature-256": f"sha256={shown}"})
    assert again.status_code == 401


def test_the_address_that_recognises_sources_asks_for_the_secret_of_the_one_it_finds(post, allow):
    allow(alertmanager=TOKEN)

    assert post(GROUP, "").status_code == 401
    assert post(GROUP, "", Authorization=f"Bearer {SECRET}").status_code == 202
    assert post(ALERT, "", Authorization=f"Bearer {SECRET}").status_code == 401
    assert post(b"{", "", Authorization=f"Bearer {SECRET}").status_code == 401


def test_a_sender_may_send_and_nothing_else(post, allow, stranger):
    allow(generic=TOKEN)
    headers = {"Authorization": f"Bearer {SECRET}"}

    assert post(ALERT, **headers).status_code == 202
    assert stranger.get("/api/v1/sessions", headers=headers).status_code == 401
    assert stranger.get("/api/v1/webhooks/generic", headers=headers).status_code == 401
    alert = {"data": ALERT}
    told = stranger.post("/api/v1/alerts", alert, "application/json", headers=headers)
    assert told.status_code == 401


def test_what_is_refused_says_why_counts_and_keeps_nothing_of_the_post(post, allow):
    allow(generic=TOKEN)

    answers = [
        post({"what": "canary-of-body"}, Authorization="Bearer canary-of-token") for _ in range(3)
    ]
    post(ALERT)
    post(ALERT, "no-such-source")

    assert [answer.status_code for answer in answers] == [401, 401, 401]
    assert answers[0].json() == {"message": "the token is wrong"}
    assert answers[0].headers["WWW-Authenticate"] == "Bearer"
    counted = {(row.source, row.code): row for row in RefusedPosts.objects.all()}
    assert {key: row.count for key, row in counted.items()} == {
        ("generic", "wrong_proof"): 3,
        ("generic", "no_proof"): 1,
        ("unknown", "no_proof"): 1,
    }
    row = counted["generic", "wrong_proof"]
    assert (row.last_address, row.last_reason) == ("198.51.100.7", "the token is wrong")
    assert "canary" not in str(list(RefusedPosts.objects.values()))
    metric = next(found for family, found in read_metrics().items()
                  if family.name == "tarsy_posts_refused_total")  # fmt: skip
    assert ("generic", "wrong_proof") in [series.labels for series in metric]
    state = read_senders()
    assert {(each.source, each.code): each.count for each in state.refusals} == {
        ("generic", "wrong_proof"): 3, ("generic", "no_proof"): 1, ("unknown", "no_proof"): 1,
    }  # fmt: skip


def test_without_an_entry_an_api_token_is_needed_from_anywhere(post, token):
    for address in ("198.51.100.7", "127.0.0.1"):
        refused = post(ALERT, address=address)
        assert refused.status_code == 401
        assert "API token" in refused.json()["message"]
    assert post(ALERT, Authorization=f"Bearer {token}").status_code == 202


def test_an_api_token_counts_beside_the_secret_of_a_source(post, allow, token):
    allow(generic=TOKEN)

    assert post(ALERT, Authorization=f"Bearer {token}").status_code == 202
    assert AlertSession.objects.get().author == "pagerduty"


def test_a_network_that_is_listed_needs_no_secret_and_no_proxy_lends_it(post, allow, settings):
    allow(generic=AlertSenderConfig(networks=("10.0.0.0/8",)))
    settings.FORWARDING_PROXIES = ("192.0.2.9",)

    assert post(ALERT, address="10.1.1.1").status_code == 202
    assert post(ALERT, address="11.1.1.1").status_code == 401
    behind = {"X-Forwarded-For": "10.1.1.1"}
    assert post(ALERT, address="192.0.2.9", **behind).status_code == 202
    assert post(ALERT, address="192.0.2.8", **behind).status_code == 401
    # A proxy of theirs, which we know nothing of, stands in the network.
    outside = {"X-Forwarded-For": "203.0.113.5"}
    assert post(ALERT, address="10.1.1.1", **outside).status_code == 401
    assert post(ALERT, address="10.1.1.1", **{"X-Real-IP": "203.0.113.5"}).status_code == 401


def test_a_page_of_another_site_sends_nothing_from_a_network_that_is_listed(post, allow):
    allow(generic=AlertSenderConfig(networks=("10.0.0.0/8",)))

    answer = post(ALERT, address="10.1.1.1", Origin="https://evil.example")

    assert answer.status_code == 403
    assert not AlertSession.objects.exists()


def test_where_nobody_logs_in_sources_are_open_to_this_machine_and_to_no_other(post, settings):
    settings.TARSY_AUTH = "none"

    assert post(ALERT, address="127.0.0.1").status_code == 202
    assert post(ALERT, "", address="127.0.0.1").status_code == 202
    refused = post(ALERT)
    assert refused.status_code == 401
    assert "198.51.100.7" in refused.json()["message"]


def test_where_nobody_logs_in_a_secret_is_asked_for_all_the_same(post, allow, settings):
    settings.TARSY_AUTH = "none"
    allow(generic=TOKEN)

    assert post(ALERT, address="127.0.0.1").status_code == 401
    assert post(ALERT, Authorization=f"Bearer {SECRET}").status_code == 202
    in_query = AlertSenderConfig(secret_envs=("ALERT_SECRET",), query="key")
    allow(generic=in_query)
    assert post(ALERT, query=f"?key={SECRET}").status_code == 202


def test_an_envelope_that_needs_no_secret_smuggles_nothing_in(post, allow):
    open_to = AlertSenderConfig(networks=("10.0.0.0/8",))
    allow(aws_sns=open_to, alertmanager=TOKEN)
    envelope = {"Type": "Notification", "MessageId": "m", "TopicArn": TOPIC,
                "Message": json.dumps(GROUP)}  # fmt: skip

    answer = post(envelope, "aws_sns", address="10.0.0.1")

    assert answer.status_code == 401
    assert "alertmanager" in answer.json()["message"]
    assert not AlertSession.objects.exists()


def test_an_envelope_carries_nothing_out_of_the_network_of_what_it_holds(post, allow):
    inside = AlertSenderConfig(networks=("10.0.0.0/24",))
    allow(cloudevents=AlertSenderConfig(networks=("10.0.0.0/8",)), alertmanager=inside)
    event = {"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": GROUP}

    assert post(event, "cloudevents", address="10.9.9.9").status_code == 401
    assert not AlertSession.objects.exists()
    assert post(event, "cloudevents", address="10.0.0.9").status_code == 202


# ---- Posts that somebody has kept ----------------------------------------------------------------


def _github(fires: bool, hour: int) -> dict[str, object]:
    run = {"name": "CI", "head_branch": "main", "conclusion": "failure" if fires else "success",
           "run_started_at": f"2026-11-21T{hour:02}:00:00Z",
           "updated_at": f"2026-11-21T{hour:02}:30:00Z"}  # fmt: skip
    return {"action": "completed", "workflow_run": run, "repository": {"full_name": "a/b"}}


def _dependabot(fires: bool, hour: int) -> dict[str, object]:
    alert = {"number": 7, "created_at": "2026-11-21T00:00:00Z",
             "updated_at": f"2026-11-21T{hour:02}:00:00Z"}  # fmt: skip
    action = "reopened" if fires else "dismissed"
    return {"action": action, "alert": alert, "repository": {"full_name": "a/b"}}


def _pagerduty(fires: bool, hour: int) -> dict[str, object]:
    kind = "reopened" if fires else "resolved"
    return {"event": {"id": f"e{hour}", "event_type": f"incident.{kind}",
                      "occurred_at": f"2026-11-21T{hour:02}:00:00Z",
                      "data": {"id": "Q1", "title": "Disk full"}}}  # fmt: skip


def _sentry(fires: bool, hour: int) -> dict[str, object]:
    issue = {"id": "12", "title": "KeyError", "lastSeen": f"2026-11-21T{hour:02}:00:00Z"}
    return {"action": "unresolved" if fires else "resolved", "data": {"issue": issue}}


def _jira(fires: bool, hour: int) -> dict[str, object]:
    items = [{"field": "resolution", "from": "1", "to": None}] if fires else []
    fields = {"summary": "Disk full",
              "status": {"statusCategory": {"key": "new" if fires else "done"}}}  # fmt: skip
    return {"webhookEvent": "jira:issue_updated", "timestamp": 1_795_244_400_000 + hour,
            "issue": {"key": "OPS-1", "fields": fields}, "changelog": {"items": items}}  # fmt: skip


def _grafana(fires: bool, hour: int) -> dict[str, object]:
    alert = {"status": "firing" if fires else "resolved", "labels": {"alertname": "A"},
             "fingerprint": "f", "values": {"A": hour}}  # fmt: skip
    return {"version": "1", "orgId": 1, "groupKey": "g", "title": "A", "alerts": [alert]}


@pytest.mark.parametrize(
    ("source", "event", "signature", "make"),
    [
        ("github", "workflow_run", "X-Hub-Signature-256: sha256=", _github),
        ("github", "dependabot_alert", "X-Hub-Signature-256: sha256=", _dependabot),
        ("pagerduty", "", "X-PagerDuty-Signature: v1=", _pagerduty),
        ("sentry", "issue", "Sentry-Hook-Signature: ", _sentry),
        ("jira_sm", "", "X-Hub-Signature: sha256=", _jira),
        ("grafana", "", "X-Grafana-Alerting-Signature: ", _grafana),
    ],
)
def test_who_sends_a_signed_post_of_before_again_opens_and_closes_nothing(
    post, allow, source, event, signature, make
):
    allow(**{source: AlertSenderConfig(secret_envs=("ALERT_SECRET",))})
    name, _, before = signature.partition(": ")
    sent = iter(range(100))

    def send(fires: bool, hour: int) -> str:
        body = json.dumps(make(fires, hour)).encode()
        shown = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        # Whoever sends it again gives it another number: nobody signs that.
        number = str(next(sent))
        headers = {
            name: before + shown, "X-GitHub-Event": event, "X-GitHub-Delivery": number,
            "Sentry-Hook-Resource": event, "Request-ID": number,
        }  # fmt: skip
        answer = post(body, source, **{key: text for key, text in headers.items() if text})
        assert answer.status_code == 202, answer.json()
        # As if a while had passed: it is not by chance that the same comes again.
        Delivery.objects.update(received_at=F("received_at") - timedelta(minutes=10))
        return str(answer.json()["outcome"])

    def states() -> list[tuple[str, int]]:
        return list(Incident.objects.order_by("opened_at").values_list("state", "firing_count"))

    assert [send(True, 1), send(False, 2), send(True, 3)] == ["held", "resolved", "held"]
    firing = states()
    assert [send(False, 2), send(True, 1)] == ["duplicate", "duplicate"]
    assert states() == firing
    assert send(False, 4) == "resolved"
    over = states()
    assert [send(True, 1), send(True, 3), send(False, 2)] == ["duplicate"] * 3
    assert states() == over
    assert all(count == 0 for _state, count in over)


# ---- Amazon SNS ---------------------------------------------------------------------------------


@pytest.fixture
def amazon(monkeypatch, allow):
    """Amazon as far as we meet it: a certificate, and a page that confirms."""
    certificates.cache_clear()
    allow(aws_sns=AlertSenderConfig(topics=(TOPIC,)))
    monkeypatch.setattr("investigations.api.senders.public_roots", roots)
    ours = issue()
    found = ours.pem + intermediate().public_bytes(Encoding.PEM)

    def stand_in(*answers: bytes) -> World:
        world = World([reply(found), *answers])
        put_in_place(world, monkeypatch)
        return world

    yield ours, stand_in
    certificates.cache_clear()


def now_text() -> str:
    return timezone.now().isoformat()


def test_a_signed_message_is_taken_and_its_certificate_fetched_once(post, amazon):
    ours, stand_in = amazon
    world = stand_in()
    message = sign(notification(Timestamp=now_text()), ours)

    answers = [post(message, "aws_sns"), post(message, "")]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert [ask.path for ask in world.asked] == [CERTIFICATE_URL.removeprefix(
        "https://sns.eu-central-1.amazonaws.com")]  # fmt: skip
    forged = post({**message, "Message": "{}"}, "aws_sns")
    assert forged.status_code == 401


def test_who_makes_us_fetch_what_is_not_there_is_counted_like_who_has_no_proof(
    post, amazon, monkeypatch
):
    ours, stand_in = amazon
    world = stand_in()
    world.answers = [reply("", "404 Not Found")] * 3
    counted: list[object] = []
    monkeypatch.setattr("investigations.api.senders.count_false_token", counted.append)
    forged = [
        sign(notification(SigningCertURL=f"{CERTIFICATE_URL[:-4]}{number}.pem"), ours)
        for number in range(3)
    ]

    assert [post(message, "aws_sns").status_code for message in forged] == [503] * 3
    assert len(counted) == 3


def test_a_subscription_of_a_listed_topic_is_confirmed(post, amazon):
    ours, stand_in = amazon
    world = stand_in(reply("<ConfirmSubscriptionResponse/>"))
    message = sign(confirmation(Timestamp=now_text()), ours)

    answer = post(message, "aws_sns")

    assert answer.status_code == 202
    assert "the subscription was confirmed" in answer.json()["message"]
    assert [ask.tls_name for ask in world.asked] == ["sns.eu-central-1.amazonaws.com"] * 2
    assert "Action=ConfirmSubscription" in world.asked[1].path


@pytest.mark.parametrize("change", [{"Type": "UnsubscribeConfirmation"}, {"TopicArn": TOPIC + "x"}])
def test_nothing_else_is_confirmed(post, amazon, change):
    ours, stand_in = amazon
    world = stand_in(reply("no"))
    message = sign(confirmation(Timestamp=now_text(), **change), ours)

    answer = post(message, "aws_sns")

    assert answer.status_code == (202 if "Type" in change else 401)
    assert not [ask for ask in world.asked if "Action" in ask.path]


def test_amazon_sends_again_what_could_not_be_checked_or_confirmed(post, amazon):
    ours, stand_in = amazon
    stand_in(reply("busy", "500 Internal Server Error"))
    message = sign(confirmation(Timestamp=now_text()), ours)

    unconfirmed = post(message, "aws_sns")
    certificates.cache_clear()
    stand_in().answers = [reply("", "503 Service Unavailable")]
    unchecked = post(message, "aws_sns")

    assert [unconfirmed.status_code, unchecked.status_code] == [503, 503]
    assert "not confirmed" in unconfirmed.json()["message"]
    assert "certificate" in unchecked.json()["message"]
