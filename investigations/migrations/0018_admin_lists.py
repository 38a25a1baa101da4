"""What the administration's lists are ordered and filtered by; titles among the searched words.

Indexes are built beside whoever writes.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

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
# Most titles stand in their alert as they are; only the other rows are written anew.
_ADD_TITLES = f"""
    UPDATE investigations_sessiontext AS searched SET text = {_WORDS.format("session")}
      FROM investigations_alertsession AS session
     WHERE session.id = searched.session_id
       AND position(upper(session.title) IN searched.text) = 0;
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0017_hidden_tools")]

    operations = [
        AddIndexConcurrently(
            "timelineevent",
            models.Index(fields=["-created_at", "-sequence_number"], name="timeline_newest"),
        ),
        AddIndexConcurrently(
            "message",
            models.Index(fields=["-created_at", "-sequence_number"], name="message_newest"),
        ),
        AddIndexConcurrently(
            "chat", models.Index(fields=["-created_at", "-id"], name="chat_newest")
        ),
        AddIndexConcurrently(
            "chatusermessage", models.Index(fields=["-created_at", "-id"], name="question_newest")
        ),
        AddIndexConcurrently(
            "alertsession",
            models.Index(
                fields=["-created_at", "-id"],
                name="session_with_error",
                condition=~models.Q(error_message=""),
            ),
        ),
        migrations.RunSQL(
            sql=_KEEP.format(words=_WORDS.format("NEW")) + _ADD_TITLES,
            reverse_sql=_KEEP.format(words=_WORDS_BEFORE.format("NEW")),
        ),
    ]
