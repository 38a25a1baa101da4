"""The audit trail as a chain: nobody forks it, and nobody changes it unseen."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction

from investigations.models import ApiToken, AuditEvent
from investigations.selectors import audit
from investigations.selectors.audit import check_trail, read_head
from investigations.services.audit import record_audit
from tests.conftest import let_audit_be_emptied
from tests.factories import ApprovalRequestFactory, UserFactory
from tests.investigations.engine import committed, run_at_once


def record(count: int = 5) -> None:
    for number in range(count):
        record_audit(
            "ana", "thing.do", "thing", str(number), text=f"n\u00fcmber {number}", n=number
        )


@contextmanager
def tampering() -> Iterator[None]:
    """What somebody can do who owns the database."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE investigations_auditevent DISABLE TRIGGER ALL")
        yield
        cursor.execute("ALTER TABLE investigations_auditevent ENABLE TRIGGER ALL")
    let_audit_be_emptied()


def run_sql(text: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, values)


def verify(*options: str) -> str:
    out = StringIO()
    call_command("verify_audit", *options, stdout=out)
    return out.getvalue()


def faults() -> list[str]:
    return [fault.reason for fault in check_trail().faults]


@committed
def test_writers_at_once_make_one_chain_without_gaps():
    def write() -> None:
        for number in range(20):
            with transaction.atomic():
                record_audit("worker", "thing.do", "thing", str(number))
                if number % 5 == 4:
                    transaction.set_rollback(True)

    assert run_at_once(*[write] * 6) == [None] * 6

    rows = list(AuditEvent.objects.order_by("id"))
    assert len(rows) == 6 * 16
    assert [row.pk for row in rows] == list(range(1, len(rows) + 1))
    assert [row.previous_hash for row in rows] == ["", *(row.hash for row in rows[:-1])]
    assert [row.created_at for row in rows] == sorted(row.created_at for row in rows)
    assert check_trail().faults == ()


@pytest.mark.django_db
def test_a_hash_can_be_computed_from_the_row_alone():
    record(2)
    first, second = AuditEvent.objects.order_by("id")

    said = [second.pk, first.hash, second.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "ana",
            "thing.do", "thing", "1", {"n": 1, "text": "n\u00fcmber 1"}]  # fmt: skip

    assert second.hash == hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


@pytest.mark.django_db
def test_rows_of_one_statement_follow_each_other():
    AuditEvent.objects.bulk_create(
        [AuditEvent(actor="ana", action="thing.do", target_type="thing") for _ in range(3)]
    )

    assert AuditEvent.objects.count() == 3
    assert faults() == []


@pytest.mark.django_db
def test_the_chain_says_the_place_and_the_moment_whatever_a_writer_says():
    record(2)

    AuditEvent.objects.create(
        id=1_000, actor="ana", action="thing.do", target_type="thing", hash="f" * 64,
        previous_hash="e" * 64, created_at="2001-01-01T00:00:00Z",
    )  # fmt: skip

    row = AuditEvent.objects.get(pk=3)
    assert row.created_at.year > 2001
    assert faults() == []


@pytest.mark.django_db
def test_two_rows_cannot_follow_the_same_one_even_without_the_trigger():
    record(2)

    refused = pytest.raises(IntegrityError, match="audit_never_forks")
    with tampering(), refused, transaction.atomic():
        run_sql(
            "INSERT INTO investigations_auditevent (id, actor, action, target_type, target_id,"
            " details, created_at, previous_hash, hash) SELECT 99, actor, action, target_type,"
            " target_id, details, created_at, previous_hash, hash"
            " FROM investigations_auditevent WHERE id = 2"
        )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        "actor = 'somebody else'",
        "action = 'thing.undo'",
        "target_type = 'other'",
        "target_id = '77'",
        "details = details || '{\"n\": 70}'",
        "details = details - 'n'",
        "created_at = created_at + interval '1 microsecond'",
        "hash = repeat('0', 64)",
    ],
)
def test_a_changed_row_is_named(change):
    record()

    with tampering():
        run_sql(f"UPDATE investigations_auditevent SET {change} WHERE id = 3")

    with pytest.raises(CommandError, match="- row 3 is not what was written") as error:
        verify()
    assert error.value.returncode == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("removed", "said"),
    [
        ("id = 3", "row 3 is missing"),
        ("id IN (2, 3, 4)", "rows 2 to 4 are missing"),
        ("id < 3", "the rows before row 3 are missing"),
    ],
)
def test_removed_rows_are_named(removed, said):
    record()

    with tampering():
        run_sql(f"DELETE FROM investigations_auditevent WHERE {removed}")

    assert faults() == [said]


@pytest.mark.django_db
def test_a_row_written_anew_with_a_hash_that_fits_breaks_what_follows():
    record()
    row = AuditEvent.objects.get(pk=3)
    said = [3, row.previous_hash, row.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "eve",
            "thing.do", "thing", "2", row.details]  # fmt: skip
    fitting = hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()

    with tampering():
        run_sql(
            "UPDATE investigations_auditevent SET actor = 'eve', hash = %s WHERE id = 3", fitting
        )

    assert faults() == ["row 4 does not follow row 3: that one was written anew"]


@pytest.mark.django_db
def test_rows_that_changed_places_are_found():
    record()

    with tampering():
        run_sql("UPDATE investigations_auditevent SET id = 103 WHERE id = 3")
        run_sql("UPDATE investigations_auditevent SET id = 3 WHERE id = 4")
        run_sql("UPDATE investigations_auditevent SET id = 4 WHERE id = 103")

    assert faults()[0].startswith("row 3 is not what was written")


@pytest.mark.django_db
def test_what_was_cut_off_at_the_end_shows_against_a_head_that_was_kept():
    record()
    head = verify("--head").strip()

    with tampering():
        run_sql("DELETE FROM investigations_auditevent WHERE id > 3")

    assert faults() == []
    assert "only against a head that was kept" in " ".join(verify().split())
    with pytest.raises(CommandError, match="row 5 does not have the hash that was kept"):
        verify("--expect", head)


@pytest.mark.django_db
def test_a_whole_trail_still_has_every_head_it_ever_had():
    record(3)
    head = read_head()
    record(2)

    said = verify("--expect", str(head))

    assert said.startswith("5 rows, each as it was written.\nHead: 5:")


@pytest.mark.django_db
def test_checking_can_begin_anywhere():
    record()
    with tampering():
        run_sql("UPDATE investigations_auditevent SET actor = 'eve' WHERE id = 2")

    assert verify("--since", "3").startswith("3 rows")
    with pytest.raises(CommandError, match="row 2 is not"):
        verify("--since", "2")


@pytest.mark.django_db
def test_a_trail_longer_than_a_page_is_read_page_by_page(monkeypatch):
    monkeypatch.setattr(audit, "PAGE", 2)
    record()

    assert check_trail().checked == 5
    assert faults() == []


@pytest.mark.django_db
def test_an_empty_trail_is_whole():
    assert verify().startswith("0 rows")
    assert verify("--head").strip() == ""


@pytest.mark.django_db
def test_rows_from_before_the_chain_are_chained_as_they_stand():
    with tampering():
        for number in (2, 3, 9):
            run_sql(
                "INSERT INTO investigations_auditevent (id, actor, action, target_type, target_id,"
                " details, created_at, previous_hash, hash)"
                " VALUES (%s, 'ana', 'thing.do', 'thing', '1', '{}', now(), %s, '')",
                number, str(number),
            )  # fmt: skip
    migration = import_module("investigations.migrations.0008_audit_chain")

    run_sql(migration._CHAIN_OLD_ROWS.replace("%", "%%"))
    record(1)

    assert faults() == []
    assert list(AuditEvent.objects.order_by("id").values_list("id", flat=True)) == [2, 3, 9, 10]


@pytest.mark.django_db
def test_the_trail_is_not_emptied_at_once():
    record()
    run_sql("ALTER TABLE investigations_auditevent ENABLE TRIGGER audit_never_emptied")

    with pytest.raises(DatabaseError, match="never emptied"), transaction.atomic():
        run_sql("TRUNCATE investigations_auditevent CASCADE")

    assert AuditEvent.objects.count() == 5


@pytest.mark.django_db
def test_a_trail_without_a_row_is_no_good_one_where_something_wrote_rows():
    ApprovalRequestFactory()
    ApiToken.objects.create(owner=UserFactory(), name="ci", scopes=["read"], token_hash="0" * 64)

    [reason] = faults()

    assert reason == (
        "no row is left, though each of 1 approval requests and 1 API tokens wrote one"
    )


@pytest.mark.django_db
def test_an_installation_in_which_nothing_happened_has_a_good_trail():
    assert faults() == []
