"""One session as a JSON document for people who keep or hand on what was found."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, Q, QuerySet

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Stage,
    TimelineEvent,
)
from investigations.selectors.changes import changes_of_session
from investigations.selectors.claims import judge_report
from investigations.selectors.cursors import rows_behind

EXPORT_VERSION = 1
"""Grows when a field goes or changes its meaning, not when one is added."""

_SESSION = ("id", "alert_type", "alert_data", "title", "chain_id", "author", "runbook_url",
            "mcp_selection", "status", "final_analysis", "executive_summary",
            "executive_summary_error", "error_message", "created_at", "started_at",
            "completed_at")  # fmt: skip
_STAGE = ("id", "stage_name", "stage_index", "stage_type", "parallel_type", "success_policy",
          "status", "error_message", "started_at", "completed_at", "duration_ms")  # fmt: skip
_EXECUTION = ("id", "stage_id", "parent_execution_id", "agent_name", "agent_index", "task",
              "status", "error_message", "llm_backend", "llm_provider", "model_name",
              "original_llm_provider", "original_model_name", "created_at", "started_at",
              "completed_at", "duration_ms")  # fmt: skip
_EVENT = ("id", "sequence_number", "stage_id", "execution_id", "parent_execution_id",
          "event_type", "status", "content", "metadata", "created_at", "updated_at")  # fmt: skip
_APPROVAL = ("id", "execution_id", "tool_number", "server_name", "tool_name", "arguments",
             "target", "argument_hash", "reason", "risk", "status", "decided_by",
             "decision_reason", "created_at", "expires_at", "decided_at", "used_at")  # fmt: skip

ROWS_AT_ONCE = 200


def export_session(session: AlertSession) -> Iterator[str]:
    """The document in pieces: the rows of a long timeline are never held all at once."""
    yield f'{{"version": {EXPORT_VERSION},\n"session": '
    counts = judge_report(session.pk, session.final_analysis).counts
    told = {name: getattr(session, name) for name in _SESSION}
    told["changes"] = [asdict(each) for each in changes_of_session(session.pk)]
    yield _write({**told, "claims": {**asdict(counts), "words": counts.words}})
    for name, rows, key, fields in _lists(session):
        yield f',\n"{name}": ['
        for number, row in enumerate(_read(rows.values(*fields), key)):
            yield (",\n" if number else "\n") + _write(row)
        yield "]"
    yield "}\n"


def _read(rows: QuerySet[Any, dict[str, Any]], key: str) -> Iterator[dict[str, Any]]:
    """In order of `key`. A query for each piece: a slow reader holds no connection meanwhile."""
    ordered, behind = rows.order_by(key, "id"), Q()
    while piece := list(ordered.filter(behind)[:ROWS_AT_ONCE]):
        yield from piece
        last = (piece[-1][key], piece[-1]["id"])
        behind = rows_behind((key, "id"), last, newest_first=False)


def _lists(session: AlertSession) -> list[tuple[str, QuerySet[Any], str, tuple[str, ...]]]:
    def of(model: type[Model]) -> QuerySet[Any]:
        return model._default_manager.filter(session_id=session.pk)

    return [
        ("stages", of(Stage), "stage_index", _STAGE),
        ("executions", of(AgentExecution), "created_at", _EXECUTION),
        ("approvals", of(ApprovalRequest), "created_at", _APPROVAL),
        ("timeline", of(TimelineEvent), "sequence_number", _EVENT),
    ]


def _write(row: Mapping[str, Any]) -> str:
    return json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
