"""Foreign keys that cascade in the database, and an audit table that only grows.

Django 5.2 cannot declare `ON DELETE CASCADE`, and its own cascade loads every row below a session:
one statement in the database deletes 100,000 sessions in seconds.
"""

from django.db import migrations

PREFIX = "investigations_"

# table, column, table it points to, what happens when that row goes
KEYS = [
    ("stage", "session_id", "alertsession", "CASCADE"),
    ("stage", "referenced_stage_id", "stage", "SET NULL"),
    ("stage", "chat_id", "chat", "CASCADE"),
    ("stage", "chat_user_message_id", "chatusermessage", "CASCADE"),
    ("agentexecution", "session_id", "alertsession", "CASCADE"),
    ("agentexecution", "stage_id", "stage", "CASCADE"),
    ("agentexecution", "parent_execution_id", "agentexecution", "CASCADE"),
    ("timelineevent", "session_id", "alertsession", "CASCADE"),
    ("timelineevent", "stage_id", "stage", "CASCADE"),
    ("timelineevent", "execution_id", "agentexecution", "CASCADE"),
    ("timelineevent", "parent_execution_id", "agentexecution", "SET NULL"),
    ("message", "session_id", "alertsession", "CASCADE"),
    ("message", "stage_id", "stage", "CASCADE"),
    ("message", "execution_id", "agentexecution", "CASCADE"),
    ("llminteraction", "session_id", "alertsession", "CASCADE"),
    ("llminteraction", "stage_id", "stage", "CASCADE"),
    ("llminteraction", "execution_id", "agentexecution", "CASCADE"),
    ("mcpinteraction", "session_id", "alertsession", "CASCADE"),
    ("mcpinteraction", "stage_id", "stage", "CASCADE"),
    ("mcpinteraction", "execution_id", "agentexecution", "CASCADE"),
    ("event", "session_id", "alertsession", "CASCADE"),
    ("chat", "session_id", "alertsession", "CASCADE"),
    ("chatusermessage", "chat_id", "chat", "CASCADE"),
    ("approvalrequest", "session_id", "alertsession", "CASCADE"),
    ("approvalrequest", "execution_id", "agentexecution", "CASCADE"),
]


def _add_key(table: str, column: str, target: str, action: str) -> migrations.RunSQL:
    name = f"{table}_{column}_fk"
    return migrations.RunSQL(
        sql=(
            f"ALTER TABLE {PREFIX}{table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) "
            f"REFERENCES {PREFIX}{target} (id) ON DELETE {action} DEFERRABLE INITIALLY DEFERRED"
        ),
        reverse_sql=f"ALTER TABLE {PREFIX}{table} DROP CONSTRAINT {name}",
    )


AUDIT_IS_APPEND_ONLY = migrations.RunSQL(
    sql="""
        CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'audit events are append-only';
        END $$;
        CREATE TRIGGER audit_append_only
            BEFORE UPDATE OR DELETE ON investigations_auditevent
            FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
    """,
    reverse_sql="""
        DROP TRIGGER audit_append_only ON investigations_auditevent;
        DROP FUNCTION refuse_audit_change();
    """,
)


class Migration(migrations.Migration):
    dependencies = [("investigations", "0001_initial")]

    operations = [*[_add_key(*key) for key in KEYS], AUDIT_IS_APPEND_ONLY]
