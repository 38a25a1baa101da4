"""Events and messages of AWS fire unless they say themselves that something is over."""

import pytest

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post

TASK = {"lastStatus": "RUNNING", "desiredStatus": "RUNNING"}


def on_bus(source: str, detail: dict[str, object]) -> AlertReading:
    event = {
        "id": "e-1",
        "detail-type": "State Change",
        "source": source,
        "resources": ["arn:aws:ecs:eu-central-1:111122223333:task/c/1"],
        "detail": detail,
    }
    return read_post(Post(event)).alerts[0]  # type: ignore[arg-type]  # JSON, as written above


def of_topic(subject: str, message: str) -> AlertReading:
    sent: dict[str, object] = {
        "Type": "Notification",
        "MessageId": "m-1",
        "TopicArn": "arn:aws:sns:eu-central-1:111122223333:ops",
        "Subject": subject,
        "Message": message,
    }
    return read_post(Post(sent)).alerts[0]  # type: ignore[arg-type]  # JSON, as written above


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("aws.ecs", TASK | {"healthStatus": "UNHEALTHY"}),
        ("aws.ecs", TASK | {"desiredStatus": "STOPPED", "stoppedReason": "failed health checks"}),
        ("aws.ecs", {"lastStatus": "DEPROVISIONING", "desiredStatus": "STOPPED"}),
        ("aws.ecs", {"lastStatus": "RUNNING"}),
        ("aws.ecs", TASK | {"status": "FAILED"}),
        ("aws.ecs", {"eventType": "ERROR", "eventName": "SERVICE_DEPLOYMENT_COMPLETED"}),
        ("my.app", {"lastStatus": "FAILED", "title": "db down"}),
        ("my.app", TASK | {"status": "FAILED", "severity": "critical"}),
        ("my.app", TASK | {"title": "Queue of orders grows"}),
        ("my.app", {"eventType": "INFO", "eventName": "DATABASE_FAILOVER", "severity": "high"}),
        ("my.app", {"eventType": "INFO", "eventName": "BACKUP_COMPLETED", "status": "FAILED"}),
        ("my.app", {"status": "succeeded", "title": "Login from abroad", "severity": "high"}),
        ("my.app", {"status": "running", "healthStatus": "UNHEALTHY"}),
    ],
)
def test_an_event_fires_that_does_not_say_that_all_is_well(source, detail):
    assert on_bus(source, detail).state == "firing"


@pytest.mark.parametrize(
    ("detail", "state"),
    [
        (TASK | {"healthStatus": "HEALTHY"}, "resolved"),
        (TASK, "resolved"),
        (TASK | {"lastStatus": "PENDING"}, "other"),
        ({"eventType": "INFO", "eventName": "SERVICE_STEADY_STATE"}, "resolved"),
        ({"eventType": "INFO", "eventName": "SERVICE_DEPLOYMENT_IN_PROGRESS"}, "other"),
    ],
)
def test_a_task_or_a_service_that_is_as_it_should_be_begins_nothing(detail, state):
    assert on_bus("aws.ecs", detail).state == state


def test_a_message_without_a_subject_has_one_key_from_start_to_end():
    fires, ends = of_topic("", "FIRING: disk full on a"), of_topic("", "RESOLVED: disk full on a")

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert fires.key == ends.key
    assert of_topic("", "FIRING: disk full on b").key != fires.key


def test_messages_without_a_subject_that_begin_alike_are_two_alerts():
    assert of_topic("", "FIRING: disk\nhost a").key != of_topic("", "FIRING: disk\nhost b").key


@pytest.mark.parametrize(
    "message",
    [
        "[FIRING] cpu\n[RESOLVED] disk",
        "[RESOLVED] disk\n - [FIRING:1] cpu",
        "disk: fine\n1. FIRING: cpu",
        "**Firing**\n\nValue: 97",
        "Alerting: cpu of web-1",
    ],
)
def test_a_message_that_says_in_a_line_what_fires_is_not_over(message):
    assert of_topic("[RESOLVED] alerts digest", message).state == "firing"
    assert read_post(Post({"title": "[RESOLVED] digest", "text": message})).alerts[0].state == (
        "firing"
    )


@pytest.mark.parametrize(
    "message",
    ["Disk is no longer firing", "Triggered: 10:05", "Firing: 2026-11-30T10:00:00Z", "Fire drill"],
)
def test_a_message_that_only_tells_when_it_fired_is_over(message):
    assert of_topic("[RESOLVED] disk full on a", message).state == "resolved"


@pytest.mark.parametrize(
    ("subject", "state"),
    [
        ("[RESOLVED] CRITICAL: disk full", "resolved"),
        ("RESOLVED: Host DOWN: web-1", "resolved"),
        ("[ONLINE] shop: checkout fails", "firing"),
        ("No nodes RECOVERED", "firing"),
        ("UP: false", "firing"),
        ("[CLOSED] Fire door", "firing"),
    ],
)
def test_a_subject_is_over_only_where_its_marker_says_so(subject, state):
    assert of_topic(subject, "Sent by cron").state == state
