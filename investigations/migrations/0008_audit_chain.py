"""Each audit row holds the hash of the one before it. Rows that exist are chained as they stand.

The rows are chained by a trigger, so that whoever inserts one inserts it at the end. It takes a
lock until the transaction ends: the order of ids is the order of commits, and the chain cannot
fork. `selectors/audit.py` writes the hashed text the same way and knows nothing of this function.
"""

from django.db import migrations, models

_LOCK = 0x7A_52_05
_TEXT = """
    jsonb_build_array(
        {row}.id, {row}.previous_hash,
        to_char({row}.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        {row}.actor, {row}.action, {row}.target_type, {row}.target_id, {row}.details
    )::text
"""


def _hash_of(row: str) -> str:
    return f"encode(sha256(convert_to({_TEXT.format(row=row)}, 'UTF8')), 'hex')"


_CHAIN_OLD_ROWS = f"""
    ALTER TABLE investigations_auditevent DISABLE TRIGGER audit_append_only;
    DO $$
    DECLARE
        event investigations_auditevent;
        last_hash varchar := '';
    BEGIN
        FOR event IN SELECT * FROM investigations_auditevent ORDER BY id LOOP
            event.previous_hash := last_hash;
            event.hash := {_hash_of("event")};
            UPDATE investigations_auditevent
               SET previous_hash = event.previous_hash, hash = event.hash WHERE id = event.id;
            last_hash := event.hash;
        END LOOP;
    END $$;
    ALTER TABLE investigations_auditevent ENABLE TRIGGER audit_append_only;
"""
_CHAIN_NEW_ROWS = f"""
    CREATE FUNCTION chain_audit_event() RETURNS trigger LANGUAGE plpgsql
    -- A connection keeps the plan it made when the table was small; it must use the key even then.
    SET enable_seqscan = off SET enable_sort = off AS $$
    DECLARE
        last_id bigint;
        last_hash varchar;
    BEGIN
        PERFORM pg_advisory_xact_lock({_LOCK});
        SELECT id, hash INTO last_id, last_hash
          FROM investigations_auditevent ORDER BY id DESC LIMIT 1;
        NEW.id := coalesce(last_id, 0) + 1;
        NEW.previous_hash := coalesce(last_hash, '');
        NEW.created_at := clock_timestamp();
        NEW.hash := {_hash_of("NEW")};
        RETURN NEW;
    END $$;
    CREATE TRIGGER audit_chain
        BEFORE INSERT ON investigations_auditevent
        FOR EACH ROW EXECUTE FUNCTION chain_audit_event();
"""
_UNCHAIN_NEW_ROWS = """
    DROP TRIGGER audit_chain ON investigations_auditevent;
    DROP FUNCTION chain_audit_event();
"""


def _hash_field() -> models.CharField:
    return models.CharField(default="", editable=False, max_length=64)


class Migration(migrations.Migration):
    dependencies = [("investigations", "0007_approvals")]

    operations = [
        migrations.AddField("auditevent", "previous_hash", _hash_field()),
        migrations.AddField("auditevent", "hash", _hash_field()),
        migrations.RunSQL(_CHAIN_OLD_ROWS, migrations.RunSQL.noop),
        migrations.RunSQL(_CHAIN_NEW_ROWS, _UNCHAIN_NEW_ROWS),
        migrations.AddConstraint(
            "auditevent",
            models.UniqueConstraint(fields=["previous_hash"], name="audit_never_forks"),
        ),
        migrations.AddIndex(
            "auditevent",
            models.Index(
                fields=["created_at"],
                condition=models.Q(details__has_key="counts"),
                name="audit_counted",
            ),
        ),
    ]
