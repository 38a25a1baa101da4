"""Indexes that lists of sessions are counted in without reading rows, and those of every order.

Built beside whoever writes: on a million sessions each takes some seconds.
"""

from collections.abc import Sequence

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F

_NEWEST = ("-created_at", "-id")
_DURATION = F("completed_at") - F("started_at")


def _add(index: models.Index) -> AddIndexConcurrently:
    return AddIndexConcurrently("alertsession", index)


def _covering(
    name: str, fields: Sequence[str], include: Sequence[str]
) -> AddIndexConcurrently:
    return _add(models.Index(fields=[*fields], include=[*include], name=name))


def _by_duration(name: str, order: models.expressions.OrderBy) -> AddIndexConcurrently:
    return _add(models.Index(order, F("created_at").desc(), F("id").desc(), name=name))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("investigations", "0014_names_of_interactions")]

    operations = [
        _covering(
            "session_list", _NEWEST, ["deleted_at", "status", "alert_type", "chain_id", "author"]
        ),
        _covering("session_by_status", ["status", *_NEWEST], ["deleted_at"]),
        *(
            _covering(f"session_by_{column}", [column, *_NEWEST], ["deleted_at", "status"])
            for column in ("alert_type", "chain_id", "author")
        ),
        *(
            _add(models.Index(fields=[f"-{column}", *_NEWEST], name=f"session_{name}"))
            for column, name in (
                ("status", "status_down"),
                ("alert_type", "type_down"),
                ("author", "author_down"),
            )
        ),
        _by_duration("session_shortest", _DURATION.asc(nulls_last=True)),
        _by_duration("session_longest", _DURATION.desc(nulls_last=True)),
        *(
            RemoveIndexConcurrently("alertsession", name)
            for name in (
                "session_newest",
                "session_status_newest",
                "session_alert_type",
                "session_chain",
                "session_author",
            )
        ),
    ]
