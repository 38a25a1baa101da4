"""What a list says of a report that not all of it can be relied on."""

import uuid
from collections.abc import Mapping, Sequence

from django.db.models import Case, F, Func, IntegerField, OuterRef, Subquery, When
from django.db.models.fields.json import KT, KeyTransform
from django.db.models.functions import JSONObject

from agents.our_lines import find_our_lines
from agents.types import INCONCLUSIVE, NOT_CARRIED_OUT, UNVERIFIED
from investigations.models import AlertSession, Stage, TimelineEvent

WITHHELD = "Answer withheld"
UNVERIFIED_WRITE = "Unverified write"
UNDONE_WRITE = "Write not carried out"
RESTS_ON_NOTHING = "Rests on no tool result"


def read_doubts(sessions: Sequence[AlertSession]) -> dict[uuid.UUID, tuple[str, ...]]:
    """By session that `rows.light` has read: the marks of its report, in words."""
    with_report = {each.pk: _start_of(each) for each in sessions if _start_of(each)}
    reviews = _read_reviews(list(with_report))
    return {
        session_id: tuple(_mark(reviews.get(session_id) or {}, start))
        for session_id, start in with_report.items()
    }


def _start_of(session: AlertSession) -> str:
    start: str | None = session.analysis_start  # type: ignore[attr-defined]
    return start or ""


def _mark(review: Mapping[str, object], start: str) -> list[str]:
    marks = [WITHHELD] if review.get("withheld") == "true" else []
    if find_our_lines(start, INCONCLUSIVE):
        marks.append(RESTS_ON_NOTHING)
    if find_our_lines(start, UNVERIFIED):
        marks.append(UNVERIFIED_WRITE)
    if find_our_lines(start, NOT_CARRIED_OUT):
        marks.append(UNDONE_WRITE)
    misquoted, unsupported = review.get("misquoted"), review.get("unsupported")
    if isinstance(misquoted, int) and misquoted:
        marks.append(f"{misquoted} misquoted")
    if isinstance(unsupported, int) and unsupported:
        marks.append(f"{unsupported} unsupported claim{'' if unsupported == 1 else 's'}")
    return marks


def _read_reviews(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Mapping[str, object] | None]:
    """What stands beside the report that each session ended with. The summary of it is another."""
    # From the newest event backwards: the answer is among the last, however long the session.
    answers = (
        TimelineEvent.objects.filter(
            session_id=OuterRef("pk"), event_type=TimelineEvent.Type.FINAL_ANALYSIS
        )
        .exclude(stage__stage_type__in=(Stage.Type.CHAT, Stage.Type.EXEC_SUMMARY))
        .order_by("-sequence_number")
    )
    counts = {name: _count(name) for name in ("misquoted", "unsupported")}
    review = answers.values(said=JSONObject(withheld=KT("metadata__withheld"), **counts))
    rows = AlertSession.objects.filter(pk__in=ids).order_by().annotate(review=Subquery(review[:1]))
    return dict(rows.values_list("pk", F("review")))


def _count(name: str) -> Case:
    """How many passages a review lists under a name. Every list contains an empty one, and nothing
    else does."""
    length = Func(
        KeyTransform(name, "metadata"),
        function="jsonb_array_length",
        output_field=IntegerField(),
    )
    return Case(When(**{f"metadata__{name}__contains": []}, then=length))
