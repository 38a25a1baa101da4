"""Alerts that come in over REST, good and bad."""

import json
from dataclasses import replace
from io import BytesIO

import pytest
import redis
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import get_config, use_config
from investigations.api.parsing import BODY_LIMIT
from investigations.chain_plan import count_stages
from investigations.doorbell import ring_channel, stream_channel
from investigations.models import AlertSession, Event
from investigations.services import queue_room
from tests.factories import SessionFactory

RUNBOOK = "https://github.com/acme-demo/runbooks/blob/main/disk.md"


def test_accepted_alert_is_a_pending_session_with_its_first_event(submit):
    answer = submit({"data": "disk full on node-17", "alert_type": "kubernetes"})

    session = AlertSession.objects.get()
    assert answer.status_code == 202
    assert answer.json()["session_id"] == str(session.pk)
    assert answer.json()["status"] == "queued"
    assert answer.headers["Location"] == f"/api/v1/sessions/{session.pk}"
    assert answer.json()["url"] == f"http://localhost/sessions/{session.pk}/"
    assert (session.status, session.last_seq, session.author) == ("pending", 1, "api-client")
    event = Event.objects.get(session=session)
    assert (event.seq, event.payload["db_event_id"]) == (1, 1)
    assert (event.payload["type"], event.payload["status"]) == ("session.status", "pending")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"dat": {"a": 1}}, 'there is no field "dat", did you mean "data"?'),
        ({"Data ": "x", "data": {}}, 'there is no field "Data", did you mean "data"?'),
        ({"note": "x"}, "JSON; a document of another form goes to /api/v1/webhooks"),
        ({"data": ""}, "must not be blank"),
        ({"data": []}, "send the alert as text or as JSON"),
    ],
)
def test_a_misspelt_field_is_named_where_the_alert_is_missing(submit, body, told):
    answer = submit(body)

    assert (answer.status_code, answer.json()["field"]) == (400, "data")
    assert answer.json()["message"].endswith(told)


def test_of_a_body_with_many_fields_only_the_first_are_compared(submit, monkeypatch):
    compared: list[str] = []

    def compare(name: str, _known: object) -> str:
        compared.append(name)
        return ""

    monkeypatch.setattr("investigations.services.intake.find_near", compare)

    answer = submit({f"field{number}": 1 for number in range(5_000)})

    assert answer.status_code == 400
    assert len(compared) == 50


@pytest.mark.parametrize(
    "others",
    [
        {"id": "cpu:host=w1", "message": "cpu is fine", "level": "OK", "previousLevel": "CRITICAL"},
        {"event": {"id": "e2", "type": "incident.resolved"}},
        {"status": "Recovered", "check": "api"},
    ],
)
def test_a_document_that_tells_the_end_of_an_alert_is_not_half_understood(submit, others):
    answer = submit({"data": {"title": "API is slow"}, **others})

    assert (answer.status_code, answer.json()["field"]) == (400, "body")
    assert answer.json()["message"].endswith("send it to /api/v1/webhooks")
    assert AlertSession.objects.count() == 0


@pytest.mark.parametrize(
    "body",
    [
        {"data": "The backup wrote nothing.", "status": "success", "job": "backup"},
        {"data": "Queue grows", "open": False},
        {"data": {"queue": "orders"}, "alert_type": "kubernetes", "state": "ok"},
    ],
)
def test_an_alert_in_our_form_is_taken_whatever_its_sender_adds(submit, body):
    answer = submit(body)

    assert answer.status_code == 202
    assert "no field has this name" in answer.json()["message"]


def test_session_knows_how_many_stages_its_chain_will_have(submit):
    submit({"data": "disk full"})

    chain = get_config().chain_for(get_config().default_alert_type)
    assert chain is not None
    assert AlertSession.objects.get().total_stages == count_stages(chain)


def test_json_data_is_stored_readable_and_gives_the_title(submit):
    alert = {"status": "firing", "labels": {"alertname": "DiskFull", "host": "nöde-17"}}

    submit({"data": alert})

    session = AlertSession.objects.get()
    assert json.loads(session.alert_data) == alert
    assert '\n  "labels"' in session.alert_data
    assert "nöde" in session.alert_data
    assert session.title == "DiskFull"


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ("\n\n  disk full\non node-17", "disk full"),
        ({"alerts": [{"annotations": {"summary": "Disk\n is full"}}]}, "Disk is full"),
        ('{"title": "Disk is full"}', "Disk is full"),
        ([{"name": "first"}, {"name": "second"}], "first"),
        ({"value": 3}, "value 3"),
        ("{" * 300, ""),
        ("x" * 1000, "x" * 299 + "…"),
    ],
)
def test_title_is_what_the_alert_calls_itself(submit, data, title):
    submit({"data": data})

    assert AlertSession.objects.get().title == title


def test_secrets_never_reach_the_row(submit):
    secret = "ghp_" + "Zx8Qw2Lm5Rt9Yb3Nc7Vd1Kf6Hs4Jg0PaTuEi"

    submit({"data": f"push failed with {secret}"})

    session = AlertSession.objects.get()
    assert secret not in session.alert_data + session.title
    assert "push failed" in session.alert_data


def test_both_names_of_the_selection_are_kept_alike(submit):
    chosen = {"servers": [{"name": "kubernetes-server", "tools": ["pods_list"]}]}

    assert submit({"data": "x", "mcp": chosen}).status_code == 202
    assert submit({"data": "x", "mcp_selection": chosen}).status_code == 202

    stored = AlertSession.objects.values_list("mcp_selection", flat=True)
    assert list(stored) == [chosen, chosen]


def test_everything_optional_is_kept(submit):
    submit({"data": "x", "runbook": RUNBOOK, "slack_message_fingerprint": "alert-1"})

    session = AlertSession.objects.get()
    assert (session.runbook_url, session.slack_message_fingerprint) == (RUNBOOK, "alert-1")


def test_fields_that_nobody_knows_are_ignored_and_named(submit):
    answer = submit({"data": "x", "alert-type": "kubernetes", "": 1, "a" * 90: [{"b": None}]})

    assert answer.status_code == 202
    assert AlertSession.objects.get().alert_type == get_config().default_alert_type
    assert answer.json()["message"].endswith(f"no field has this name: alert-type, , {'a' * 60}")


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=UTF-8",
     "application/vnd.alert+json"],
)  # fmt: skip
def test_json_is_read_under_the_types_that_senders_use(submit, content_type):
    assert submit({"data": "x"}, content_type=content_type).status_code == 202


BAD = [
    (b"", "body"),
    (b"disk full", "body"),
    (b'{"data": "x"', "body"),
    (b"[]", "body"),
    (b'"text"', "body"),
    (b'{"data": "x"}{}', "body"),
    (b'{"data": "\xff"}', "body"),
    ("{}".encode("utf-16"), "body"),
    (b'{"data": NaN}', "body"),
    (b'{"data": [-Infinity]}', "body"),
    (b'{"data": 1e400}', "body"),
    (b'{"data": ' + b"7" * 10_000 + b"}", "body"),
    (b'{"data": 0.' + b"7" * 10_000 + b"}", "body"),
    (b'{"data": "x", "data": "y"}', "body"),
    (b'{"data": {"a": {"b": 1, "b": 2}}}', "body"),
    (b'{"data": ' + b"[" * 1000 + b"]" * 1000 + b"}", "body"),
    (b'{"data": ' + b"[" * 33 + b"]" * 33 + b"}", "body"),
    (b'{"data": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "body"),
    (b'{"data": "a\\u0000b"}', "data"),
    (b'{"data": {"a": [{"b": "\\ud800"}]}}', "data.a[0].b"),
    (b'{"data": {"\\udfff": 1}}', "data.?"),
    (b'{"data": "x", "runbook": "https://github.com/\\u0000"}', "runbook"),
    (b"{}", "data"),
    (b'{"data": null}', "data"),
    (b'{"data": {}}', "data"),
    (b'{"data": []}', "data"),
    (b'{"data": " \\t\\u2028\\u200b"}', "data"),
    (b'{"data": "x", "alert_type": "kuberntes"}', "alert_type"),
    (b'{"data": "x", "alert_type": 5}', "alert_type"),
    (b'{"data": "x", "mcp": "ops"}', "mcp"),
    (b'{"data": "x", "mcp": {"servers": [{"name": "nope"}]}}', "mcp.servers[0].name"),
    (b'{"data": "x", "mcp": {}, "mcp_selection": {}}', "mcp_selection"),
    (b'{"data": "x", "runbook": "http://github.com/a"}', "runbook"),
    (b'{"data": "x", "runbook": "https://github.com.evil.example/a"}', "runbook"),
    (b'{"data": "x", "runbook": "https://evil.example\\\\@github.com/a"}', "runbook"),
    (b'{"data": "x", "runbook": "https://github.com:8443/a"}', "runbook"),
    (b'{"data": "x", "runbook": "https://u:p@github.com/a"}', "runbook"),
    (b'{"data": "x", "slack_message_fingerprint": 5}', "slack_message_fingerprint"),
    (
        b'{"data": "x", "slack_message_fingerprint": "%s"}' % (b"x" * 4_001),
        "slack_message_fingerprint",
    ),
]


@pytest.mark.parametrize(("body", "field"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_names_its_field_and_changes_nothing(submit, body, field):
    answer = submit(body)

    assert answer.status_code == 400
    assert answer.json()["field"] == field
    assert field in answer.json()["message"]
    assert not AlertSession.objects.exists()


@pytest.mark.timeout(60)
def test_key_that_comes_twice_is_found_among_very_many(submit):
    # Each name compared with each other took a web process for minutes.
    many = ",".join(f'"{number}": 0' for number in range(150_000))
    response = submit(f'{{"data": {{{many}, "last": 0, "last": 0}}}}'.encode())
    assert response.status_code == 400
    assert 'the key \\"last\\" twice' in response.content.decode()


def test_near_misses_are_named(submit):
    assert "kubernetes" in submit({"data": "x", "alert_type": "kuberntes"}).json()["message"]
    assert "data" in submit({"Data": "x"}).json()["message"]
    assert "runbook" in submit({"data": "x", "runbook_url": RUNBOOK}).json()["message"]


@pytest.mark.parametrize("levels", [1, 20, 32])
def test_nesting_is_fine_to_32_levels(submit, levels):
    assert submit(b'{"data": ' + b"[" * levels + b"1" + b"]" * levels + b"}").status_code == 202


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"data": "' + b"x" * 2**20 + b'"}', 202, None),
        (b'{"data": "' + b"x" * (2**20 + 1) + b'"}', 413, "data"),
        (b'{"data": "' + "é".encode() * (2**19 + 1) + b'"}', 413, "data"),
        (b'{"data": ["' + b"x" * 2**20 + b'"]}', 413, "data"),
        (b'{"data": "small"}' + b" " * (2**21 - 17), 202, None),
        (b'{"data": "small"}' + b" " * (2**21 - 16), 413, "body"),
        (b"no json " * 2**19, 413, "body"),
    ],
    ids=["1 MiB", "1 MiB + 1", "in bytes", "in a list", "2 MiB body", "2 MiB + 1", "4 MiB"],
)
def test_sizes_are_bounded(submit, body, status, field):
    answer = submit(body)

    assert answer.status_code == status
    assert answer.json().get("field") == field
    assert AlertSession.objects.count() == (status == 202)


def test_deep_indentation_does_not_multiply_what_is_stored(submit):
    body = b'{"data": ' + b"[" * 31 + b"0" + b",0" * 200_000 + b"]" * 31 + b"}"

    assert submit(body).status_code == 202

    assert len(AlertSession.objects.get().alert_data) < 2 * 2**20


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "zstd"])
def test_compressed_bodies_are_refused(submit, encoding):
    answer = submit({"data": "x"}, **{"Content-Encoding": encoding})

    assert (answer.status_code, answer.json()["field"]) == (415, "body")
    assert not AlertSession.objects.exists()


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data; boundary=x", "application/xml", "application/json; charset=klingon"],
)
def test_other_content_types_are_refused(submit, content_type):
    assert submit({"data": "x"}, content_type=content_type).status_code == 415


@pytest.mark.parametrize(("count", "status"), [(1, 202), (BODY_LIMIT, 413)])
def test_chunked_body_is_read_to_its_end_and_no_further(api, count, status):
    body = BytesIO(b'{"data": "disk full"}' + b" " * count)

    answer = api.generic(
        "POST",
        "/api/v1/alerts",
        content_type="application/json",
        **{"wsgi.input": body, "wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )

    assert answer.status_code == status
    assert len(body.read()) < BODY_LIMIT


def test_full_queue_answers_429_and_when_to_come_back(submit):
    config = get_config()
    queue = config.queue.model_copy(update={"max_queue_size": 2})
    SessionFactory.create_batch(2)
    SessionFactory(completed=True)

    with use_config(type(config)(**{**vars(config), "queue": queue})):
        answer = submit({"data": "x"})

    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["detail"] == {
        "error": "Queue full",
        "message": answer.json()["message"],
        "queue_size": 2,
        "max_queue_size": 2,
    }
    assert AlertSession.objects.count() == 3


@pytest.mark.parametrize(("limit", "looks"), [(10_000, 1), (100, 4)])
def test_alerts_share_one_look_at_a_queue_that_is_far_from_full(submit, monkeypatch, limit, looks):
    config = get_config()
    queue = config.queue.model_copy(update={"max_queue_size": limit})
    monkeypatch.setattr(queue_room, "_room", queue_room._Room())
    monkeypatch.setattr(queue_room.time, "monotonic", lambda: 1.0)

    with use_config(replace(config, queue=queue)), CaptureQueriesContext(connection) as captured:
        answers = [submit({"data": "x"}).status_code for _ in range(4)]

    asked = [query["sql"] for query in captured if "pg_advisory_xact_lock" in query["sql"]]
    assert answers == [202] * 4
    assert len(asked) == looks


@pytest.mark.django_db(transaction=True)
def test_stored_alert_rings_and_is_told_only_after_commit(submit):
    with redis.Redis.from_url(django_settings.REDIS_URL) as client, client.pubsub() as pubsub:
        pubsub.subscribe(ring_channel(), stream_channel("sessions"))
        for _ in range(2):
            pubsub.get_message(timeout=5)

        session_id = submit({"data": "x"}).json()["session_id"]

        told = [pubsub.get_message(timeout=5) for _ in range(2)]
    by_channel = {message["channel"].decode(): message["data"] for message in told}
    assert by_channel[ring_channel()] == b"1"
    status = json.loads(by_channel[stream_channel("sessions")])
    assert (status["session_id"], status["status"]) == (session_id, "pending")
    assert "db_event_id" not in status
