"""Indexes for what monitoring counts of the last hours.

Built beside whoever writes: on a long history each takes some seconds.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0015_session_lists")]

    operations = [
        AddIndexConcurrently(
            "alertsession",
            models.Index(
                fields=["started_at"],
                name="session_started",
                condition=Q(started_at__isnull=False),
            ),
        ),
        AddIndexConcurrently(
            "agentexecution",
            models.Index(
                fields=["completed_at"], name="execution_taken_over", condition=Q(attempt__gt=1)
            ),
        ),
        AddIndexConcurrently(
            "agentexecution",
            models.Index(
                fields=["completed_at"],
                name="execution_fell_back",
                condition=~Q(original_llm_provider=""),
            ),
        ),
    ]
