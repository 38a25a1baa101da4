"""An alert that comes back after it was over is investigated again, as each source tells of it."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest

from config import get_config, use_config
from config.schema.incidents import IncidentsConfig
from investigations.models import Incident
from investigations.services.deliveries import take_delivery
from investigations.sources.reading import JSON, Post
from investigations.sources.registry import read_post_of

pytestmark = pytest.mark.django_db
DAY = "2026-11-21"
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with use_config(replace(get_config(), incidents=IncidentsConfig(group_wait="0s"))):
        yield


def pagerduty(kind: str, at: str) -> JSON:
    incident: JSON = {"id": "Q1", "title": "Disk full", "created_at": f"{DAY}T07:00:00Z"}
    event: JSON = {"id": f"e{at}", "event_type": f"incident.{kind}", "data": incident}
    return {"event": {**event, "occurred_at": f"{DAY}T{at}:00Z"}}  # type: ignore[dict-item]


def sentry(action: str, at: str) -> JSON:
    if action == "triggered":
        event: JSON = {"issue_id": "12", "title": "KeyError", "datetime": f"{DAY}T{at}:00Z"}
        return {"action": action, "data": {"event": event}}
    issue: JSON = {"id": "12", "title": "KeyError", "firstSeen": f"{DAY}T07:00:00Z"}
    return {"action": action, "data": {"issue": {**issue, "lastSeen": f"{DAY}T{at}:00Z"}}}  # type: ignore[dict-item]


def jira(change: str, at: str) -> JSON:
    over = change == "done"
    fields: JSON = {
        "summary": "Disk full",
        "created": f"{DAY}T07:00:00.000+0000",
        "resolutiondate": f"{DAY}T{at}:00.000+0000" if over else None,
        "status": {"statusCategory": {"key": "done" if over else "new"}},
    }
    items: JSON = [{"field": "resolution", "from": "1", "to": None}] if change == "back" else []
    event = "jira:issue_created" if change == "new" else "jira:issue_updated"
    moment = 1_795_244_400_000 + (int(at[:2]) - 7) * 3_600_000
    return {
        "webhookEvent": event, "timestamp": moment, "issue": {"key": "OPS-1", "fields": fields},
        "changelog": {"items": items},
    }  # fmt: skip


def dependabot(action: str, at: str) -> JSON:
    alert: JSON = {
        "number": 7,
        "created_at": f"{DAY}T07:00:00Z",
        "updated_at": f"{DAY}T{at}:00Z",
        "fixed_at": f"{DAY}T{at}:00Z" if action == "fixed" else None,
        "security_advisory": {"summary": "Overflow"},
    }
    return {"action": action, "alert": alert, "repository": {"full_name": "a/b"}}


def security_hub(state: str, at: str) -> JSON:
    finding: JSON = {
        "Id": "f1", "Title": "Bucket is open", "CreatedAt": f"{DAY}T07:00:00Z",
        "UpdatedAt": f"{DAY}T{at}:00Z", "Workflow": {"Status": state},
    }  # fmt: skip
    return {"detail-type": "Security Hub Findings - Imported", "source": "aws.securityhub",
            "detail": {"findings": [finding]}}  # fmt: skip


def service_now(state: str, at: str) -> JSON:
    record: JSON = {
        "sys_id": "9d3", "number": "INC1", "short_description": "Disk full", "state": state,
        "opened_at": f"{DAY} 07:00:00", "resolved_at": f"{DAY} {at}:00" if state == "6" else "",
        "reopened_time": f"{DAY} {at}:00" if state == "1" and at != "07:00" else "",
    }  # fmt: skip
    return record


LIVES = {
    "pagerduty": (pagerduty, ("triggered", "resolved", "reopened", "resolved")),
    "sentry": (sentry, ("created", "resolved", "unresolved", "resolved")),
    "sentry, by alerts of events": (sentry, ("triggered", "resolved", "triggered", "resolved")),
    "jira_sm": (jira, ("new", "done", "back", "done")),
    "github": (dependabot, ("created", "fixed", "reintroduced", "fixed")),
    "aws_eventbridge": (security_hub, ("NEW", "RESOLVED", "NEW", "RESOLVED")),
    "servicenow": (service_now, ("1", "6", "1", "6")),
}


@pytest.mark.parametrize("name", LIVES)
def test_what_fires_is_over_and_fires_again_is_told_so_each_time(name):
    make, told = LIVES[name]
    states: list[str] = []
    for number, word in enumerate(told):
        body = make(word, f"{7 + number:02}:00")
        reading = read_post_of(name.partition(",")[0], Post(body), {})
        take_delivery(reading, body={"n": next(_numbers)}, author="test")
        states.append(Incident.objects.latest("opened_at").state)

    assert states == ["firing", "recovered", "reopened", "recovered"]
    assert Incident.objects.count() == 1
