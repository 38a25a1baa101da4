"""What the administration's lists are ordered and filtered by; titles among the searched words.

Indexes are built beside whoever writes.
"""

import uuid

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import StateApps

_WORDS = """upper(left({0}.title, 300) || E'\\n' || left({0}.alert_data, 200000) || E'\\n'
              || left({0}.final_analysis, 200000))"""
_WORDS_BEFORE = (
    "upper(left({0}.alert_data, 200000) || E'\\n' || left({0}.final_analysis, 200000))"
)
_KEEP = """
    CREATE OR REPLACE FUNCTION keep_session_text() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO investigations_sessiontext (session_id, text)
        VALUES (NEW.id, {words})
        ON CONFLICT (session_id) DO UPDATE SET text = excluded.text;
        RETURN NULL;
    END $$;
"""
# Most titles stand in their alert as they are; only the other rows are written anew, a batch at a
# time, so that nobody waits for a lock on all of them.
_BATCH = """
    SELECT session_id FROM investigations_sessiontext
     WHERE session_id > %s ORDER BY session_id LIMIT 500
"""
_ADD_TITLES = f"""
    UPDATE investigations_sessiontext AS searched SET text = {_WORDS.format("session")}
      FROM investigations_alertsession AS session
     WHERE session.id = searched.session_id AND searched.session_id = ANY(%s)
       AND position(upper(session.title) IN searched.text) = 0
"""


def _add_titles(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    last = uuid.UUID(int=0)
    with editor.connection.cursor() as cursor:
        while True:
            cursor.execute(_BATCH, [last])
            ids = [row[0] for row in cursor.fetchall()]
            if not ids:
                return
            cursor.execute(_ADD_TITLES, [ids])
            last = ids[-1]


def _add(model: str, name: str, second: str, **options: models.Q) -> list[Operation]:
    """An index of the newest rows; one that was left half made by an interrupted run goes first."""
    index = models.Index(fields=["-created_at", second], name=name, **options)
    drop = migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop)
    return [drop, AddIndexConcurrently(model, index)]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0017_hidden_tools")]

    operations = [
        *_add("timelineevent", "timeline_newest", "-sequence_number"),
        *_add("message", "message_newest", "-sequence_number"),
        *_add("chat", "chat_newest", "-id"),
        *_add("chatusermessage", "question_newest", "-id"),
        *_add("alertsession", "session_with_error", "-id", condition=~models.Q(error_message="")),
        migrations.RunSQL(
            sql=_KEEP.format(words=_WORDS.format("NEW")),
            reverse_sql=_KEEP.format(words=_WORDS_BEFORE.format("NEW")),
        ),
        migrations.RunPython(_add_titles, migrations.RunPython.noop),
    ]
