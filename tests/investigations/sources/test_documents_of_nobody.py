"""What is read in posts of senders that nobody knows: each calls its fields what it will."""

import tracemalloc
from datetime import datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.schema.alert_sources import AlertSourceConfig
from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post, read_post_of


def read(**body: object) -> AlertReading:
    return read_post(Post(body)).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


def test_the_key_says_which_fields_it_is_made_of():
    down = read(sensor_id="7", probe="eu", status="down", message="timed out", took="3 s")
    up = read(sensor_id="7", probe="eu", status="up", message="fine", took="")

    assert down.key == up.key
    assert down.key_from == ("sensor_id", "probe")
    assert read(Alert_ID="a-1", status="down").key_from == ("Alert_ID",)
    assert read(text="something broke").key_from == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"check": "disk", "status": "down", "mount": "/a"}, {"check": "disk", "mount": "/b"}),
        ({"rule": "r", "out": {"k8s.pod.name": "a"}}, {"rule": "r", "out": {"k8s.pod.name": "b"}}),
        ({"rule": "r", "out": {"a.name": "x"}}, {"rule": "r", "out": {"b.name": "x"}}),
        ({"monitor_id": 1, "status": "down"}, {"monitor_id": 2, "status": "down"}),
        ({"rule": "r", "port": 5432}, {"rule": "r", "port": 5433}),
        ({"text": "full", "account": "123456789012"}, {"text": "full", "account": "123456789013"}),
        ({"text": "disk of a is full"}, {"text": "disk of b is full"}),
        (
            {"id": "1", "host": "b c", "status": "open"},
            {"id": "1 b", "host": "c", "status": "open"},
        ),
        ({"host": "a", "status": "full"}, {"host": "b", "status": "full"}),
    ],
)
def test_different_alerts_have_different_keys(first, second):
    assert read(**first).key != read(**second).key


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"alert_id": 42, "status": "open"}, {"incident_id": 42, "status": "open"}),
        ({"monitor": {"id": 42}, "status": "down"}, {"incident": {"id": 42}, "status": "open"}),
        ({"id": "42", "status": "open"}, {"problem": {"id": "42"}, "status": "open"}),
        (
            {"id": 42, "plant": "north", "status": "on"},
            {"id": 42, "plant": "south", "status": "on"},
        ),
        (
            {"alert_id": 42, "tenant": "pumps", "status": "open"},
            {"alert_id": 42, "tenant": "shop", "status": "open"},
        ),
        (
            {"rule": {"id": "7", "level": 9}, "agent": {"id": "1"}},
            {"rule": {"id": "7", "level": 9}, "agent": {"id": "2"}},
        ),
    ],
)
def test_things_of_two_kinds_with_one_number_have_two_keys(first, second):
    assert read(**first).key != read(**second).key


def test_an_incident_has_one_key_however_its_number_is_told():
    opened = read(incident={"id": 42, "title": "Orders fail", "status": "open"})
    closed = read(incident_id=42, message="fine", status="closed")

    assert opened.key == closed.key == "42 incidentid"


def test_a_number_that_was_measured_is_no_part_of_the_key_of_a_whole_document():
    slow = {"app": "shop", "metric": "latency"}

    assert read(**slow, value=833).key == read(**slow, value=133, state="resolved").key
    assert read(**slow, value="eu").key != read(**slow, value="us").key
    assert read(**slow, port=833).key != read(**slow, port=133).key


def test_changes_of_a_state_are_no_part_of_a_key():
    first = read(monitor="pay", transition="OK -> CRITICAL")

    assert first.key == read(monitor="pay", transition="CRITICAL -> OK").key
    assert first.key != read(monitor="cart", transition="CRITICAL -> OK").key


def test_a_severity_under_a_longer_name_counts_for_want_of_a_better_one():
    told = {"detections.severity": "High", "detections.technique": "Credential dumping"}

    assert read(data=told).severity == "high"
    assert read(data=told, severity="low").severity == "info"
    assert read(data={"previous_severity": "High"}, title="x").severity == "unknown"


def test_an_id_that_is_an_object_is_a_key():
    raised, cleared = (
        read(id={"entityType": "ALARM", "id": "784f394c"}, type="Heat", status=state, endTs=when)
        for state, when in (("ACTIVE_UNACK", 0), ("CLEARED_UNACK", 1795939200000))
    )

    assert (raised.state, cleared.state) == ("firing", "resolved")
    assert raised.key == cleared.key == "784f394c"


def test_updates_of_an_incident_without_a_word_for_its_state_have_one_key():
    first, second = (
        read(page={"id": "1"}, incident={"id": "98765432", "name": "DB", "updates": [text]})
        for text in ("We look", "We still look")
    )

    assert first.key == second.key


def test_a_post_that_differs_in_its_moment_alone_tells_the_same_again():
    first = read(text="disk of a is full", at="2026-11-29T10:00:00Z")

    assert first.key == read(text="disk of a is full", at="2026-11-29T10:05:00Z").key


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Slow checkout", "status": "TRIGGERED", "is_test": True},
        {"event_name": "test", "data": {"message": "It works!"}},
        {"text": "Hello World! This is a test message sent from our console."},
        {"title": "Test notification", "status": "firing"},
    ],
)
def test_a_test_of_the_sender_is_one(body):
    assert read(**body).state == "test"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "End-to-end test alert pipeline is broken"},
        {"title": "Test of backups failed"},
        {"event": "auto_resolve_failed", "name": "Ticket 7"},
        {"title": "Disk is full", "severity": "critical", "backup": {"status": "ok"}},
        {"title": "Disk is full", "previous_state": "ok"},
        {"message": "Backup broke", "backup_state": "done"},
        {"alert": "Order service fails", "order": {"id": 7, "status": "closed"}},
        {"alert": "Order service fails", "data": {"order": {"id": 7, "status": "closed"}}},
        {"source": "shop", "text": "order stuck", "order": {"status": "closed"}},
        {"text": "order stuck", "order": {"status": "acknowledged"}},
        {"title": "Synthetic test event for login failed", "severity": "critical"},
        {"title": "Load test alert: error rate 40% in checkout"},
        {"title": "Payments test alert - not delivered to the bank"},
        {"title": "Test notification", "severity": "critical"},
    ],
)
def test_what_only_looks_like_a_test_or_an_end_fires(body):
    assert read(**body).state == "firing"


@pytest.mark.parametrize(
    "body",
    [
        {"event_type": "POLICY_CLOSE_CRITICAL", "name": "x"},
        {"triggerType": "ResolvedCritical", "name": "x"},
        {"alert": {"name": "x", "current": {"status": "CLEAR"}, "previous": {"status": "DOWN"}}},
        {"alert_event": "ALERT_STATE_EVENT_END", "name": "x", "data": {"severity": "ERROR"}},
    ],
)
def test_an_end_is_told_in_words_of_many_forms(body):
    assert read(**body).state == "resolved"


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({"zeit": "2026-11-29T10:00:00+02:00"}, None),
        ({"sent": "2026-11-29T10:09:00Z", "since": 1795946400}, "2026-11-29T10:00:00+00:00"),
        ({"event_time": "Sun Nov 29 10:00:00 UTC 2026"}, "2026-11-29T10:00:00+00:00"),
        ({"user": {"created_at": "2020-01-01T00:00:00Z"}, "size": 1795946400}, None),
        ({"updated_at": "2026-11-29T10:09:00Z"}, None),
        ({"incident": {"created_at": "2026-11-29T10:00:00Z"}}, "2026-11-29T10:00:00+00:00"),
    ],
)
def test_the_start_is_the_moment_that_says_so_by_name(fields, start):
    told = read(title="Pump stands still", **fields).starts_at

    assert told == (datetime.fromisoformat(start) if start else None)


@pytest.mark.parametrize(
    "fields",
    [
        {"created_at": "2020-01-01T00:00:00Z"},
        {"monitor": {"name": "x", "created_at": "2020-01-01T00:00:00Z"}},
        *(
            {name: "2020-01-01T00:00:00Z"}
            for name in (
                "last_backup",
                "last_login",
                "warranty_date",
                "member_since",
                "contract_begin",
                "subscription_start",
                "last_maintenance",
                "shift_start",
                "window_start",
            )
        ),
        {"contract": {"begin": "2020-01-01T00:00:00Z"}},
        {"last_backup": {"time": "2020-01-01T00:00:00Z"}},
        {"boot_time": "2020-01-01T00:00:00Z"},
        {"issue": {"first_seen": "2020-01-01T00:00:00Z", "last_seen": "2026-11-29T10:00:00Z"}},
    ],
)
def test_a_moment_that_is_the_same_when_the_alert_comes_back_is_not_its_start(fields):
    told = read(title="Pump stands still", **fields).starts_at

    assert told is None or told.year == 2026


def test_the_link_is_the_address_with_the_alerts_own_id():
    alert = read(
        monitor_id="m-7", status="down", url="https://shop.example.com",
        page="x", dashboard_link="https://status.example.com/monitors/m-7/summary",
    )  # fmt: skip

    assert alert.links.alert == "https://status.example.com/monitors/m-7/summary"


def test_an_operator_corrects_one_line_and_the_others_are_read_as_before():
    own = {
        "werk": AlertSourceConfig(state="zustand", resolved_when=("behoben",)),
        "keyed": AlertSourceConfig(key="[anlage, teil]"),
    }
    body = {"titel": "Pumpe 3 steht", "zustand": "ausgelöst", "anlage": "A", "teil": "P3"}
    over = body | {"zustand": "behoben"}

    fires, ends = (read_post_of("werk", Post(each), own).alerts[0] for each in (body, over))
    keyed = read_post_of("keyed", Post(body), own).alerts[0]

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert fires.key == ends.key
    assert fires.title == keyed.title == "Pumpe 3 steht"
    assert (keyed.key, keyed.key_from) == ("A P3", ())


@pytest.mark.parametrize(
    "body",
    [
        {"rule": "x", "K" * 20_000: [1] * 4_000},
        {"rule": "x", "K" * 1_900: [1] * 15_000},
        {"rule": "x", "K" * 1_900: {str(n): 1 for n in range(5_000)}},
        {"rule": "x", "title": ["word " * 250] * 2_000},
    ],
)
def test_a_post_takes_no_more_than_a_few_times_its_own_memory(body):
    read(**body)
    tracemalloc.start()
    read(**body)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 8_000_000


@pytest.mark.parametrize(
    "date",
    ["Mon, 01 Jan 2026 99999999999999999999:00:00 GMT", "Mon, 99 Jan 2026 10 GMT", "Mon GMT"],
)
def test_a_moment_that_cannot_be_is_none(date):
    assert read(title="x", date=date).starts_at is None


THINGS = (
    "host", "instance", "mac", "queue", "account", "cell", "shard", "region", "arn", "catalog",
    "uplink", "runtime", "country_code", "endpoint_url", "queue_url", "queueURL", "resource_link",
    "account_id", "tenant", "werk", "estate", "blog", "discount", "terror", "mount", "Anlage",
    "dialog", "candidate", "sublevel", "interface", "uplinkPort", "network.zone", "k8s-node",
    "rack", "upstream", "disk", "vip", "zoneId", "peer", "lifetime", "update", "threshold-name",
)  # fmt: skip
"""Names of what an alert may be about, among them some that end in the letters of another word."""
NAMES = (
    st.from_regex(r"[a-z]{1,8}-[0-9]{1,2}:[0-9]{2,5}", fullmatch=True)
    | st.from_regex(r"10\.0\.[0-9]{1,2}\.[0-9]{1,2}:[0-9]{2,4}", fullmatch=True)
    | st.from_regex(r"[0-9]{2}(:[0-9]{2}){5}", fullmatch=True)
    | st.from_regex(r"[0-9]{1,3}[A-Za-z]", fullmatch=True)
    | st.from_regex(r"[0-9]{8,14}", fullmatch=True)
    | st.from_regex(r"https://[a-z]{1,5}\.example\.com/[a-z]{1,5}", fullmatch=True)
    | st.from_regex(r"arn:aws:sqs:eu:1:[a-z]{90,110}/[a-z]{1,3}", fullmatch=True)
    | st.from_regex(r"orders[-./](new|open|closed|failed|up|down)", fullmatch=True)
    | st.sampled_from(("high", "low", "p1", "p2", "up", "down", "test", "new", "active", "ok", "a"))
    | st.integers(min_value=0, max_value=2_000_000_000)
)


@settings(max_examples=150)
@given(
    st.sampled_from(THINGS),
    st.sampled_from(("", "labels", "details", "error", "message", "run", "event", "ziel")),
    st.tuples(NAMES, NAMES).filter(lambda pair: str(pair[0]) != str(pair[1])),
)
@example("instance", "", ("10.0.0.5:80", "10.0.0.6:80"))
@example("instance", "", ("web-1:80", "db-1:22"))
@example("mac", "", ("00:11:22:33:44:55", "00:11:22:33:44:56"))
@example("mac", "", ("001122334455", "001122334456"))
@example("cell", "", ("12B", "14C"))
@example("shard", "labels", ("p1", "p2"))
def test_alerts_about_two_things_never_have_one_key(field, owner, pair):
    first, second = ({field: each} for each in pair)
    if owner:
        first, second = {owner: first}, {owner: second}

    about = {"rule": "Disk full", "status": "firing"}
    assert read(**about, **first).key != read(**about, **second).key


@pytest.mark.parametrize(
    ("fires", "ends"),
    [
        ({"severity": "high"}, {"severity": "info"}),
        ({"took": "3 s", "load": "95 %"}, {"took": "2h 3m", "load": "7 %"}),
        ({"when": "10:05", "responseTime": "12"}, {"when": "10:09", "responseTime": "2"}),
        ({"uhr": "2026-11-29T10:00:00Z"}, {"uhr": "2026-11-29T10:05:00Z"}),
        ({"at": "Sun Nov 29 10:00:00 UTC 2026"}, {"at": "Sun Nov 29 10:05:00 UTC 2026"}),
        ({"error_message": "timed out"}, {"error_message": "none"}),
        ({"event_type": "check.down"}, {"event_type": "check.up"}),
        ({"run": {"id": "17", "run_url": "https://x.example.com/17"}}, {"run": {"id": "18"}}),
    ],
)
def test_what_tells_how_it_is_this_time_is_no_part_of_the_key(fires, ends):
    about = {"rule": "Disk full", "host": "web-1"}

    first, second = (
        read(status="firing", **about, **fires),
        read(status="resolved", **about, **ends),
    )
    assert first.key == second.key


def test_what_an_operator_calls_firing_has_no_end():
    own = {"own": AlertSourceConfig(state="now")}
    body = {"title": "x", "now": "firing", "status": "resolved", "ends_at": "2026-11-29T10:00:00Z"}

    alert = read_post_of("own", Post(body), own).alerts[0]

    assert (alert.state, alert.ends_at) == ("firing", None)


def test_an_object_beside_the_alert_makes_no_key():
    first = read(alert="Order service fails", order={"id": 7, "status": "closed"})
    second = read(alert="Payment fails", order={"id": 7, "status": "closed"})

    assert first.key != second.key
