"""What a list says of a report that not all of it can be relied on."""

import uuid
from collections.abc import Mapping, Sequence

from django.db.models import Case, F, Func, IntegerField, OuterRef, Subquery, When
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import JSONObject

from agents.our_lines import find_our_lines
from agents.types import INCONCLUSIVE, NOT_CARRIED_OUT, UNVERIFIED
from config.words import count
from investigations.models import AlertSession, Stage, TimelineEvent

UNVERIFIED_WRITE = "Unverified write"
UNDONE_WRITE = "Write not carried out"
RESTS_ON_NOTHING = "Rests on no tool result"
WITHHELD = "withheld"
"""How the doubt ends that counts the sentences which are left out."""


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


def _mark(review: Mapping[str, int | None], start: str) -> list[str]:
    withheld, unsupported = review.get("withheld"), review.get("unsupported")
    marks = [f"{count(withheld, 'sentence')} {WITHHELD}"] if withheld else []
    if find_our_lines(start, INCONCLUSIVE):
        marks.append(RESTS_ON_NOTHING)
    if find_our_lines(start, UNVERIFIED):
        marks.append(UNVERIFIED_WRITE)
    if find_our_lines(start, NOT_CARRIED_OUT):
        marks.append(UNDONE_WRITE)
    if misquoted := review.get("misquoted"):
        marks.append(f"{misquoted} misquoted")
    if unsupported:
        marks.append(count(unsupported, "unsupported claim"))
    return marks


def _read_reviews(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Mapping[str, int | None] | None]:
    """What stands beside the report that each session ended with. The summary of it is another."""
    # From the newest event backwards: the answer is among the last, however long the session.
    answers = (
        TimelineEvent.objects.filter(
            session_id=OuterRef("pk"), event_type=TimelineEvent.Type.FINAL_ANALYSIS
        )
        .exclude(stage__stage_type__in=(Stage.Type.CHAT, Stage.Type.EXEC_SUMMARY))
        .order_by("-sequence_number")
    )
    lists = {"withheld": "withheld_claims", "misquoted": "misquoted", "unsupported": "unsupported"}
    review = answers.values(said=JSONObject(**{name: _length(key) for name, key in lists.items()}))
    rows = AlertSession.objects.filter(pk__in=ids).order_by().annotate(review=Subquery(review[:1]))
    return dict(rows.values_list("pk", F("review")))


def _length(key: str) -> Case:
    length = Func(
        KeyTransform(key, "metadata"),
        function="jsonb_array_length",
        output_field=IntegerField(),
    )
    # Every list contains an empty one, and nothing else does.
    return Case(When(**{f"metadata__{key}__contains": []}, then=length))
