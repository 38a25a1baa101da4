"""Query parameters, read strictly where a wrong one would show the wrong sessions."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from django.utils.dateparse import parse_datetime

from config.words import suggest
from investigations.api.parsing import JSON
from investigations.models import AlertSession, ApprovalRequest, Delivery, Incident
from investigations.selectors.approvals import ApprovalFilter
from investigations.selectors.incidents import DeliveryFilter, IncidentFilter
from investigations.selectors.session_list.search import SHORTEST_SEARCH
from investigations.selectors.sessions import SORTS, ListQuery, SessionFilter
from investigations.selectors.timeline import TIMELINE_LIMIT
from investigations.selectors.usage import RankBy, UsageFilter
from tarsy.errors import InvalidInput

PAGE_SIZE = 25
LARGEST_PAGE = 100
LARGEST_MEMORY_PAGE = 200
TRIAGE_PAGE_SIZE = 20
LARGEST_TRIAGE_PAGE = 200
MOST_REVIEWED = 50
TRIAGE_GROUPS = ("investigating", "needs_review", "in_progress", "reviewed")
REVIEW_ACTIONS = ("claim", "unclaim", "complete", "acknowledge", "reopen", "update_feedback")
SCORING_STATUSES = ("scored", "not_scored", "scoring_in_progress", "scoring_failed")
REVIEW_STATUSES = ("needs_review", "in_progress", "reviewed")
RATINGS = ("accurate", "partially_accurate", "inaccurate")
RANKINGS = ("cost", "tokens")
SEVERITIES = ("critical", "high", "warning", "info", "unknown")
LONGEST_WINDOW_DAYS = 365

Query = Mapping[str, str]


def read_list_query(query: Query) -> ListQuery:
    """Raises InvalidInput, but a page or page size out of range keeps its default."""
    return ListQuery(
        wanted=_read_filter(query),
        sort_by=_one_of(query, "sort_by", SORTS) or "created_at",
        descending=(_one_of(query, "sort_order", ("asc", "desc")) or "desc") == "desc",
        page=_number(query, "page", 1, most=10_000_000),
        page_size=_number(query, "page_size", PAGE_SIZE, most=LARGEST_PAGE),
        before=_read_before(query),
    )


def _read_before(query: Query) -> str:
    before = query.get("before", "")
    is_newest_first = query.get("sort_by", "") in ("", "created_at")
    if before and not (is_newest_first and query.get("sort_order", "") in ("", "desc")):
        raise InvalidInput("before", "is a place among the newest first, and in no other order")
    return before


def read_approvals_query(query: Query) -> tuple[ApprovalFilter, int, int]:
    """What is asked for, the page and its size. Raises InvalidInput."""
    wanted = ApprovalFilter(
        statuses=_all_of(query, "status", ApprovalRequest.Status.values),
        session_id=_identity(query, "session_id"),
    )
    page = _number(query, "page", 1, most=10_000_000)
    return wanted, page, _number(query, "page_size", PAGE_SIZE, most=LARGEST_PAGE)


def read_incidents_query(query: Query) -> tuple[IncidentFilter, str, int]:
    """What is asked for, where the page begins and its size. Raises InvalidInput."""
    wanted = IncidentFilter(
        states=_all_of(query, "state", Incident.State.values),
        severities=_all_of(query, "severity", SEVERITIES),
        source=_plain(query, "source"),
    )
    return wanted, *_read_place(query)


def read_deliveries_query(query: Query) -> tuple[DeliveryFilter, str, int]:
    """What is asked for, where the page begins and its size. Raises InvalidInput."""
    wanted = DeliveryFilter(
        outcomes=_all_of(query, "outcome", Delivery.Outcome.values),
        source=_plain(query, "source"),
        incident_id=_identity(query, "incident_id", "an incident"),
    )
    return wanted, *_read_place(query)


def _read_place(query: Query) -> tuple[str, int]:
    return query.get("before", ""), _number(query, "page_size", PAGE_SIZE, most=LARGEST_PAGE)


def read_usage_query(query: Query, *, is_estimated: bool) -> tuple[UsageFilter, RankBy]:
    """The window and what ranks first: cost where it is estimated. Raises InvalidInput."""
    start, end = _required_moment(query, "start_date"), _required_moment(query, "end_date")
    if start >= end:
        raise InvalidInput("start_date", "must be before end_date")
    if end - start > timedelta(days=LONGEST_WINDOW_DAYS):
        raise InvalidInput("end_date", f"must be within {LONGEST_WINDOW_DAYS} days of start_date")
    rank_by = _one_of(query, "rank_by", RANKINGS) or ("cost" if is_estimated else "tokens")
    if rank_by == "cost" and not is_estimated:
        raise InvalidInput("rank_by", "costs are not estimated here; rank by tokens")
    wanted = UsageFilter(start, end, _plain(query, "alert_type"), _plain(query, "chain_id"))
    return wanted, cast(RankBy, rank_by)


def read_triage_query(group: str, query: Query) -> ListQuery:
    """What a group shows: only running sessions, as none is reviewed. Raises InvalidInput."""
    if group not in TRIAGE_GROUPS:
        raise InvalidInput("group", f'"{group[:60]}" is not known{suggest(group, TRIAGE_GROUPS)}')
    is_empty = group != "investigating" or bool(_plain(query, "assignee"))
    running = (AlertSession.Status.PENDING, *AlertSession.ACTIVE)
    return ListQuery(
        wanted=SessionFilter(statuses=running, none_can_match=is_empty),
        sort_by="created_at",
        descending=True,
        page=_strict_number(query, "page", 1, most=10_000_000),
        page_size=_strict_number(query, "page_size", TRIAGE_PAGE_SIZE, most=LARGEST_TRIAGE_PAGE),
    )


def read_review(body: Mapping[str, JSON]) -> list[str]:
    """The ids of a review. Raises InvalidInput naming the field that is wrong."""
    ids = body.get("session_ids")
    if not isinstance(ids, list) or not 1 <= len(ids) <= MOST_REVIEWED:
        raise InvalidInput("session_ids", f"must be a list of 1 to {MOST_REVIEWED} ids")
    texts = [each for each in ids if isinstance(each, str)]
    if len(texts) < len(ids):
        raise InvalidInput("session_ids", "must be a list of ids")
    action, rating = body.get("action"), body.get("quality_rating")
    if not isinstance(action, str) or action not in REVIEW_ACTIONS:
        raise InvalidInput("action", f"must be one of {', '.join(REVIEW_ACTIONS)}")
    if rating is not None and rating not in RATINGS:
        raise InvalidInput("quality_rating", f"must be one of {', '.join(RATINGS)}")
    if action == "complete" and rating is None:
        raise InvalidInput("quality_rating", "is needed to complete a review")
    if action == "acknowledge" and rating is not None:
        raise InvalidInput("quality_rating", "is not given with an acknowledgement")
    return texts


def read_memories_query(query: Query) -> tuple[int, int]:
    """The page and its size."""
    page = _number(query, "page", 1, most=10_000_000)
    return page, _number(query, "page_size", PAGE_SIZE, most=LARGEST_MEMORY_PAGE)


def read_timeline_query(query: Query) -> tuple[int, int, uuid.UUID | None]:
    """`after`, `limit` and `stage_id`."""
    after = _number(query, "after", 0, least=0, most=2**62)
    limit = _number(query, "limit", TIMELINE_LIMIT, most=TIMELINE_LIMIT)
    return after, limit, _identity(query, "stage_id", "a stage")


def _read_filter(query: Query) -> SessionFilter:
    search = _plain(query, "search")
    if search and len(search.encode()) < SHORTEST_SEARCH:
        raise InvalidInput("search", f"must have at least {SHORTEST_SEARCH} characters")
    scoring = _one_of(query, "scoring_status", SCORING_STATUSES)
    review = _all_of(query, "review_status", REVIEW_STATUSES)
    rating = _one_of(query, "quality_rating", RATINGS)
    return SessionFilter(
        statuses=_all_of(query, "status", AlertSession.Status.values),
        alert_type=_plain(query, "alert_type"),
        chain_id=_plain(query, "chain_id"),
        author=_plain(query, "author"),
        search=search,
        start_date=_moment(query, "start_date"),
        end_date=_moment(query, "end_date"),
        none_can_match=scoring not in ("", "not_scored")
        or bool(review or rating or _plain(query, "assignee")),
    )


def _plain(query: Query, name: str) -> str:
    value = query.get(name, "")
    if "\x00" in value:
        raise InvalidInput(name, "has a NUL character")
    return value


def _one_of(query: Query, name: str, known: Iterable[str]) -> str:
    value = query.get(name, "")
    if value and value not in known:
        raise InvalidInput(name, f'"{value[:60]}" is not known{suggest(value, known)}')
    return value


def _all_of(query: Query, name: str, known: Iterable[str]) -> tuple[str, ...]:
    values = tuple(part.strip() for part in query.get(name, "").split(",") if part.strip())
    for value in values:
        if value not in known:
            raise InvalidInput(name, f'"{value[:60]}" is not known{suggest(value, known)}')
    return values


def _identity(query: Query, name: str, of: str = "a session") -> uuid.UUID | None:
    text = query.get(name, "")
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        raise InvalidInput(name, f"must be the id of {of}") from None


def _number(query: Query, name: str, default: int, *, least: int = 1, most: int) -> int:
    text = query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return default
    return int(text) if least <= int(text) <= most else default


def _strict_number(query: Query, name: str, default: int, *, most: int) -> int:
    if query.get(name, "") == "":
        return default
    number = _number(query, name, 0, most=most)
    if not number:
        raise InvalidInput(name, f"must be a number from 1 to {most:,}")
    return number


def _moment(query: Query, name: str) -> datetime | None:
    text = query.get(name, "")
    if not text:
        return None
    moment = read_moment(text)
    if moment is None:
        raise InvalidInput(name, "must be a moment such as 2026-03-01T12:00:00Z")
    return moment


def _required_moment(query: Query, name: str) -> datetime:
    moment = _moment(query, name)
    if moment is None:
        raise InvalidInput(name, "is needed: a moment such as 2026-03-01T12:00:00Z")
    return moment


def read_moment(text: str) -> datetime | None:
    """A moment with its time zone, in UTC; None for anything else."""
    try:
        # A plus sign that was not escaped arrives as a blank.
        moment = parse_datetime(text.strip().replace(" ", "+"))
        # The last day of the year 9999 is in no other time zone's calendar.
        return None if moment is None or moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
