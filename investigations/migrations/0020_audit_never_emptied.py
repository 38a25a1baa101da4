"""A trigger of rows says nothing of TRUNCATE, which would empty the audit trail at once."""

from django.db import migrations

_FORBID = """
    CREATE FUNCTION refuse_to_empty_audit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the audit trail is append-only and is never emptied';
    END $$;
    CREATE TRIGGER audit_never_emptied BEFORE TRUNCATE ON investigations_auditevent
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_empty_audit();
"""
_ALLOW = """
    DROP TRIGGER audit_never_emptied ON investigations_auditevent;
    DROP FUNCTION refuse_to_empty_audit();
"""


class Migration(migrations.Migration):
    dependencies = [("investigations", "0019_questions_of_deciders")]

    operations = [migrations.RunSQL(_FORBID, _ALLOW)]
