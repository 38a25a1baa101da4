"""What sessions of incidents are found by. Indexes are built beside whoever writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation


def _by(column: str) -> models.Index:
    return models.Index(
        fields=[column, "-created_at", "-id"],
        include=["deleted_at", "status"],
        name=f"session_by_{column}",
    )


def _add(index: models.Index) -> list[Operation]:
    """One that was left half made by an interrupted run goes first."""
    drop = migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop
    )
    return [drop, AddIndexConcurrently("alertsession", index)]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0021_incidents")]

    operations = [
        *_add(_by("source")),
        *_add(_by("severity")),
        *_add(
            models.Index(
                fields=["incident", "-created_at"],
                name="session_of_incident",
                condition=models.Q(incident__isnull=False),
            )
        ),
    ]
