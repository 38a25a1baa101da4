"""What the list's filters by outcome read. Indexes are built beside whoever reads and writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation


def _add(model: str, index: models.Index) -> list[Operation]:
    """One that was left half made by an interrupted run goes first."""
    drop = migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop
    )
    return [drop, AddIndexConcurrently(model, index)]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0084_writes_told")]

    operations = [
        *_add(
            "alertsession",
            models.Index(
                fields=["-created_at", "-id"],
                name="session_with_writes",
                condition=~models.Q(writes_told=""),
                include=("deleted_at", "is_listed"),
            ),
        ),
        *_add(
            "approvalrequest",
            models.Index(
                fields=["session"],
                name="approval_undone",
                condition=models.Q(status__in=["denied", "expired"]),
            ),
        ),
    ]
