"""Indexes of keys that begin with the same column as another index, which finds the same rows.

Each is dropped beside whoever reads and writes: three fewer to keep for each alert that comes.
"""

import django.db.models.deletion
from django.db import migrations, models

_INDEXES = (
    ("alertepisode", "incident_id", "1fbf7e9a"),
    ("memberchange", "incident_id", "cb448eca"),
    ("memberchange", "episode_id", "1e30fbd9"),
)


def _drop(model: str, column: str, digest: str) -> migrations.RunSQL:
    table = f"investigations_{model}"
    name = f"{table}_{column}_{digest}"
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    # On the way back, one that was left half made by an interrupted run goes first.
    return migrations.RunSQL(
        drop, [drop, f"CREATE INDEX CONCURRENTLY {name} ON {table} ({column})"]
    )


def _without_index(model: str, name: str, to: str, **options: object) -> migrations.AlterField:
    key = models.ForeignKey(
        to=f"investigations.{to}",
        on_delete=django.db.models.deletion.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        **options,
    )
    return migrations.AlterField(model_name=model, name=name, field=key)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0081_incidents_of_plain_alerts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[_drop(*each) for each in _INDEXES],
            state_operations=[
                _without_index(
                    "alertepisode", "incident", "incident", related_name="members",
                    null=True, blank=True,
                ),
                _without_index("memberchange", "incident", "incident", related_name="changes"),
                _without_index("memberchange", "episode", "alertepisode", related_name="changes"),
            ],
        ),
    ]
