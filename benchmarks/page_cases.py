"""Which pages are asked for, over the history that `benchmarks.history` wrote."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.apps import apps
from django.utils import timezone

from benchmarks import history
from investigations.models import (
    AgentExecution,
    AlertSession,
    LLMInteraction,
    MCPInteraction,
    Stage,
    TimelineEvent,
)
from investigations.selectors.cursors import write_cursor

DEEP_PAGES = (10, 1_000, 10_000, 39_000)
_PAGE = 25
_SEVERAL = 8


_FILTERS = (
    ("alert_type", history.COMMON_TYPE), ("alert_type", history.RARE_TYPE),
    ("chain_id", history.COMMON_CHAIN), ("chain_id", history.RARE_CHAIN),
    ("author", "person-7"), ("author", history.RARE_AUTHOR),
)  # fmt: skip
_OF_INCIDENTS = (
    ("state", "firing"), ("state", "recovered"), ("state", "reopened"),
    ("severity", "critical"), ("source", "alertmanager"),
)  # fmt: skip
_SEARCHES = (
    ("search", history.COMMON_WORD), ("search", history.RARE_WORD), ("search", "heliograph"),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One kind of page and the addresses of some of them, asked in turn."""

    name: str
    paths: Sequence[str]


def list_cases(sessions: int) -> Iterator[Case]:
    """Every page of the product that could grow slow with a history of so many sessions."""
    yield from list_of_incidents(sessions)
    yield Case("list running and queued", ["/fragments/active/"])
    yield from _api_lists(sessions)
    for name, some in _sessions_by_size(sessions):
        yield from _of_sessions(name, some)
    yield from _others()
    yield from _admin(sessions)


# ---- Lists --------------------------------------------------------------------------------------


def list_of_incidents(sessions: int) -> Iterator[Case]:
    """The page that lists incidents, however it is narrowed."""
    yield Case("list first page", ["/"])
    for page in DEEP_PAGES:
        if page * _PAGE < sessions:
            yield Case(f"list page {page:,}", [f"/?before={_cursor(sessions - page * _PAGE)}"])
    for status in ("completed", "failed", "timed_out"):
        yield Case(f"list {status}", [f"/?status={status}"])
        deep = f"/?status={status}&before={_cursor(sessions // 4)}"
        yield Case(f"list {status}, deep", [deep])
    for name, value in (*_FILTERS, *_OF_INCIDENTS, ("time", "24h"), ("time", "30d"), *_SEARCHES):
        yield Case(f"list {name} {value}", [f"/?{urlencode({name: value})}"])
    both = urlencode({"alert_type": history.COMMON_TYPE, "author": "person-7", "status": "failed"})
    yield Case("list by type, author and status", [f"/?{both}"])
    yield Case("list firing and critical", ["/?state=firing&severity=critical"])


def _cursor(number: int) -> str:
    """Where the page behind a session begins."""
    found = AlertSession.objects.get(pk=history.session_id(number))
    return write_cursor(found.created_at, found.pk)


def _api_lists(sessions: int) -> Iterator[Case]:
    yield from (_api(f"page {page:,}", page=str(page)) for page in (1, *DEEP_PAGES))
    for status in ("completed", "timed_out", "cancelling", "failed,cancelled"):
        yield _api(status, status=status)
    yield _api("behind a place in the middle", before=_cursor(sessions // 2))
    for name, value in (*_FILTERS, *_SEARCHES):
        yield _api(f"{name} {value}", **{name: value})
    for sort in ("status", "alert_type", "author", "duration"):
        yield _api(f"by {sort}", sort_by=sort)
        yield _api(f"by {sort}, page 1,000", sort_by=sort, page="1000")
    middle = timezone.now() - timedelta(days=365)
    for days in (1, 90):
        end = middle + timedelta(days=days)
        dates = {"start_date": middle.isoformat(), "end_date": end.isoformat()}
        yield _api(f"{days} days", **dates)
        yield _api(f"{days} days, failed", **dates, status="failed")
    yield Case("API active", ["/api/v1/sessions/active"])
    yield Case("API filter-options", ["/api/v1/sessions/filter-options"])
    yield Case("API triage", ["/api/v1/sessions/triage/investigating"])


def _api(name: str, **query: str) -> Case:
    return Case(f"API sessions {name}", [f"/api/v1/sessions?{urlencode(query)}"])


# ---- Sessions -----------------------------------------------------------------------------------


def _sessions_by_size(sessions: int) -> Iterator[tuple[str, list[AlertSession]]]:
    step = sessions // (_SEVERAL + 1)
    sizes = {
        "small": [step * n // 2 * 2 + 2 for n in range(1, _SEVERAL + 1)],
        "500": [step * n // 1000 * 1000 + 500 for n in range(_SEVERAL)],
        "5,000": [sessions - 1000],
        "500, running": [sessions - history.LIVE + 3],
    }
    for name, numbers in sizes.items():
        ids = [history.session_id(number) for number in numbers]
        yield name, list(AlertSession.objects.filter(pk__in=ids, deleted_at=None))


def _of_sessions(name: str, sessions: Sequence[AlertSession]) -> Iterator[Case]:
    ids = [session.pk for session in sessions]
    pieces = {
        "page": "", "facts": "facts/", "row": "row/", "events from 0": "events/?after=0",
        "trace": "trace/", "trace, errors": "trace/?show=errors",
    }  # fmt: skip
    for piece, path in pieces.items():
        yield Case(f"session {name}: {piece}", [f"/sessions/{each}/{path}" for each in ids])
    yield Case(f"session {name}: last events", [
        f"/sessions/{each.pk}/events/?after={max(0, each.last_seq - 5)}" for each in sessions
    ])  # fmt: skip
    yield Case(f"session {name}: earlier", [
        f"/sessions/{each}/executions/{_agent(each)}/earlier/?before=1000000" for each in ids
    ])  # fmt: skip
    yield Case(f"session {name}: stage", [
        f"/sessions/{each}/stages/{_first(Stage, each, 'stage_index')}/" for each in ids
    ])  # fmt: skip
    yield Case(f"session {name}: event", [
        f"/sessions/{each}/events/{_first(TimelineEvent, each, '-sequence_number')}/"
        for each in ids
    ])  # fmt: skip
    yield Case(f"session {name}: trace of a model call", [
        f"/sessions/{each}/trace/llm/{_first(LLMInteraction, each, '-created_at')}/" for each in ids
    ])  # fmt: skip
    tools = [
        f"/sessions/{each}/trace/tools/{call}/"
        for each in ids if (call := _first(MCPInteraction, each, "-created_at"))
    ]  # fmt: skip
    yield Case(f"session {name}: trace of a tool call", tools)
    yield Case(f"session {name}: trace of a turn", [
        f"/sessions/{each}/trace/agents/{_agent(each)}/1/" for each in ids
    ])  # fmt: skip
    for piece in ("", "/summary", "/status", "/timeline", "/timeline?limit=200", "/trace",
                  "/evidence"):  # fmt: skip
        paths = [f"/api/v1/sessions/{each}{piece}" for each in ids]
        yield Case(f"API session {name}: {piece or 'all'}", paths)


def _agent(session_id: uuid.UUID) -> uuid.UUID | None:
    return _first(AgentExecution, session_id, "created_at", "agent_index")


def _first(model: type, session_id: uuid.UUID, *order: str) -> uuid.UUID | None:
    rows = model.objects.filter(session_id=session_id).order_by(*order)  # type: ignore[attr-defined]
    found: uuid.UUID | None = rows.values_list("pk", flat=True).first()
    return found


# ---- The rest -----------------------------------------------------------------------------------


def _others() -> Iterator[Case]:
    now = timezone.now()
    for days in (1, 30, 365):
        query = urlencode({"start_date": (now - timedelta(days)).isoformat(),
                           "end_date": now.isoformat()})  # fmt: skip
        yield Case(f"API usage of {days} days", [f"/api/v1/usage/summary?{query}"])
    for page in (1, 100, 700):
        yield Case(f"API approvals page {page}", [f"/api/v1/approvals?page={page}"])
    for status in ("pending", "expired"):
        yield Case(f"API approvals {status}", [f"/api/v1/approvals?status={status}"])
    yield Case("system", ["/system/"])
    yield Case("submit form", ["/submit-alert/"])
    yield Case("API warnings", ["/api/v1/system/warnings"])
    yield Case("metrics", ["/metrics"])
    yield Case("health", ["/health"])


_DEEPEST, _ADMIN_ROWS = 150, 50
_ADMIN_QUERIES = {
    "alertsession": ("status__exact=completed", "status__exact=timed_out", "o=6", "p=DEEP",
                     "created_at__gte=2020-01-01", "q=certificate"),
    "stage": ("p=DEEP", "q=SESSION&status__exact=failed"),
    "agentexecution": ("p=DEEP", "q=SESSION&status__exact=failed"),
    "timelineevent": ("p=DEEP", "q=SESSION&event_type__exact=error"),
    "message": ("p=DEEP", "q=SESSION&role__exact=system"),
    "llminteraction": ("q=SESSION&interaction_type__exact=scoring",),
    "mcpinteraction": ("q=SESSION&interaction_type__exact=tool_list",),
    "approvalrequest": ("status__exact=pending", "risk__exact=high", "p=DEEP"),
    "auditevent": ("action=session.submit", "action=call.block", "q=person-7", "p=DEEP"),
    "event": (), "chat": (), "chatusermessage": (), "resourcenote": (),
}  # fmt: skip


def _deep(name: str) -> int:
    """A page near the end of what the admin counts, or of what there is."""
    rows = apps.get_model("investigations", name)._default_manager.order_by()
    return max(1, min(_DEEPEST, rows[: _DEEPEST * _ADMIN_ROWS].count() // _ADMIN_ROWS))


def _admin(sessions: int) -> Iterator[Case]:
    session = AlertSession.objects.get(pk=history.session_id(sessions - 1000))
    event = TimelineEvent.objects.filter(session=session).first()
    yield Case("admin", ["/admin/"])
    for name, queries in _ADMIN_QUERIES.items():
        page = f"/admin/investigations/{name}/"
        yield Case(f"admin {name}", [page])
        for query in queries:
            asked = query.replace("SESSION", str(session.pk)).replace("DEEP", str(_deep(name)))
            yield Case(f"admin {name} {query}", [f"{page}?{asked}"])
        for what, term in (
            ("session", session.pk), ("event", event and event.pk),
            ("word", "db-77.prod"), ("no hit", "heliograph"),
        ):  # fmt: skip
            yield Case(f"admin {name} search {what}", [f"{page}?q={term}"])
    if event is not None:
        yield Case("admin one timeline event",
                   [f"/admin/investigations/timelineevent/{event.pk}/change/"])  # fmt: skip
        yield Case("admin one session",
                   [f"/admin/investigations/alertsession/{event.session_id}/change/"])  # fmt: skip
