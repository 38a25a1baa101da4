"""What a search for a part of a word goes through: the alert and the report of each session."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

_WORDS = "upper(left({0}.alert_data, 200000) || E'\\n' || left({0}.final_analysis, 200000))"

_KEEP_WORDS = migrations.RunSQL(
    sql=f"""
        CREATE FUNCTION keep_session_text() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO investigations_sessiontext (session_id, text)
            VALUES (NEW.id, {_WORDS.format("NEW")})
            ON CONFLICT (session_id) DO UPDATE SET text = excluded.text;
            RETURN NULL;
        END $$;
        CREATE TRIGGER session_text_made AFTER INSERT ON investigations_alertsession
            FOR EACH ROW EXECUTE FUNCTION keep_session_text();
        CREATE TRIGGER session_text_changed
            AFTER UPDATE OF alert_data, final_analysis ON investigations_alertsession
            FOR EACH ROW
            WHEN (OLD.alert_data IS DISTINCT FROM NEW.alert_data
                  OR OLD.final_analysis IS DISTINCT FROM NEW.final_analysis)
            EXECUTE FUNCTION keep_session_text();
        INSERT INTO investigations_sessiontext (session_id, text)
        SELECT id, {_WORDS.format("session")} FROM investigations_alertsession session;
    """,
    reverse_sql="""
        DROP TRIGGER session_text_changed ON investigations_alertsession;
        DROP TRIGGER session_text_made ON investigations_alertsession;
        DROP FUNCTION keep_session_text();
    """,
)

_KEY = migrations.RunSQL(
    sql="""
        ALTER TABLE investigations_sessiontext ADD CONSTRAINT sessiontext_session_id_fk
            FOREIGN KEY (session_id) REFERENCES investigations_alertsession (id)
            ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
    """,
    reverse_sql="ALTER TABLE investigations_sessiontext DROP CONSTRAINT sessiontext_session_id_fk",
)


class Migration(migrations.Migration):
    dependencies = [("investigations", "0011_newest_rows")]

    operations = [
        TrigramExtension(),
        migrations.CreateModel(
            name="SessionText",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="searched",
                        serialize=False,
                        to="investigations.alertsession",
                    ),
                ),
                ("text", models.TextField()),
            ],
        ),
        _KEEP_WORDS,
        # After the rows, which is faster; and no index is made of a table whose key has still to be
        # checked.
        migrations.AddIndex(
            model_name="sessiontext",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass("text", name="gin_trgm_ops"),
                name="session_text_parts",
            ),
        ),
        _KEY,
    ]
