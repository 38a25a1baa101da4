"""Every session gets an incident: that of the session it repeats, or one of its own.

The incidents are made in batches, each a transaction of its own, as a history may have a million
sessions; only the retries among these are joined by one statement. What was interrupted goes on when
it is run again. What an older process writes meanwhile stays without an
incident, and is listed all the same.
"""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

BATCH = 2_000
_KEEP_RETRIES = """
    DROP TABLE IF EXISTS pg_temp.retry;
    CREATE TEMPORARY TABLE retry AS
    SELECT (session_metadata->>'retried_as')::uuid AS id, id AS original
      FROM investigations_alertsession WHERE session_metadata ? 'retried_as';
    CREATE INDEX ON pg_temp.retry (id)
"""
_FIND_END = """
    SELECT created_at, id FROM (
        SELECT created_at, id FROM investigations_alertsession
         WHERE (created_at, id) > (%s, %s) ORDER BY created_at, id LIMIT %s) AS batch
     ORDER BY created_at DESC, id DESC LIMIT 1
"""
_MAKE = """
    WITH alone AS MATERIALIZED (
        SELECT id, created_at, source, title, alert_type,
               COALESCE(NULLIF(severity, ''), 'unknown') AS severity
          FROM investigations_alertsession AS session
         WHERE (created_at, id) > (%s, %s) AND (created_at, id) <= (%s, %s)
           AND incident_id IS NULL
           AND NOT EXISTS (SELECT FROM pg_temp.retry WHERE retry.id = session.id)
    ), incident AS (
        INSERT INTO investigations_incident (
            id, source, group_key, kind, title, severity, state, takes_members, team, alert_type,
            rule, member_count, firing_count, opened_at, last_joined_at, last_seen_at)
        SELECT id, source, id::text, 'alert', title, severity, 'firing', false, '', alert_type,
               '', 1, 1, created_at, created_at, created_at FROM alone
        ON CONFLICT DO NOTHING
    ), member AS (
        INSERT INTO investigations_alertepisode (
            id, incident_id, source, key, is_latest, state, title, severity, labels, link, body,
            first_seen_at, last_seen_at, count)
        SELECT id, id, source, id::text, true, 'firing', title, severity, '{}', '', '',
               created_at, created_at, 1 FROM alone
        ON CONFLICT DO NOTHING
    )
    UPDATE investigations_alertsession AS session SET incident_id = alone.id
      FROM alone WHERE session.id = alone.id AND session.incident_id IS NULL
"""
_JOIN_RETRIES = """
    UPDATE investigations_alertsession AS session SET incident_id = original.incident_id
      FROM pg_temp.retry JOIN investigations_alertsession AS original ON original.id = retry.original
     WHERE session.id = retry.id AND session.incident_id IS NULL
       AND original.incident_id IS NOT NULL
"""
_LIST_NEWEST = """
    UPDATE investigations_alertsession AS session SET is_listed = false
      FROM (SELECT id, row_number() OVER (PARTITION BY incident_id ORDER BY
                   deleted_at IS NULL DESC, created_at DESC, id DESC) AS place
              FROM investigations_alertsession
             WHERE incident_id IN (SELECT incident_id FROM investigations_alertsession
                                    GROUP BY incident_id HAVING count(*) > 1)) AS placed
     WHERE session.id = placed.id AND placed.place > 1
"""
_LEAVE_OUT_ABSORBED = """
    UPDATE investigations_alertsession SET is_listed = false
     WHERE error_message = 'Taken over by a storm of its source before it began.'
"""


def give_incidents(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute(_KEEP_RETRIES)
        begun: tuple[Any, Any] = ("-infinity", "00000000-0000-0000-0000-000000000000")
        while True:
            cursor.execute(_FIND_END, [*begun, BATCH])
            end = cursor.fetchone()
            if end is None:
                break
            cursor.execute(_MAKE, [*begun, *end])
            begun = end
        # One round for each time that something was repeated in turn.
        while True:
            cursor.execute(_JOIN_RETRIES)
            if not cursor.rowcount:
                break
        cursor.execute(_LIST_NEWEST)
        cursor.execute(_LEAVE_OUT_ABSORBED)


_NEWEST = ("-created_at", "-id")


def _replace(index: models.Index) -> list[Operation]:
    """The old one serves until the new one is there. One that an interrupted run left half made
    goes as well."""
    made = index.clone()
    made.name = f"{index.name}_new"
    drop = migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}",
        migrations.RunSQL.noop,
        state_operations=[migrations.RemoveIndex("alertsession", index.name)],
    )
    return [
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {made.name}", migrations.RunSQL.noop),
        AddIndexConcurrently("alertsession", made),
        drop,
        migrations.RenameIndex("alertsession", new_name=index.name, old_name=made.name),
    ]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0080_listed_sessions")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS incident_followed", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "incident",
            models.Index(
                fields=["source", "opened_at"],
                name="incident_followed",
                condition=models.Q(kind__in=["group", "storm"]),
            ),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS episode_about", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "alertepisode",
            models.Index(
                fields=["source", "about"],
                name="episode_about",
                condition=models.Q(is_latest=True) & ~models.Q(about=""),
            ),
        ),
        migrations.RunPython(give_incidents, migrations.RunPython.noop),
        *_replace(
            models.Index(
                fields=[*_NEWEST],
                include=[
                    "deleted_at", "is_listed", "status", "alert_type", "chain_id", "author",
                    "severity", "source", "incident",
                ],
                name="session_list",
            )
        ),
        *_replace(
            models.Index(
                fields=["status", *_NEWEST],
                include=["deleted_at", "is_listed"],
                name="session_by_status",
            )
        ),
        *(
            operation
            for column in ("alert_type", "chain_id", "author", "source", "severity")
            for operation in _replace(
                models.Index(
                    fields=[column, *_NEWEST],
                    include=["deleted_at", "is_listed", "status"],
                    name=f"session_by_{column}",
                )
            )
        ),
        *(
            operation
            for column in ("service", "cluster")
            for operation in _replace(
                models.Index(
                    fields=[column, *_NEWEST],
                    include=["deleted_at", "is_listed", "status"],
                    condition=~models.Q(**{column: ""}),
                    name=f"session_by_{column}",
                )
            )
        ),
        *_replace(
            models.Index(
                fields=[*_NEWEST],
                include=["deleted_at", "is_listed"],
                name="session_inconclusive",
                condition=models.Q(is_inconclusive=True),
            )
        ),
    ]
