"""Indexes for lists that show the newest rows of a table that only grows.

Built beside whoever writes: on a long history each takes some seconds.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0010_resource_notes")]

    operations = [
        AddIndexConcurrently(
            "stage", models.Index(fields=["-created_at", "-id"], name="stage_newest")
        ),
        AddIndexConcurrently(
            "agentexecution",
            models.Index(fields=["-created_at", "-id"], name="execution_newest"),
        ),
        AddIndexConcurrently(
            "alertsession",
            models.Index(
                fields=["deleted_at", "id"],
                name="session_deleted_id",
                condition=models.Q(deleted_at__isnull=False),
            ),
        ),
        RemoveIndexConcurrently("alertsession", "session_deleted"),
        AddIndexConcurrently(
            "auditevent", models.Index(fields=["action", "-id"], name="audit_action")
        ),
    ]
