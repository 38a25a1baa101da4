"""Indexes for the words of the timeline and for the sessions of one author.

Built beside whoever writes: on a long history of ten million events it takes minutes.
"""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.contrib.postgres.search import SearchVector
from django.db import migrations, models
from django.db.models.functions import Left


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0012_session_search")]

    operations = [
        AddIndexConcurrently(
            "alertsession",
            models.Index(fields=["author", "-created_at", "-id"], name="session_author"),
        ),
        AddIndexConcurrently(
            "timelineevent",
            GinIndex(SearchVector(Left("content", 100000), config="english"), name="timeline_words"),
        ),
    ]
