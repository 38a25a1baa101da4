import uuid

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Length, Now
from django.db.models.lookups import GreaterThan, LessThanOrEqual


def _add_key(column: str, target: str) -> migrations.RunSQL:
    """A key that cascades in the database, as those of `0002_database_cascades`."""
    name = f"resourcenote_{column}_fk"
    return migrations.RunSQL(
        sql=(
            f"ALTER TABLE investigations_resourcenote ADD CONSTRAINT {name} "
            f"FOREIGN KEY ({column}) REFERENCES investigations_{target} (id) "
            "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        ),
        reverse_sql=f"ALTER TABLE investigations_resourcenote DROP CONSTRAINT {name}",
    )


def _key_field(target: str) -> models.ForeignKey:
    return models.ForeignKey(
        db_constraint=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="notes",
        to=f"investigations.{target}",
    )


class Migration(migrations.Migration):
    dependencies = [("investigations", "0009_roles_and_scopes")]

    operations = [
        migrations.CreateModel(
            name="ResourceNote",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True,
                                        serialize=False)),
                ("resource_id", models.CharField(max_length=512)),
                ("category", models.CharField(blank=True, max_length=40)),
                ("text", models.TextField(help_text="Masked, and free of what nobody can see.")),
                ("digest", models.CharField(help_text="SHA-256 of the text.", max_length=64)),
                ("agent_name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("told_at", models.DateTimeField(db_default=Now())),
                ("execution", _key_field("agentexecution")),
                ("session", _key_field("alertsession")),
            ],
            options={
                "ordering": ["-told_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["resource_id", "-told_at", "-id"], name="note_of_resource"
                    ),
                    models.Index(fields=["-told_at", "-id"], name="note_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("resource_id", "digest"), name="note_told_once"
                    ),
                    models.CheckConstraint(
                        condition=LessThanOrEqual(Length("text"), 2000), name="note_text_bounded"
                    ),
                    models.CheckConstraint(
                        condition=GreaterThan(Length("text"), 0), name="note_says_something"
                    ),
                ],
            },
        ),
        _add_key("session_id", "alertsession"),
        _add_key("execution_id", "agentexecution"),
    ]  # fmt: skip
