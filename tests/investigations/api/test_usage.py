"""What model calls took, summed over a window."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from investigations.models import AlertSession, LLMInteraction
from tests.factories import ExecutionFactory, LLMInteractionFactory, SessionFactory, StageFactory

URL = "/api/v1/usage/summary"
START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOW = {"start_date": START.isoformat(), "end_date": (START + timedelta(days=7)).isoformat()}


def make_session(*, day: float = 1, **fields) -> AlertSession:
    return SessionFactory(completed=True, created_at=START + timedelta(days=day), **fields)


def add_call(session: AlertSession, model: str, tokens: int, cost: float | None) -> LLMInteraction:
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    return LLMInteractionFactory(
        execution=execution, model_name=model, estimated_cost_usd=cost,
        input_tokens=tokens - 10, output_tokens=10, total_tokens=tokens,
    )  # fmt: skip


def test_a_window_is_summed_by_everything_the_contract_names(api):
    disk = make_session(alert_type="disk", chain_id="disks")
    pods = make_session(alert_type="pods", chain_id="cluster")
    make_session(alert_type="pods", chain_id="cluster")
    add_call(disk, "large", 100, 0.75)
    add_call(disk, "own", 1000, None)
    add_call(pods, "large", 300, 0.25)
    add_call(make_session(day=-1), "large", 70, 7.0)
    add_call(make_session(day=7), "large", 70, 7.0)
    add_call(make_session(deleted_at=START), "large", 70, 7.0)

    body = api.get(URL, WINDOW).json()

    assert body["window"] == {"start": "2026-03-01T00:00:00Z", "end": "2026-03-08T00:00:00Z"}
    assert (body["rank_by"], body["cost_estimation_enabled"]) == ("cost", True)
    assert body["totals"] == {
        "session_count": 3,
        "input_tokens": 1370,
        "output_tokens": 30,
        "total_tokens": 1400,
        "estimated_cost_usd": 1.0,
        "average_cost_usd": pytest.approx(1 / 3),
        "cost_completeness": "partial",
        "unpriced_interaction_count": 1,
        "unpriced_token_count": 1000,
    }
    large, own = body["by_model"]
    assert (large["model_name"], large["priced"], large["session_count"]) == ("large", True, 2)
    assert (own["model_name"], own["priced"], own["estimated_cost_usd"]) == ("own", False, None)
    assert own["unpriced_interaction_count"] == 1
    assert [each["alert_type"] for each in body["by_alert_type"]] == ["disk", "pods"]
    assert [each["session_count"] for each in body["by_alert_type"]] == [1, 2]
    assert [each["chain_id"] for each in body["by_chain"]] == ["disks", "cluster"]
    first, second = body["top_sessions"]
    assert (first["session_id"], first["total_tokens"]) == (str(disk.pk), 1100)
    assert set(second) >= {
        "session_id", "alert_type", "chain_id", "total_tokens", "estimated_cost_usd",
        "cost_completeness", "created_at",
    }  # fmt: skip


def test_filters_and_ranking(api):
    few, many = make_session(alert_type="disk"), make_session(alert_type="pods")
    add_call(few, "dear", 20, 5.0)
    add_call(many, "cheap", 2000, 0.1)

    by_tokens = api.get(URL, {**WINDOW, "rank_by": "tokens"}).json()
    only = api.get(URL, {**WINDOW, "alert_type": "disk"}).json()
    none = api.get(URL, {**WINDOW, "chain_id": "nothing"}).json()

    assert [each["model_name"] for each in by_tokens["by_model"]] == ["cheap", "dear"]
    assert by_tokens["top_sessions"][0]["session_id"] == str(many.pk)
    assert [each["model_name"] for each in only["by_model"]] == ["dear"]
    assert (none["totals"]["session_count"], none["by_model"]) == (0, [])
    assert none["totals"]["estimated_cost_usd"] is None
    assert none["totals"]["average_cost_usd"] is None


def test_at_most_twenty_sessions_are_named_and_the_queries_stay_the_same(api):
    add_call(make_session(), "large", 50, 0.5)
    with CaptureQueriesContext(connection) as one:
        api.get(URL, WINDOW)
    for number in range(21):
        add_call(make_session(), "large", 100 + number, 0.5)

    with CaptureQueriesContext(connection) as many:
        body = api.get(URL, WINDOW).json()

    assert [each["total_tokens"] for each in body["top_sessions"]] == list(range(120, 100, -1))
    assert len(many) == len(one)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"end_date": WINDOW["end_date"]}, "start_date"),
        ({"start_date": WINDOW["start_date"]}, "end_date"),
        ({**WINDOW, "start_date": WINDOW["end_date"]}, "start_date"),
        ({**WINDOW, "end_date": "2027-03-01T00:00:01Z"}, "end_date"),
        ({**WINDOW, "end_date": "soon"}, "end_date"),
        ({**WINDOW, "rank_by": "size"}, "rank_by"),
        ({**WINDOW, "alert_type": "\x00"}, "alert_type"),
    ],
)
def test_wrong_windows_are_named(api, query, field):
    answer = api.get(URL, query)

    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_whole_year_is_a_window(api):
    year = {"start_date": WINDOW["start_date"], "end_date": "2027-03-01T00:00:00Z"}

    assert api.get(URL, year).status_code == 200


def test_without_cost_estimation_tokens_rank_and_no_money_is_told(api, reconfigure):
    add_call(make_session(), "large", 50, 0.5)
    reconfigure("system: {cost_estimation: {enabled: false}}\n")

    body = api.get(URL, WINDOW).json()

    assert (body["cost_estimation_enabled"], body["rank_by"]) == (False, "tokens")
    assert "usd" not in str(body)
    assert "unpriced" not in str(body)
    assert "'priced'" not in str(body)
    assert api.get(URL, {**WINDOW, "rank_by": "cost"}).json()["field"] == "rank_by"
