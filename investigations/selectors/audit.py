"""The audit trail, which only grows: what is looked for in it, and whether it is as it was written.

Whether every row follows the one before it is seen a page of rows at a time, so a trail of any
length takes the same memory and holds no snapshot.
What cannot be seen from here: rows that are gone from the end, and a trail that was written anew as
a whole. For both, somebody has to have kept an earlier head elsewhere.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q, QuerySet
from typing_extensions import override

from investigations.models import ApiToken, ApprovalRequest, AuditEvent
from investigations.selectors.distinct import distinct_values

PAGE = 5_000
MAX_FAULTS = 20

# The text that is hashed; jsonb has one spelling for one value. Built here and not asked of the
# function that wrote it, which is as easily replaced as a row.
_ROWS = """
SELECT id, previous_hash, hash, jsonb_build_array(
           id, previous_hash,
           to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           actor, action, target_type, target_id, details
       )::text
  FROM investigations_auditevent WHERE id > %s ORDER BY id LIMIT %s
"""


@dataclass(frozen=True)
class Head:
    """The row a trail ends with; who knows its hash knows whether all before it is the same."""

    row: int
    hash: str

    @override
    def __str__(self) -> str:
        return f"{self.row}:{self.hash}"


@dataclass(frozen=True)
class Fault:
    """The row at which the trail is wrong, and how."""

    row: int
    reason: str


@dataclass(frozen=True)
class TrailCheck:
    """How many rows were looked at, the first faults of them in order, and the last row."""

    checked: int
    faults: tuple[Fault, ...]
    head: Head | None


def read_head() -> Head | None:
    found = AuditEvent.objects.order_by("-id").values_list("id", "hash").first()
    return Head(*found) if found else None


def has_row(head: Head) -> bool:
    """Whether a row has the hash that it had when somebody kept it."""
    return AuditEvent.objects.filter(pk=head.row, hash=head.hash).exists()


def check_trail(since: int = 0) -> TrailCheck:
    """Check every row from `since` on. What stands before that row is taken on trust."""
    checked, last = 0, None
    faults: list[Fault] = []
    for row, previous_hash, stored, text in _rows(since):
        checked += 1
        if hashlib.sha256(text.encode()).hexdigest() != stored:
            faults.append(Fault(row, f"row {row} is not what was written: its hash is another"))
        is_trusted = last is None and since > 0
        if not is_trusted and previous_hash != (last.hash if last is not None else ""):
            faults.append(Fault(row, _explain_break(row, last)))
        last = Head(row, stored)
        if len(faults) >= MAX_FAULTS:
            break
    if not checked and not since and (missed := _find_unwritten()):
        faults.append(Fault(1, f"no row is left, though each of {missed} wrote one"))
    return TrailCheck(checked, tuple(faults[:MAX_FAULTS]), last)


def _find_unwritten() -> str:
    """What is there and cannot have come about without a row; empty where nothing is."""
    counts = {
        "approval requests": ApprovalRequest.objects.count(),
        "API tokens": ApiToken.objects.count(),
    }
    return " and ".join(f"{count} {name}" for name, count in counts.items() if count)


def _rows(since: int) -> Iterator[tuple[int, str, str, str]]:
    after = since - 1 if since else -(2**63)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, [after, PAGE])
            page = cursor.fetchall()
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1][0]


def _explain_break(row: int, last: Head | None) -> str:
    if last is None:
        return f"the rows before row {row} are missing"
    if row == last.row + 2:
        return f"row {row - 1} is missing"
    if row > last.row + 1:
        return f"rows {last.row + 1} to {row - 1} are missing"
    return f"row {row} does not follow row {last.row}: that one was written anew"


def list_actions() -> list[str]:
    """Every action that was ever taken."""
    return distinct_values(AuditEvent._meta.db_table, "action")


def find_acts(acts: QuerySet[AuditEvent], text: str) -> QuerySet[AuditEvent]:
    """Those of this actor, of this action, or done to what has this id; each by an index."""
    known = distinct_values(AuditEvent._meta.db_table, "target_type")
    is_target = Q(target_type__in=known, target_id=text)
    return acts.filter(Q(actor=text) | Q(action=text) | is_target)
