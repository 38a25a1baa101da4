"""Posts of alert sources over REST: what becomes of each alert, and what is refused."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone

from config import get_config, use_config
from config.schema.alert_sources import AlertSourceConfig
from config.schema.incidents import IncidentsConfig
from investigations.models import AlertSession, Delivery
from investigations.services.incidents import known
from investigations.services.sessions import claim_next_session
from investigations.services.titles import title_of
from investigations.sources.content import POST_LIMIT

Post = Callable[..., HttpResponse]


@pytest.fixture(autouse=True)
def at_once():
    """Nothing waits for more alerts of its group."""
    with use_config(replace(get_config(), incidents=IncidentsConfig(group_wait="0s"))):
        yield


@pytest.fixture
def post(api) -> Post:
    """Send a body to a source's address, or to the one that recognises them."""

    def send(body, source="", *, content_type="application/json", **headers) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        address = f"/api/v1/webhooks/{source}" if source else "/api/v1/webhooks"
        return api.generic("POST", address, raw, content_type=content_type, headers=headers)

    return send


def member(name: str = "DiskFull", status: str = "firing", **labels: str) -> dict:
    return {
        "status": status,
        "labels": {"alertname": name, "severity": "warning", **labels},
        "annotations": {},
        "startsAt": "2026-11-21T07:00:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": f"{name}-{'-'.join(labels.values())}",
    }


def group(*members: object) -> dict:
    return {"version": "4", "groupKey": "g1", "status": "firing", "alerts": list(members)}


def outcomes(answer: HttpResponse) -> list[str]:
    return [each["outcome"] for each in answer.json()["alerts"]]


# ---- What becomes of a post ---------------------------------------------------------------------


def test_all_alerts_of_a_post_that_fire_become_one_session(post):
    answer = post(group(member("A"), member("B", "resolved"), member("C", severity="critical")))

    session = AlertSession.objects.get()
    told = answer.json()
    assert answer.status_code == 202
    assert outcomes(answer) == ["started", "resolved", "started"]
    assert answer.json()["outcome"] == "started"
    assert answer.json()["delivery_id"] is None
    assert told["source"] == "alertmanager"
    assert told["session_id"] == str(session.pk)
    assert [each["session_id"] for each in told["alerts"]] == [
        str(session.pk),
        None,
        str(session.pk),
    ]
    assert told["message"] == "An investigation of 2 of 3 alerts is queued"
    assert answer.headers["Location"] == f"/api/v1/sessions/{session.pk}"
    assert session.title == "A and 1 more"
    assert session.author == "api-client"
    assert session.session_metadata == {"source": "alertmanager", "severity": "critical"}


def test_the_session_holds_the_alerts_as_they_were_sent(post):
    fires, over = member("A"), member("B", "resolved")

    post({**group(fires, over), "truncatedAlerts": 3})

    data = json.loads(AlertSession.objects.get().alert_data)
    assert data["alerts"] == [fires]
    assert data["over_already"] == ["B (B-)"]
    assert data["left_out"] == ["3 alerts that the sender left out (truncatedAlerts)"]


def test_a_session_that_is_retried_keeps_its_title(post):
    post(group(member("A"), member("B")))

    session = AlertSession.objects.get()
    assert title_of(session.alert_data) == session.title == "A and 1 more"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"heartbeat": None, "monitor": None, "msg": "x Testing"}, "ignored: test notification"),
        ({"event": {"id": "1", "event_type": "incident.acknowledged",
                    "data": {"id": "Q", "title": "t"}}}, "ignored: acknowledgement"),
        ({"kind": "Event", "metadata": {}, "involvedObject": {"name": "a"}, "reason": "Pulled",
          "type": "Normal"}, "ignored: normal event"),
    ],
)  # fmt: skip
def test_what_is_over_or_no_alert_starts_nothing(post, body, outcome):
    answer = post(body)

    assert answer.status_code == 202
    assert outcomes(answer) == [outcome]
    assert answer.json()["session_id"] is None
    assert answer.json()["message"] == f"Nothing is investigated: {outcome}"
    assert "Location" not in answer.headers
    assert not AlertSession.objects.exists()


def test_what_is_over_says_what_becomes_of_its_investigation(post):
    fires, over = group(member()), group(member(status="resolved"))

    assert post(group(member("Other", "resolved"))).json()["message"] == (
        "The alert is over. Nothing was to be investigated."
    )

    begun = post(fires).json()["session_id"]
    cancelled = post(over).json()
    assert cancelled["session_id"] == begun
    assert cancelled["message"] == (
        "The alert is over. Its investigation was cancelled: recovered before it began."
    )


@pytest.mark.parametrize(
    ("when_recovered", "told"),
    [("finish", "Its investigation goes on."), ("stop", "Its investigation is stopped.")],
)
def test_what_is_over_says_what_becomes_of_an_investigation_that_runs(post, when_recovered, told):
    rules = IncidentsConfig(group_wait="0s", when_recovered=when_recovered)
    with use_config(replace(get_config(), incidents=rules)):
        begun = post(group(member())).json()["session_id"]
        assert str(claim_next_session()) == begun

        answer = post(group(member(status="resolved"))).json()

    assert answer["outcome"] == "resolved"
    assert answer["session_id"] == begun
    assert answer["message"] == f"The alert is over. {told}"


def test_what_is_over_says_that_its_investigation_had_ended(post):
    post(group(member()))
    AlertSession.objects.update(
        status=AlertSession.Status.COMPLETED, started_at=timezone.now(), completed_at=timezone.now()
    )

    assert post(group(member(status="resolved"))).json()["message"] == (
        "The alert is over. Its investigation had ended before."
    )


def test_what_is_over_in_part_says_so(post):
    post(group(member("A"), member("B"), member("C")))
    first, second = member("A", "resolved"), member("B", "resolved")

    assert post(group(first)).json()["message"] == (
        "The alert is over. Others of the incident fire on."
    )
    assert post(group(first, second)).json()["message"] == (
        "2 alerts are over. Others of the incident fire on."
    )
    assert post(group(second, member("C", "resolved"), member("D", "resolved"))).json()[
        "message"
    ] == (
        "3 alerts are over. Of 2: Their investigation was cancelled: recovered before it began. "
        "Of 1: Nothing was to be investigated."
    )
    assert post(group(second, member("C", "resolved"))).json()["message"] == (
        "2 alerts are over. That was known before."
    )


def test_a_subscription_is_told_to_its_operator_and_never_fetched(post):
    body = {
        "Type": "SubscriptionConfirmation",
        "MessageId": "m",
        "TopicArn": "arn:aws:sns:eu-west-1:000011112222:t",
        "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription",
        "Message": "You have chosen to subscribe",
    }

    answer = post(json.dumps(body).encode(), content_type="text/plain; charset=UTF-8")

    assert answer.status_code == 202
    assert "confirms the subscription of arn:aws:sns" in answer.json()["message"]
    assert not AlertSession.objects.exists()


def test_the_alert_type_stands_in_the_address(post):
    assert post(group(member()), "alertmanager?alert_type=kubernetes").status_code == 202
    assert AlertSession.objects.get().alert_type == "kubernetes"

    answer = post(group(member(status="resolved")), "alertmanager?alert_type=kubernetess")

    assert answer.status_code == 400
    assert answer.json()["field"] == "alert_type"


def test_secrets_never_reach_the_row(post):
    secret = "ghp_" + "Zx8Qw2Lm5Rt9Yb3Nc7Vd1Kf6Hs4Jg0PaTuEi"

    post(group(member(f"Push with {secret}")))

    session = AlertSession.objects.get()
    assert secret not in session.alert_data + session.title
    assert session.title.startswith("Push with")


def test_a_source_of_the_operators_own_is_read_by_its_mapping(post):
    own = AlertSourceConfig(
        alerts="events", title="join(' on ', [what, where])", severity="level", state="now",
        resolved_when=("gone",), key="[what, where]", labels="tags", start="since",
        alert_type="kubernetes",
    )  # fmt: skip
    events = [
        {"what": "Pump stands", "where": "hall 3", "level": "fatal", "now": "here"},
        {"what": "Belt slips", "where": "hall 4", "level": "warn", "now": "gone"},
    ]

    with use_config(replace(get_config(), alert_sources={"plant": own})):
        answer = post({"events": events}, "plant")

    session = AlertSession.objects.get()
    assert outcomes(answer) == ["started", "resolved"]
    assert [each["key"] for each in answer.json()["alerts"]] == [
        "Pump stands hall 3",
        "Belt slips hall 4",
    ]
    assert session.title == "Pump stands on hall 3"
    assert session.alert_type == "kubernetes"
    assert session.session_metadata == {"source": "plant", "severity": "critical"}


def test_nobody_posts_without_a_token(stranger, token):
    send = dict(data=json.dumps(group(member())), content_type="application/json")

    assert stranger.post("/api/v1/webhooks/alertmanager", **send).status_code == 401
    assert (
        stranger.post(
            "/api/v1/webhooks", **send, headers={"authorization": f"Bearer {token}"}
        ).status_code
        == 202
    )


def test_prometheus_finds_the_path_that_it_appends(post):
    alert = {"labels": {"alertname": "DiskFull"}, "annotations": {}}

    assert outcomes(post([alert], "prometheus/api/v2/alerts")) == ["started"]


@pytest.mark.parametrize(
    ("mapping", "place"),
    [
        ({"alerts": "sort_by(events, &level)"}, "alerts"),
        ({"alerts": "events", "key": "to_string(avg([level, `1.5`]))"}, "alerts[0]"),
    ],
)
def test_a_mapping_that_does_not_fit_is_told_to_the_sender(post, mapping, place):
    own = AlertSourceConfig(**mapping)

    with use_config(replace(get_config(), alert_sources={"plant": own})):
        answer = post({"events": [{"level": 10**400}, {"level": "warn"}]}, "plant")

    assert answer.status_code == 400
    assert answer.json()["field"] == place
    assert "a mapping does not fit: " in answer.json()["message"]


# ---- Addresses ----------------------------------------------------------------------------------


def test_a_source_that_nobody_knows_is_not_found(post):
    answer = post(group(member()), "grafanna")

    assert answer.status_code == 404
    assert "did you mean 'grafana'" in answer.json()["message"]


def test_a_post_of_another_source_is_refused_with_its_address(post):
    answer = post(group(member()), "sentry")

    assert answer.status_code == 400
    assert "/api/v1/webhooks/alertmanager" in answer.json()["message"]
    assert not AlertSession.objects.exists()


def test_a_post_that_another_form_holds_is_refused_with_its_own_address(post):
    of_grafana = group(member()) | {"orgId": 1, "title": "t", "state": "alerting"}

    for body, wrong, right in (
        (of_grafana, "alertmanager", "grafana"),
        (group(member()), "grafana", "alertmanager"),
    ):
        answer = post(body, wrong)

        assert answer.status_code == 400
        assert f"/api/v1/webhooks/{right}" in answer.json()["message"]
    assert not AlertSession.objects.exists()


@pytest.mark.parametrize("source", ["alertmanager", "grafana"])
def test_the_least_that_a_person_writes_is_taken_at_either_address(post, source):
    """As docs/alert-sources.md prints it."""
    labels = {"alertname": "DiskFull", "severity": "critical"}
    alert = {"status": "firing", "labels": labels, "annotations": {"summary": "/var is 97 % full"}}

    answer = post({"alerts": [alert]}, source)

    assert answer.status_code == 202
    assert AlertSession.objects.get().incident.source == source


def test_a_post_that_looks_like_nothing_is_told_what_would_be_right(post):
    answer = post({"hello": "world"}, "pagerduty")

    assert answer.status_code == 400
    assert "`event.event_type`" in answer.json()["message"]


SENTRY_RESOLVED = {
    "action": "resolved",
    "data": {"issue": {"id": "1", "title": "KeyError", "status": "resolved"}},
}
AZURE_RESOLVED = {
    "schemaId": "azureMonitorCommonAlertSchema",
    "data": {"essentials": {"alertId": "a", "alertRule": "r", "monitorCondition": "Resolved"}},
}


@pytest.mark.parametrize(
    ("body", "source"),
    [
        (SENTRY_RESOLVED, "sentry"),
        (AZURE_RESOLVED, "azure_monitor"),
        (group(member()), "alertmanager"),
        ([{"labels": {"alertname": "A"}, "annotations": {}}], "prometheus"),
        ({"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": {"a": "b"}},
         "cloudevents"),
        ({"id": "1", "title": "[Triggered] x", "last_updated": "1", "event_type": "e",
          "alert_type": "error"}, "datadog"),
    ],
)  # fmt: skip
def test_the_intake_of_alerts_names_the_address_of_a_known_source(submit, body, source):
    answer = submit(body)

    assert answer.status_code == 400
    assert answer.json()["field"] == "body"
    assert answer.json()["message"].endswith(f"send it to /api/v1/webhooks/{source}")
    assert not AlertSession.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {"data": group(member())},
        {"data": SENTRY_RESOLVED, "alert_type": "kubernetes"},
        {"data": "text", "status": "firing", "title": "mine", "severity": "high"},
    ],
)
def test_the_intake_of_alerts_takes_its_own_form_as_before(submit, body):
    assert submit(body).status_code == 202


def test_a_wrapped_post_has_the_title_that_its_source_gives_it(submit):
    submit({"data": {"AlarmName": "cpu-high", "NewStateValue": "ALARM", "AWSAccountId": "1",
                     "AlarmDescription": "CPU of ledger"}})  # fmt: skip

    assert AlertSession.objects.get().title == "cpu-high: CPU of ledger"


# ---- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["", "alertmanager", "datadog"])
@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b"7", b'"text"', b"true", b"[null, 1, []]", b"<html></html>",
     b"\xff\xfe\xfd", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 200_000,
     b'{"a":' * 40 + b"1" + b"}" * 40],
)  # fmt: skip
def test_what_holds_no_alert_is_refused(post, body, source):
    answer = post(body, source)

    assert answer.status_code == 400
    assert answer.json()["field"]
    assert not AlertSession.objects.exists()


FIRES = json.dumps(group(member())).encode()


@pytest.mark.parametrize(
    ("body", "content_type", "headers"),
    [
        (FIRES, "text/plain; charset=UTF-8", {}),
        (FIRES, "application/octet-stream", {}),
        (FIRES, "application/x-www-form-urlencoded", {}),
        (urlencode({"payload": FIRES.decode()}).encode(), "application/x-www-form-urlencoded", {}),
        (b"\xef\xbb\xbf" + FIRES, "application/json", {}),
        (FIRES.decode().encode("utf-16"), "application/json; charset=utf-16", {}),
        (FIRES.decode().encode("latin-1"), "application/json; charset=iso-8859-1", {}),
        (gzip.compress(FIRES), "application/json", {"content_encoding": "gzip"}),
        (gzip.compress(FIRES), "application/json", {}),
    ],
)
def test_a_post_is_read_however_it_is_packed(post, body, content_type, headers):
    answer = post(body, content_type=content_type, **headers)

    assert answer.status_code == 202
    assert outcomes(answer) == ["started"]


def test_a_template_may_say_a_thing_twice_but_not_two_things(post):
    twice = b'{"State": "OPEN", "PID": "1", "ProblemTitle": "CPU", "State": "%s"}'

    assert outcomes(post(twice % b"OPEN", "dynatrace")) == ["started"]
    assert post(twice % b"RESOLVED", "dynatrace").json()["message"] == (
        'body: has the key "State" twice in one object'
    )


def test_a_form_of_fields_is_an_object_of_them(post):
    fields = {"NOTIFICATIONTYPE": "PROBLEM", "HOSTNAME": "edge-3", "HOSTSTATE": "DOWN"}

    answer = post(urlencode(fields).encode(), content_type="application/x-www-form-urlencoded")

    assert (answer.json()["source"], outcomes(answer)) == ("nagios", ["started"])


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "status"),
    [
        (b"a=b&a=d", "application/x-www-form-urlencoded", {}, 400),
        (b'<a href="x">down</a>', "application/x-www-form-urlencoded", {}, 400),
        (b"down", "application/x-www-form-urlencoded", {}, 400),
        (FIRES, "application/json; charset=klingon", {}, 400),
        (FIRES, "application/json; charset=base64", {}, 400),
        (FIRES, "application/json; charset=undefined", {}, 400),
        (b"-" + b"a" * 900_000, "application/json; charset=punycode", {}, 400),
        (b"a" * 900_000, "application/json; charset=idna", {}, 400),
        (FIRES, "application/json; charset=unicode_escape", {}, 400),
        (FIRES, "application/json", {"content_encoding": "br"}, 400),
        (FIRES, "application/json", {"content_encoding": "gzip"}, 400),
        (gzip.compress(FIRES)[:-9], "application/json", {"content_encoding": "gzip"}, 400),
        (b" " * (POST_LIMIT + 1), "application/json", {}, 413),
    ],
)
def test_what_cannot_be_unpacked_is_refused(post, body, content_type, headers, status):
    answer = post(body, content_type=content_type, **headers)

    assert (answer.status_code, answer.json()["field"]) == (status, "body")


def test_what_unpacks_to_hundreds_of_megabytes_is_refused(post):
    answer = post(gzip.compress(b" " * 300_000_000, 1), content_type="application/json")

    assert (answer.status_code, answer.json()["field"]) == (413, "body")


@pytest.mark.parametrize("moment", [int("9" * 400), -int("9" * 400), 1.7e308])
def test_a_moment_that_no_calendar_holds_is_none(post, moment):
    answer = post(group({**member(), "startsAt": moment, "endsAt": moment}))

    assert (answer.status_code, outcomes(answer)) == (202, ["started"])


def test_a_post_of_exactly_one_mebibyte_is_taken(post):
    empty = json.dumps(group({**member(), "note": ""})).encode()
    body = group({**member(), "note": "x" * (POST_LIMIT - len(empty))})

    answer = post(body)

    assert answer.status_code == 202
    assert "the end of the post" in AlertSession.objects.get().alert_data


def test_five_thousand_alerts_are_one_session_with_some_of_them(post):
    many = [{"status": "firing", "labels": {"alertname": "A"}, "fingerprint": f"f{n}"}
            for n in range(5_001)]  # fmt: skip

    answer = post(group(*many))

    session = AlertSession.objects.get()
    assert len(answer.json()["alerts"]) == 5_000
    assert answer.json()["left_out"] == ["1 of 5,001 alerts"]
    assert session.title == "A and 4,999 more"
    assert len(json.loads(session.alert_data)["alerts"]) == 50
    assert "4,950 of 5,000 alerts that fire" in json.loads(session.alert_data)["left_out"]


def test_ten_thousand_labels_are_cut_and_told(post):
    labels = {f"l{n}": str(n) for n in range(10_000)}
    body = group({"status": "firing", "labels": {"alertname": "A", **labels}})

    first, second = post(body), post(body)

    [alert] = first.json()["alerts"]
    assert alert["left_out"] == "9,901 of 10,001 labels"
    assert alert["key"].startswith("sha256:")
    assert alert["key"] == second.json()["alerts"][0]["key"]


def test_one_bad_member_takes_none_of_the_others(post):
    answer = post(group(7, None, member("A"), {}))

    assert outcomes(answer) == ["started"]
    assert [each["place"] for each in answer.json()["unreadable"]] == [
        "alerts[0]",
        "alerts[1]",
        "alerts[3]",
    ]


def test_a_post_of_nothing_but_bad_members_is_refused_by_the_first(post):
    answer = post(group(7, None))

    assert answer.status_code == 400
    assert answer.json()["field"] == "alerts[0]"


@pytest.mark.parametrize(
    "moment",
    ["2026-11-21T07:00:00", "2026-11-21", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
     "9999-12-31T23:59:59.999999-12:00", "yesterday", "", None, -1, 1e308, True, [], {}],
)  # fmt: skip
def test_no_odd_time_costs_the_alert(post, moment):
    alert = {**member(), "startsAt": moment, "endsAt": None}

    assert outcomes(post(group(alert))) == ["started"]


def test_invisible_characters_stand_in_no_title_and_no_odd_text_in_a_row(post):
    inner = {"AlarmName": "cpu\u202e\u200bhigh\x00", "NewStateValue": "ALARM", "AlarmArn": "a\x00"}
    body = {"Type": "Notification", "MessageId": "m", "TopicArn": "t", "Message": json.dumps(inner)}

    answer = post(body)

    assert outcomes(answer) == ["started"]
    assert AlertSession.objects.get().title == "cpuhigh"


def test_a_number_that_no_row_can_keep_stays_as_it_was_written(post):
    inner = '{"AlarmName": "cpu", "NewStateValue": "ALARM", "least": 1e999, "most": -1e999}'
    body = {"Type": "Notification", "MessageId": "m", "TopicArn": "t", "Message": inner}

    post(body)

    [alarm] = json.loads(AlertSession.objects.get().alert_data)["alerts"]
    assert (alarm["least"], alarm["most"]) == ("1e999", "-1e999")


def test_a_post_about_what_somebody_else_holds_is_told_to_come_again(post, db, monkeypatch):
    monkeypatch.setattr(known, "LOCK_PATIENCE", "100ms")
    other = connection.copy()
    told = group(member("DiskFull", instance="db-1"))

    try:
        with other.cursor() as cursor:
            number = known.number_of("alert", "alertmanager", "DiskFull-db-1")
            cursor.execute("SELECT pg_advisory_lock(%s)", [number])
        refused = post(told)
    finally:
        other.close()
    taken = post(told)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "nothing is kept" in refused.json()["message"]
    assert taken.status_code == 202
    assert Delivery.objects.count() == 1
