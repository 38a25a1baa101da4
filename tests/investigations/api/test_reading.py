"""What clients read: lists, one session, its timeline, what waits."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config import get_config
from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent
from tests.factories import (
    ChatFactory,
    ChatUserMessageFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
)

LIST = "/api/v1/sessions"
ITEM_FIELDS = set(
    [
        "id",
        "alert_type",
        "chain_id",
        "status",
        "author",
        "created_at",
        "started_at",
        "completed_at",
        "duration_ms",
        "error_message",
        "executive_summary",
        "llm_interaction_count",
        "mcp_interaction_count",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "estimated_cost_usd",
        "cost_completeness",
        "total_stages",
        "completed_stages",
        "has_parallel_stages",
        "has_sub_agents",
        "has_action_stages",
        "actions_executed",
        "chat_message_count",
        "provider_fallback_count",
        "current_stage_index",
        "current_stage_id",
        "matched_in_content",
        "latest_score",
        "scoring_status",
        "review_status",
        "assignee",
        "quality_rating",
        "action_taken",
        "investigation_feedback",
        "feedback_edited",
        "feedback_edited_by",
        "feedback_edited_at",
    ]
)
DETAIL_FIELDS = set(
    [
        "id",
        "alert_data",
        "alert_type",
        "status",
        "chain_id",
        "author",
        "error_message",
        "final_analysis",
        "executive_summary",
        "executive_summary_error",
        "runbook_url",
        "slack_message_fingerprint",
        "mcp_selection",
        "created_at",
        "started_at",
        "completed_at",
        "duration_ms",
        "chat_enabled",
        "chat_id",
        "chat_message_count",
        "total_stages",
        "completed_stages",
        "failed_stages",
        "has_parallel_stages",
        "has_action_stages",
        "actions_executed",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cost_estimation_enabled",
        "estimated_cost_usd",
        "cost_completeness",
        "unpriced_interaction_count",
        "llm_interaction_count",
        "mcp_interaction_count",
        "current_stage_index",
        "current_stage_id",
        "latest_score",
        "scoring_status",
        "score_id",
        "stages",
    ]
)
EXECUTION_FIELDS = set(
    [
        "execution_id",
        "agent_name",
        "agent_index",
        "status",
        "llm_backend",
        "llm_provider",
        "model_name",
        "started_at",
        "completed_at",
        "duration_ms",
        "error_message",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "parent_execution_id",
        "task",
        "original_llm_provider",
        "original_llm_backend",
        "original_model_name",
        "fallback_reason",
        "fallback_error_code",
        "fallback_attempt",
        "sub_agents",
    ]
)


def ids_of(answer) -> list[str]:
    return [item["id"] for item in answer.json()["sessions"]]


def make_rich_session() -> AlertSession:
    """Two stages, parallel agents, a sub-agent, calls, a fallback and a chat."""
    session = SessionFactory.create(completed=True)
    first = StageFactory(session=session, completed=True, parallel_type=Stage.Parallel.MULTI_AGENT)
    StageFactory(session=session, failed=True)
    agents = ExecutionFactory.create_batch(2, stage=first, completed=True)
    ExecutionFactory(stage=first, completed=True, parent_execution=agents[0], task="look at logs")
    LLMInteractionFactory(execution=agents[0], estimated_cost_usd=0.5)
    LLMInteractionFactory(execution=agents[1], estimated_cost_usd=None)
    MCPInteractionFactory.create_batch(3, execution=agents[0])
    TimelineEventFactory(
        execution=agents[1],
        event_type=TimelineEvent.Type.PROVIDER_FALLBACK,
        content="The provider answered 529.",
        metadata={"error_code": "provider_error", "attempt": 1},
    )
    ChatUserMessageFactory(chat=ChatFactory(session=session))
    return session


def test_list_item_has_every_field_of_the_contract(api):
    session = make_rich_session()

    body = api.get(LIST).json()

    (item,) = body["sessions"]
    assert set(item) >= ITEM_FIELDS
    assert item["id"] == str(session.pk)
    assert (item["llm_interaction_count"], item["mcp_interaction_count"]) == (2, 3)
    assert (item["input_tokens"], item["total_tokens"]) == (2400, 2560)
    assert (item["estimated_cost_usd"], item["cost_completeness"]) == (0.5, "partial")
    assert (item["completed_stages"], item["has_parallel_stages"]) == (1, True)
    assert (item["has_sub_agents"], item["provider_fallback_count"]) == (True, 1)
    assert (item["chat_message_count"], item["duration_ms"]) == (1, 180_000)
    assert item["error_message"] is None
    assert body["pagination"] == {"page": 1, "page_size": 25, "total_pages": 1, "total_items": 1}


def test_list_never_loads_alert_texts_and_costs_the_same_queries_for_any_number(api):
    make_rich_session()
    with CaptureQueriesContext(
        connection,
    ) as one:
        api.get(LIST)
    for _ in range(5):
        make_rich_session()

    with CaptureQueriesContext(connection) as six:
        assert len(ids_of(api.get(LIST))) == 6

    assert len(six) == len(one)
    assert not [query for query in six if '"alert_data"' in query["sql"]]


def test_list_pages_newest_first(api):
    now = timezone.now()
    sessions = [SessionFactory(created_at=now - timedelta(hours=n)) for n in range(5)]

    first = api.get(LIST, {"page_size": 2})
    last = api.get(LIST, {"page_size": 2, "page": 3})

    assert ids_of(first) == [str(s.pk) for s in sessions[:2]]
    assert ids_of(last) == [str(sessions[4].pk)]
    assert last.json()["pagination"]["total_pages"] == 3
    assert ids_of(api.get(LIST, {"page": 4, "page_size": 2})) == []


@pytest.mark.parametrize("size", ["0", "101", "-1", "x", "9" * 30])
def test_page_size_out_of_range_keeps_the_default(api, size):
    assert api.get(LIST, {"page_size": size}).json()["pagination"]["page_size"] == 25


def test_list_filters(api):
    now = timezone.now()
    wanted = SessionFactory(
        failed=True, alert_type="disk", chain_id="disks", created_at=now - timedelta(days=2)
    )
    SessionFactory(completed=True)
    SessionFactory(failed=True, deleted_at=now)

    only = [str(wanted.pk)]
    assert ids_of(api.get(LIST, {"status": "failed,timed_out"})) == only
    assert ids_of(api.get(LIST, {"alert_type": "disk"})) == only
    assert ids_of(api.get(LIST, {"chain_id": "disks"})) == only
    day = (now - timedelta(days=1)).isoformat()
    assert ids_of(api.get(LIST, {"end_date": day})) == only
    assert only[0] not in ids_of(api.get(LIST, {"start_date": day}))
    assert only[0] in ids_of(api.get(LIST, {"scoring_status": "not_scored"}))
    assert ids_of(api.get(LIST, {"assignee": "ada"})) == []
    assert ids_of(api.get(LIST, {"review_status": "reviewed"})) == []


def test_search_looks_into_alerts_reports_and_timelines(api):
    by_alert = SessionFactory(alert_data="100% of /var_x is used")
    by_report = SessionFactory(completed=True, final_analysis="The Kubelet evicts pods.")
    by_timeline = TimelineEventFactory(content="evicted pods were restarting").session
    SessionFactory()

    assert ids_of(api.get(LIST, {"search": "0% OF /VAR_"})) == [str(by_alert.pk)]
    assert ids_of(api.get(LIST, {"search": "kubelet"})) == [str(by_report.pk)]
    found = api.get(LIST, {"search": "restarted"}).json()["sessions"]
    assert [(i["id"], i["matched_in_content"]) for i in found] == [(str(by_timeline.pk), True)]


@pytest.mark.parametrize("key", ["status", "alert_type", "author", "duration", "score"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_every_sort_of_the_contract_works(api, key, order):
    SessionFactory(completed=True)
    SessionFactory(author="zed")

    answer = api.get(LIST, {"sort_by": key, "sort_order": order})

    assert len(ids_of(answer)) == 2
    if key == "author":
        names = [item["author"] for item in answer.json()["sessions"]]
        assert names == sorted(names, reverse=order == "desc")
    if key == "duration":
        assert answer.json()["sessions"][0]["duration_ms"] is not None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort_by": "secret"}, "sort_by"),
        ({"sort_order": "up"}, "sort_order"),
        ({"status": "failed,lost"}, "status"),
        ({"search": "ab"}, "search"),
        ({"search": "ab\x00c"}, "search"),
        ({"start_date": "yesterday"}, "start_date"),
        ({"end_date": "2026-01-01T00:00:00"}, "end_date"),
        ({"scoring_status": "maybe"}, "scoring_status"),
        ({"quality_rating": "5"}, "quality_rating"),
    ],
)
def test_wrong_filters_are_named(api, query, field):
    answer = api.get(LIST, query)

    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_detail_has_every_field_of_the_contract(api):
    session = make_rich_session()

    body = api.get(f"{LIST}/{session.pk}").json()

    assert set(body) >= DETAIL_FIELDS
    assert body["alert_data"] == session.alert_data
    assert (body["completed_stages"], body["failed_stages"]) == (1, 1)
    assert body["unpriced_interaction_count"] == 1
    assert body["chat_id"] == str(session.chat.pk)
    stage, failed = body["stages"]
    assert (stage["stage_index"], failed["status"]) == (1, "failed")
    first, second = stage["executions"]
    assert set(first) >= EXECUTION_FIELDS
    assert (first["input_tokens"], first["estimated_cost_usd"]) == (1200, 0.5)
    assert [below["task"] for below in first["sub_agents"]] == ["look at logs"]
    assert second["fallback_reason"] == "The provider answered 529."
    assert (second["fallback_error_code"], second["fallback_attempt"]) == ("provider_error", 1)


def test_without_cost_estimation_there_are_tokens_and_no_money(api, reconfigure):
    session = make_rich_session()
    reconfigure("system: {cost_estimation: {enabled: false}}\n")

    listed = api.get(LIST).json()
    detail = api.get(f"{LIST}/{session.pk}").json()

    assert listed["cost_estimation_enabled"] is False
    assert detail["cost_estimation_enabled"] is False
    execution = detail["stages"][0]["executions"][0]
    for shown in (listed["sessions"][0], detail, execution):
        assert shown["total_tokens"] > 0
        assert not {name for name in shown if "cost_usd" in name or "completeness" in name}
    assert "unpriced_interaction_count" not in detail


def test_detail_costs_the_same_queries_for_any_number_of_agents(api):
    small = make_rich_session()
    large = make_rich_session()
    stage = StageFactory(session=large, completed=True)
    for execution in ExecutionFactory.create_batch(5, stage=stage, completed=True):
        LLMInteractionFactory(execution=execution)

    with CaptureQueriesContext(connection) as few:
        api.get(f"{LIST}/{small.pk}")
    with CaptureQueriesContext(connection) as many:
        api.get(f"{LIST}/{large.pk}")

    assert len(many) == len(few)


def test_chat_is_enabled_where_the_chain_says_so(api):
    known = SessionFactory(completed=True, chain_id=next(iter(get_config().chains)))
    gone = SessionFactory(completed=True, chain_id="gone")

    assert api.get(f"{LIST}/{known.pk}").json()["chat_enabled"] is True
    assert api.get(f"{LIST}/{gone.pk}").json()["chat_enabled"] is False


def test_status_is_the_little_that_a_poller_needs(api):
    session = SessionFactory(failed=True)

    assert api.get(f"{LIST}/{session.pk}/status").json() == {
        "id": str(session.pk),
        "status": "failed",
        "final_analysis": None,
        "executive_summary": None,
        "error_message": session.error_message,
    }


def test_a_summary_has_every_field_of_the_contract(api):
    session = make_rich_session()

    body = api.get(f"{LIST}/{session.pk}/summary").json()

    assert body == {
        "session_id": str(session.pk),
        "total_interactions": 5,
        "llm_interactions": 2,
        "mcp_interactions": 3,
        "input_tokens": 2400,
        "output_tokens": 160,
        "total_tokens": 2560,
        "estimated_cost_usd": 0.5,
        "cost_completeness": "partial",
        "unpriced_interaction_count": 1,
        "total_duration_ms": 180_000,
        "chain_statistics": {
            "total_stages": 2,
            "completed_stages": 1,
            "failed_stages": 1,
            "current_stage_index": None,
        },
        "total_score": None,
        "scoring_status": None,
    }


def test_filter_options_are_what_sessions_have_and_every_status(api):
    SessionFactory.create_batch(2, alert_type="disk", chain_id="disks")
    SessionFactory(alert_type="pods", chain_id="cluster")
    SessionFactory(alert_type="gone", chain_id="gone", deleted_at=timezone.now())

    assert api.get(f"{LIST}/filter-options").json() == {
        "alert_types": ["disk", "pods"],
        "chain_ids": ["cluster", "disks"],
        "statuses": list(AlertSession.Status.values),
    }


def test_scores_and_memories_are_answered_as_where_there_are_none(api):
    session = SessionFactory(completed=True)
    base = f"{LIST}/{session.pk}"

    assert api.get(f"{base}/score").status_code == 404
    assert api.post(f"{base}/score").status_code == 409
    assert api.get(f"{base}/memories").json() == []
    assert api.get(f"{base}/injected-memories").json() == []
    assert api.get("/api/v1/memories", {"page_size": 200}).json() == {
        "memories": [], "total": 0, "page": 1, "page_size": 200, "total_pages": 0,
    }  # fmt: skip
    for ask in (api.get, api.patch, api.delete):
        assert ask(f"/api/v1/memories/{uuid.uuid4()}").status_code == 404


def test_reviews_are_answered_as_where_nobody_has_reviewed(api):
    waiting, running = SessionFactory(), SessionFactory(running=True)
    done = SessionFactory(completed=True)

    group = api.get(f"{LIST}/triage/investigating", {"page": 9, "page_size": 1}).json()
    assert (group["count"], group["page"], group["total_pages"]) == (2, 2, 2)
    assert [item["id"] for item in group["sessions"]] == [str(waiting.pk)]
    assert api.get(f"{LIST}/triage/investigating").json()["sessions"][0]["id"] == str(running.pk)
    for name in ("needs_review", "in_progress", "reviewed"):
        empty = api.get(f"{LIST}/triage/{name}", {"assignee": ""}).json()
        assert (empty["count"], empty["page"], empty["sessions"]) == (0, 1, [])
    assert api.get(f"{LIST}/{done.pk}/review-activity").json() == {"activities": []}
    for body, field in (
        ({"session_ids": [], "action": "claim"}, "session_ids"),
        ({"session_ids": ["x"] * 51, "action": "claim"}, "session_ids"),
        ({"session_ids": ["x"], "action": "dance"}, "action"),
        ({"session_ids": ["x"], "action": "complete"}, "quality_rating"),
    ):
        answer = api.patch(f"{LIST}/review", body, content_type="application/json")
        assert (answer.status_code, answer.json()["field"]) == (400, field)
    claim = {"session_ids": [str(done.pk)], "action": "claim"}
    (result,) = api.patch(f"{LIST}/review", claim, content_type="application/json").json()[
        "results"
    ]
    assert (result["session_id"], result["success"]) == (str(done.pk), False)
    assert api.get(f"{LIST}/triage/nothing").status_code == 400
    assert api.get(f"{LIST}/triage/reviewed", {"page_size": 201}).status_code == 400


def test_active_lists_what_runs_and_the_queue_in_order(api):
    now = timezone.now()
    waiting = [SessionFactory(created_at=now - timedelta(minutes=n)) for n in (1, 3, 2)]
    running = [
        SessionFactory(running=True, started_at=now - timedelta(minutes=1)),
        SessionFactory(cancelling=True, started_at=now - timedelta(minutes=2)),
    ]
    SessionFactory(completed=True)

    body = api.get(f"{LIST}/active").json()

    assert [item["id"] for item in body["active"]] == [str(s.pk) for s in reversed(running)]
    order = [(item["id"], item["queue_position"]) for item in body["queued"]]
    assert order == [(str(waiting[n].pk), place) for place, n in ((1, 1), (2, 2), (3, 0))]


def test_timeline_comes_in_order_and_in_pieces(api):
    execution = ExecutionFactory(active=True)
    rows = [TimelineEventFactory(execution=execution, sequence_number=n) for n in (3, 1, 7, 5)]
    url = f"{LIST}/{execution.session.pk}/timeline"

    first = api.get(url, {"limit": 3})
    rest = api.get(first.headers["Link"].partition("<")[2].partition(">")[0])

    assert [row["sequence_number"] for row in first.json()] == [1, 3, 5]
    assert [row["sequence_number"] for row in rest.json()] == [7]
    assert "Link" not in rest.headers
    assert first.json()[0]["execution_id"] == str(rows[1].execution_id)
    assert set(first.json()[0]) == set(
        [
            "id",
            "session_id",
            "stage_id",
            "execution_id",
            "parent_execution_id",
            "sequence_number",
            "created_at",
            "updated_at",
            "event_type",
            "status",
            "content",
            "metadata",
            "llm_interaction_id",
            "mcp_interaction_id",
        ]
    )


def test_timeline_of_one_stage_is_where_an_answer_is_read(api):
    asked, other = ExecutionFactory(active=True), ExecutionFactory(active=True)
    rows = [TimelineEventFactory(execution=asked, sequence_number=n) for n in (1, 2)]
    stage = StageFactory(session=asked.session)
    answer = TimelineEventFactory(
        execution=ExecutionFactory(stage=stage), sequence_number=9, event_type="final_analysis"
    )
    url = f"{LIST}/{asked.session.pk}/timeline"

    of_stage = api.get(url, {"stage_id": str(stage.pk)}).json()
    pieces = api.get(url, {"stage_id": str(asked.stage_id), "limit": 1})

    assert [row["id"] for row in of_stage] == [str(answer.pk)]
    assert [row["id"] for row in pieces.json()] == [str(rows[0].pk)]
    assert f"stage_id={asked.stage_id}" in pieces.headers["Link"]
    assert api.get(url, {"stage_id": str(other.stage_id)}).json() == []
    assert api.get(url, {"stage_id": "x"}).json()["field"] == "stage_id"


def test_alert_types_name_their_chains(api):
    body = api.get("/api/v1/alert-types").json()

    default = get_config().default_alert_type
    assert body["default_alert_type"] == default
    chain = get_config().chain_for(default)
    assert chain is not None
    assert body["default_chain_id"] == chain.name
    assert default in [item["type"] for item in body["alert_types"]]
    assert body["alert_types"] == sorted(body["alert_types"], key=lambda item: item["chain_id"])


@pytest.mark.parametrize(
    "end",
    ["", "/status", "/timeline", "/summary", "/trace", "/memories", "/injected-memories", "/score"],
)
def test_unknown_malformed_and_deleted_sessions_are_404_as_json(api, end):
    deleted = SessionFactory(deleted_at=timezone.now())
    for name in (uuid.uuid4(), "not-an-id", deleted.pk, "%00"):
        answer = api.get(f"{LIST}/{name}{end}")

        assert answer.status_code == 404
        assert answer.json()["message"]


def test_unknown_paths_and_wrong_methods_are_json(api):
    assert api.get("/api/v1/nothing").json() == {"message": "there is no /api/v1/nothing"}
    assert api.get("/api/v1/nothing").status_code == 404
    wrong = api.delete("/api/v1/alerts")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST, OPTIONS")
    assert wrong.json()["message"]


def test_waiting_session_is_cancelled_at_once(api):
    session = SessionFactory()

    answer = api.post(f"{LIST}/{session.pk}/cancel")

    assert answer.status_code == 200
    assert answer.json()["session_id"] == str(session.pk)
    session.refresh_from_db()
    assert session.status == "cancelled"


def test_running_session_is_being_cancelled(api):
    execution = ExecutionFactory(active=True)

    assert api.post(f"{LIST}/{execution.session.pk}/cancel").status_code == 200

    execution.session.refresh_from_db()
    assert execution.session.status == "cancelling"
    assert AgentExecution.objects.get().status == "active"


def test_cancelling_what_has_ended_is_a_conflict_and_what_is_unknown_is_not_found(api):
    done = SessionFactory(completed=True)

    assert api.post(f"{LIST}/{done.pk}/cancel").status_code == 409
    assert api.post(f"{LIST}/{uuid.uuid4()}/cancel").status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{LIST}?start_date=9999-12-31T23:59:59-23:59", 400),
        (f"{LIST}?end_date=0001-01-01T00:00:00%2B14:00", 400),
        (f"/?before=9999-12-31T23:59:59-23:59_{uuid.UUID(int=1)}", 400),
    ],
)
def test_a_moment_outside_of_the_calendar_is_refused(api, path, status):
    assert api.get(path).status_code == status


def test_pages_by_cursor_follow_each_other_where_numbers_end(api, monkeypatch):
    monkeypatch.setattr("investigations.selectors.sessions.COUNT_LIMIT", 4)
    made = [str(SessionFactory().pk) for _ in range(7)]

    first = api.get(LIST, {"page_size": 3}).json()
    beyond = api.get(LIST, {"page_size": 3, "page": 3}).json()
    seen, cursor = ids_of_body(first), first["next_cursor"]
    while cursor:
        body = api.get(LIST, {"page_size": 3, "before": cursor}).json()
        seen, cursor = seen + ids_of_body(body), body["next_cursor"]

    assert beyond["sessions"] == []
    assert first["pagination"]["total_items"] == 4
    assert sorted(seen) == sorted(made)


@pytest.mark.parametrize("order", [{"sort_order": "asc"}, {"sort_by": "status"}])
def test_a_cursor_is_no_place_in_another_order(api, order):
    SessionFactory.create_batch(2)
    cursor = api.get(LIST, {"page_size": 1}).json()["next_cursor"]

    assert api.get(LIST, {"before": cursor, **order}).status_code == 400
    assert api.get(LIST, {"before": "yesterday"}).status_code == 400


def test_a_text_that_is_nearly_everywhere_is_found_newest_first(api, monkeypatch):
    monkeypatch.setattr("investigations.selectors.session_list.search.RARE", 2)
    made = [str(SessionFactory(alert_data="disk full").pk) for _ in range(4)]
    SessionFactory(alert_data="all is well")

    assert ids_of(api.get(LIST, {"search": "disk"})) == made[::-1]


def test_search_follows_an_alert_and_a_report_that_change(api):
    session = SessionFactory(alert_data="disk full")
    AlertSession.objects.filter(pk=session.pk).update(final_analysis="The journal fills it.")

    assert ids_of(api.get(LIST, {"search": "JOURNAL"})) == [str(session.pk)]
    assert ids_of(api.get(LIST, {"search": "disk"})) == [str(session.pk)]


def ids_of_body(body: dict[str, list[dict[str, str]]]) -> list[str]:
    return [item["id"] for item in body["sessions"]]
