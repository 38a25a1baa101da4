"""The looks of ours at what writes have done, which the list counts. It is built beside whoever
reads and writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_NAME = "mcp_check"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0082_no_index_twice")]

    operations = [
        # One that was left half made by an interrupted run goes first.
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {_NAME}", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "mcpinteraction",
            models.Index(
                fields=["session"],
                name=_NAME,
                condition=models.Q(interaction_type="tool_call", tool_number=None),
            ),
        ),
    ]
