"""Two years of investigations, written by a few statements: what pages are measured on.

Everything follows from the number of a session, so two runs make the same history. Nothing is made
by the product's own services, which would take days; every constraint of the schema is kept.
"""

import hashlib
import uuid
from collections.abc import Mapping

from django.db import connection
from django.db.models import Model

from benchmarks.indexes import without_indexes
from investigations.models import (
    AgentExecution,
    AlertEpisode,
    AlertSession,
    ApprovalRequest,
    AuditEvent,
    Chat,
    ChatUserMessage,
    Event,
    Incident,
    LLMInteraction,
    MCPInteraction,
    Message,
    Stage,
    TimelineEvent,
)

LARGE, LARGEST = 500, 5000
"""Timeline events of one session in a thousand, and of a single one."""
RARE_TYPE, COMMON_TYPE = "certificate-expired", "disk-almost-full"
RARE_CHAIN, COMMON_CHAIN = "audit", "direct"
RARE_AUTHOR = "nightly-drill"
RARE_WORD, COMMON_WORD = "zebrafish", "kernel"
LIVE = 60
"""The newest sessions: they wait or run."""
STREAMED = 2000
"""Of so many of the newest sessions the messages to browsers are still kept."""

REPEATED = 40
"""One in so many sessions looks once more into the incident of the one before it."""

_WRITTEN: tuple[type[Model], ...] = (
    Incident, AlertEpisode, AlertSession, Stage, AgentExecution, TimelineEvent, Message,
    LLMInteraction, MCPInteraction, Event, Chat, ChatUserMessage, ApprovalRequest, AuditEvent,
)  # fmt: skip

# A number below `sides` that looks like chance and is always the same for one `n` and `salt`.
_DICE = """
    CREATE FUNCTION pg_temp.dice(n bigint, salt bigint, sides bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT (hashint8extended(n, salt) & 9223372036854775807) % sides'
"""

_PLAN = f"""
    CREATE TEMPORARY TABLE plan AS
    SELECT n, md5('session ' || n)::uuid AS id,
           md5('stage 1 ' || n)::uuid AS first_stage, md5('stage 2 ' || n)::uuid AS last_stage,
           now() - (:sessions - n) * (interval '730 days' / :sessions) AS created_at,
           (20 + pg_temp.dice(n, 4, 900)) * interval '1 second' AS took,
           status, status NOT IN ('pending', 'in_progress', 'cancelling') AS is_terminal,
           CASE WHEN status = 'pending' THEN 0 ELSE events END AS events,
           CASE events WHEN {LARGEST} THEN 8 WHEN {LARGE} THEN 4 ELSE 1 + n % 2 END AS agents,
           'db-' || pg_temp.dice(n, 5, 5000) || '.prod' AS host
      FROM generate_series(1, :sessions::bigint) AS n
     CROSS JOIN LATERAL (SELECT
           CASE WHEN n > :sessions - {LIVE // 2} THEN 'pending'
                WHEN n > :sessions - {LIVE - 2} THEN 'in_progress'
                WHEN n > :sessions - {LIVE} THEN 'cancelling'
                WHEN n < :sessions / 2 AND pg_temp.dice(n, 1, 10000) = 0 THEN 'timed_out'
                WHEN pg_temp.dice(n, 2, 100) < 8 THEN 'failed'
                WHEN pg_temp.dice(n, 2, 100) < 11 THEN 'cancelled'
                ELSE 'completed' END AS status,
           CASE WHEN n = :sessions - 1000 THEN {LARGEST}
                WHEN n = :sessions - {LIVE - 3} OR n % 1000 = 500 THEN {LARGE}
                WHEN pg_temp.dice(n, 3, 100) < 3 THEN 60
                ELSE 4 + pg_temp.dice(n, 3, 9) END AS events) AS chosen
"""
# An agent's events follow each other; with its last one it answers.
_STEPS = """
    plan CROSS JOIN LATERAL generate_series(1, events) AS i
    CROSS JOIN LATERAL (SELECT agents + is_terminal::int AS executions) AS x
    CROSS JOIN LATERAL (SELECT
        1 + (i - 1) * executions / events AS e,
        i = events OR i * executions / events > (i - 1) * executions / events AS is_last,
        created_at + took * i / (events + 1) AS at
    ) AS y
    CROSS JOIN LATERAL (SELECT
        CASE WHEN is_last AND is_terminal THEN 'final_analysis'
             WHEN is_last THEN 'llm_thinking'
             WHEN i % 12 = 2 THEN 'llm_response'
             WHEN i % 3 = 1 THEN 'llm_thinking'
             ELSE 'llm_tool_call' END AS kind,
        md5('execution ' || n || ' ' || e)::uuid AS execution,
        CASE WHEN e > agents THEN last_stage ELSE first_stage END AS stage
    ) AS z
"""
_REPORT = """
    format(E'## Conclusion\\n%s ran out of room: %s grew by %s MB an hour. Confidence: high\\n\\n'
           '## Evidence\\n- /var/lib is %s%% full [T2]\\n'
           '- the kernel logged %s write errors [T3]\\n- nothing else grew in the last day [T5]\\n'
           '\\n## Next steps\\n'
           '- Rotate the logs of %s with `logrotate -f /etc/logrotate.conf`\\n'
           '- Watch the volume for an hour\\n\\n## Not checked\\n- The backups of last week\\n',
           host, (ARRAY['postgres', 'journald', 'the audit log', 'docker'])[1 + n % 4],
           20 + n % 700, 90 + n % 10, n % 5000, host)
"""
_LINES = """
    repeat(format(E'2026-01-05T10:%s:00Z %s kernel: ext4 /dev/sda1 blocks low, %s of 524288\\n',
                  10 + i % 50, host, 1000 + i), 2 + (CASE WHEN events >= 500 THEN i % 40
                                                     ELSE i % 5 END)::int)
"""
_SOURCE = """
    (ARRAY['', 'alertmanager', 'grafana'])[1 + n % 3]
"""
_SEVERITY = "(ARRAY['critical', 'high', 'warning', 'info'])[1 + pg_temp.dice(n, 9, 4)]"
# Of the alerts of an incident.
_ALERTS = """
    CASE WHEN n % 3 = 0 OR n % 10 = 1 OR NOT is_terminal THEN 'firing'
         WHEN n % 500 = 2 THEN 'reopened' ELSE 'recovered' END
"""
_STATE = """
    CASE WHEN NOT is_terminal THEN 'active'
         WHEN e > agents AND status <> 'completed' THEN status ELSE 'completed' END
"""


def write_history(sessions: int) -> None:
    """Fill an empty database with so many sessions and ten times as many timeline events."""
    with connection.cursor() as cursor, without_indexes(_WRITTEN):
        cursor.execute("SET synchronous_commit = off")
        cursor.execute("ALTER TABLE investigations_auditevent DISABLE TRIGGER audit_chain")
        cursor.execute(_DICE)
        cursor.execute(_PLAN.replace(":sessions", str(sessions)))
        cursor.execute("ANALYZE plan")
        _write_incidents()
        _write_sessions()
        _write_stages()
        _write_executions()
        _write_timeline()
        _write_calls()
        _write_stream(sessions)
        _write_people()
        cursor.execute("ALTER TABLE investigations_auditevent ENABLE TRIGGER audit_chain")
        cursor.execute("DROP TABLE plan")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def session_id(number: int) -> uuid.UUID:
    """Of the session with a number from 1, the oldest, on."""
    return uuid.UUID(hashlib.md5(f"session {number}".encode()).hexdigest())


def _write_incidents() -> None:
    """A third are plain alerts; the others have up to five members, and most are over."""
    kind = "CASE WHEN n % 3 = 0 THEN 'alert' ELSE 'group' END"
    count = "CASE WHEN n % 3 = 0 THEN 1 ELSE 1 + n % 5 END"
    firing = f"CASE WHEN {_ALERTS} = 'recovered' THEN 0 ELSE {count} END"
    over = f"CASE WHEN {_ALERTS} = 'recovered' THEN created_at + took END"
    _fill(Incident, f"plan WHERE n % {REPEATED} <> 0", {
        "id": "id", "source": _SOURCE, "group_key": "'group ' || n", "kind": kind,
        "title": "format('Disk almost full on %s', host)", "severity": _SEVERITY,
        "state": _ALERTS, "takes_members": "false", "member_count": count, "firing_count": firing,
        "opened_at": "created_at", "last_joined_at": "created_at", "last_seen_at": "created_at",
        "recovered_at": over,
    })  # fmt: skip
    members = f"plan CROSS JOIN LATERAL generate_series(1, {count}) AS i"
    _fill(AlertEpisode, f"{members} WHERE n % {REPEATED} <> 0", {
        "id": "md5('episode ' || n || ' ' || i)::uuid", "incident_id": "id", "source": _SOURCE,
        "key": "'alert ' || n || ' ' || i", "is_latest": "true", "count": "1 + n % 9",
        "state": f"CASE WHEN {_ALERTS} = 'recovered' THEN 'resolved' ELSE 'firing' END",
        "title": "format('Disk almost full on %s', host)", "severity": _SEVERITY,
        "first_seen_at": "created_at", "last_seen_at": "created_at", "ended_at": over,
    })  # fmt: skip


def _write_sessions() -> None:
    _fill(AlertSession, "plan", {
        "id": "id", "status": "status", "created_at": "created_at",
        "source": _SOURCE, "severity": _SEVERITY,
        "incident_id": f"""
            CASE WHEN n % {REPEATED} = 0 THEN md5('session ' || n - 1)::uuid ELSE id END""",
        "is_listed": f"n % {REPEATED} <> {REPEATED} - 1 OR NOT is_terminal",
        "alert_type": f"""
            CASE WHEN n % 100000 = 77 THEN '{RARE_TYPE}' WHEN n % 4 = 0 THEN '{COMMON_TYPE}'
                 ELSE 'type-' || pg_temp.dice(n, 6, 40) END""",
        "chain_id": f"""
            CASE WHEN n % 100000 = 77 THEN '{RARE_CHAIN}' WHEN n % 3 = 0 THEN '{COMMON_CHAIN}'
                 ELSE 'chain-' || pg_temp.dice(n, 7, 12) END""",
        "author": f"""
            CASE WHEN n % 100000 = 77 THEN '{RARE_AUTHOR}'
                 ELSE 'person-' || pg_temp.dice(n, 8, 200) END""",
        "title": "format('Disk almost full on %s', host)",
        "alert_data": f"""
            format('{{"title": "Disk almost full", "host": "%s", "region": "eu-%s", "log": "%s"}}',
                   host, n % 9,
                   CASE WHEN n % 83333 = 41 THEN '{RARE_WORD} ' ELSE '' END
                   || repeat(format('{COMMON_WORD}: ext4 /dev/sda%s blocks low, %s left; ',
                             n % 4, 100 + n % 4000), 6))""",
        "final_analysis": f"CASE WHEN status = 'completed' THEN {_REPORT} ELSE '' END",
        "executive_summary": """
            CASE WHEN status = 'completed' THEN host || ' is full; rotate its logs.' ELSE '' END""",
        "error_message": "CASE WHEN status IN ('failed', 'timed_out') THEN 'no answer' ELSE '' END",
        "started_at": "CASE WHEN status <> 'pending' THEN created_at + interval '1 second' END",
        "completed_at": "CASE WHEN is_terminal THEN created_at + took END",
        "last_interaction_at": "CASE WHEN status <> 'pending' THEN created_at + took END",
        "current_stage_index": "CASE WHEN status <> 'pending' THEN 1 + is_terminal::int END",
        "current_stage_id": """
            CASE WHEN is_terminal THEN last_stage WHEN status <> 'pending' THEN first_stage END""",
        "total_stages": "2", "last_seq": "2 * events", "last_tool_number": "events",
        "deleted_at": "CASE WHEN is_terminal AND n % 200 = 3 THEN now() END",
    })  # fmt: skip


def _write_stages() -> None:
    source = "plan CROSS JOIN LATERAL generate_series(1, 1 + is_terminal::int) AS i, "
    source += "LATERAL (SELECT agents + i - 1 AS e) AS y WHERE status <> 'pending'"
    _fill(Stage, source, {
        "id": "CASE i WHEN 1 THEN first_stage ELSE last_stage END", "session_id": "id",
        "stage_name": "CASE i WHEN 1 THEN 'look' ELSE 'look - Synthesis' END", "stage_index": "i",
        "stage_type": "CASE i WHEN 1 THEN 'investigation' ELSE 'synthesis' END",
        "parallel_type": "CASE WHEN i = 1 AND agents > 1 THEN 'multi_agent' END",
        "expected_agent_count": "CASE i WHEN 1 THEN agents ELSE 1 END", "status": _STATE,
        "created_at": "created_at", "started_at": "created_at + took * (i - 1) / 2",
        "completed_at": "CASE WHEN is_terminal THEN created_at + took * i / 2 END",
        "duration_ms": "CASE WHEN is_terminal THEN 1000 * extract(epoch FROM took) / 2 END",
    })  # fmt: skip


def _write_executions() -> None:
    source = "plan CROSS JOIN LATERAL generate_series(1, agents + is_terminal::int) AS e "
    source += "WHERE status <> 'pending'"
    _fill(AgentExecution, source, {
        "id": "md5('execution ' || n || ' ' || e)::uuid", "session_id": "id",
        "stage_id": "CASE WHEN e > agents THEN last_stage ELSE first_stage END",
        "agent_name": "CASE WHEN e > agents THEN 'SynthesisAgent' ELSE 'Agent-' || e END",
        "agent_index": "CASE WHEN e > agents THEN 1 ELSE e END", "status": _STATE, "attempt": "1",
        "llm_backend": "'direct'", "llm_provider": "'bench'", "model_name": "'model-' || n % 5",
        "worker_id": "'worker-' || n % 8",
        "lease_token": "CASE WHEN NOT is_terminal THEN gen_random_uuid() END",
        "heartbeat_at": "created_at", "created_at": "created_at", "started_at": "created_at",
        "completed_at": "CASE WHEN is_terminal THEN created_at + took END",
        "duration_ms": "CASE WHEN is_terminal THEN 1000 * extract(epoch FROM took) END",
    })  # fmt: skip


def _write_timeline() -> None:
    _fill(TimelineEvent, _STEPS, {
        "id": "md5('event ' || n || ' ' || i)::uuid", "session_id": "id", "stage_id": "stage",
        "execution_id": "execution", "sequence_number": "2 * i - 1", "event_type": "kind",
        "status": "CASE WHEN is_last AND NOT is_terminal THEN 'streaming' ELSE 'completed' END",
        "content": f"""
            CASE kind WHEN 'final_analysis' THEN {_REPORT}
                 WHEN 'llm_tool_call' THEN {_LINES}
                 ELSE 'The volume of ' || host || ' is nearly full; which process grew? '
                      || 'First the usage of each directory, then who writes to it.' END""",
        "content_html": f"""
            CASE kind WHEN 'final_analysis' THEN '<p>' || {_REPORT} || '</p>'
                 WHEN 'llm_response' THEN '<p>The volume is nearly full.</p>' ELSE '' END""",
        "metadata": """
            CASE kind WHEN 'llm_tool_call' THEN jsonb_build_object(
                'tool_number', i, 'server_name', 'ops', 'tool_name', 'disk_usage',
                'arguments', jsonb_build_object('host', host, 'path', '/var/lib'),
                'duration_ms', 40 + i, 'is_error', i % 40 = 6)
            ELSE '{}' END""",
        "llm_interaction_id": "CASE WHEN kind <> 'llm_tool_call' THEN "
                              "md5('llm ' || n || ' ' || i)::uuid END",
        "mcp_interaction_id": "CASE WHEN kind = 'llm_tool_call' THEN "
                              "md5('mcp ' || n || ' ' || i)::uuid END",
        "created_at": "at", "updated_at": "at + interval '1 second'",
    })  # fmt: skip


def _write_calls() -> None:
    """A model call for each thought and answer, a tool call for each that the timeline shows."""
    of_step = {"session_id": "id", "stage_id": "stage", "execution_id": "execution"}
    _fill(LLMInteraction, f"{_STEPS} WHERE kind IN ('llm_thinking', 'final_analysis')", {
        **of_step, "id": "md5('llm ' || n || ' ' || i)::uuid", "iteration": "i",
        "interaction_type": "CASE kind WHEN 'llm_thinking' THEN 'iteration' ELSE kind END",
        "model_name": "'model-' || n % 5", "provider_name": "'bench'",
        "last_message_id": "md5('message ' || n || ' ' || i)::uuid",
        "llm_request": "jsonb_build_object('messages_count', i, 'tools_count', 12)",
        "llm_response": "jsonb_build_object('text_length', 140, 'tool_calls_count', 1)",
        "input_tokens": "2000 + 90 * i", "output_tokens": "150 + i % 90",
        "total_tokens": "2150 + 90 * i + i % 90",
        "estimated_cost_usd": "CASE WHEN n % 5 > 0 THEN 0.004 + 0.00002 * i END",
        "duration_ms": "800 + i % 4000", "created_at": "at",
        "error_message": "CASE WHEN i % 90 = 7 THEN 'the model timed out' ELSE '' END",
    })  # fmt: skip
    _fill(MCPInteraction, f"{_STEPS} WHERE kind = 'llm_tool_call'", {
        **of_step, "id": "md5('mcp ' || n || ' ' || i)::uuid", "interaction_type": "'tool_call'",
        "server_name": "'ops'", "tool_name": "'disk_usage'", "tool_number": "i",
        "tool_arguments": "jsonb_build_object('host', host, 'path', '/var/lib')",
        "tool_result": f"jsonb_build_object('content', {_LINES}, 'is_error', i % 40 = 6)",
        "duration_ms": "40 + i", "created_at": "at",
        "error_message": "CASE WHEN i % 40 = 6 THEN 'no such host' ELSE '' END",
    })  # fmt: skip
    _fill(Message, f"{_STEPS} WHERE events >= {LARGE} OR n % 10 = 0", {
        **of_step, "id": "md5('message ' || n || ' ' || i)::uuid", "sequence_number": "i",
        "role": "CASE kind WHEN 'llm_tool_call' THEN 'tool' ELSE 'assistant' END",
        "content": f"CASE kind WHEN 'llm_tool_call' THEN {_LINES} ELSE 'Who writes there?' END",
        "tool_name": "CASE kind WHEN 'llm_tool_call' THEN 'ops.disk_usage' ELSE '' END",
        "tool_number": "CASE kind WHEN 'llm_tool_call' THEN i END", "created_at": "at",
    })  # fmt: skip


def _write_stream(sessions: int) -> None:
    told = f"(n > {sessions - STREAMED} OR events = {LARGEST})"
    _fill(Event, f"{_STEPS} CROSS JOIN (VALUES (0), (1)) AS t(is_end) WHERE {told}", {
        "session_id": "id", "seq": "2 * i - 1 + is_end", "channel": "'session:' || id",
        "payload": """jsonb_build_object(
            'type', (ARRAY['timeline_event.created', 'timeline_event.completed'])[1 + is_end],
            'session_id', id, 'event_id', md5('event ' || n || ' ' || i)::uuid,
            'event_type', kind, 'sequence_number', 2 * i - 1)""",
        "created_at": "at + is_end * interval '1 second'",
    })  # fmt: skip


def _write_people() -> None:
    """Approvals, a few of which wait; questions; and what the audit trail says of it all."""
    asked = "(is_terminal AND n % 50 = 4 OR status = 'in_progress' AND n % 3 = 0)"
    _fill(ApprovalRequest, f"plan WHERE {asked}", {
        "id": "md5('approval ' || n)::uuid", "session_id": "id",
        "execution_id": "md5('execution ' || n || ' 1')::uuid", "tool_call_id": "'call-1'",
        "tool_number": "2", "server_name": "'ops'", "tool_name": "'rotate_logs'",
        "target": "host", "argument_hash": "md5(host)", "reason": "'the volume is full'",
        "status": """
            CASE WHEN NOT is_terminal THEN 'pending'
                 ELSE (ARRAY['approved', 'denied', 'expired'])[1 + n / 50 % 3] END""",
        "decided_by": "CASE WHEN is_terminal THEN 'person-' || n % 20 ELSE '' END",
        "created_at": "created_at + interval '9 seconds'",
        "expires_at": "created_at + interval '1 hour'",
        "decided_at": "CASE WHEN is_terminal THEN created_at + interval '99 seconds' END",
    })  # fmt: skip
    _fill(Chat, "plan WHERE is_terminal AND n % 100 = 9", {
        "id": "md5('chat ' || n)::uuid", "session_id": "id", "chain_id": f"'{COMMON_CHAIN}'",
        "created_at": "created_at + took",
    })  # fmt: skip
    _fill(ChatUserMessage, "plan WHERE is_terminal AND n % 100 = 9", {
        "id": "md5('question ' || n)::uuid", "chat_id": "md5('chat ' || n)::uuid",
        "content": "'And the backups?'", "author": "'person-1'", "created_at": "created_at + took",
    })  # fmt: skip
    _fill(AuditEvent, "plan", {
        "id": "n", "actor": "'person-' || pg_temp.dice(n, 8, 200)", "action": "'session.submit'",
        "target_type": "'session'", "target_id": "id", "created_at": "created_at",
        "previous_hash": "md5('row ' || n - 1)", "hash": "md5('row ' || n)",
    })  # fmt: skip


# ---- Into tables --------------------------------------------------------------------------------


def _fill(model: type[Model], source: str, expressions: Mapping[str, str]) -> None:
    """Insert what is given; of the other columns that must have a value, the empty one."""
    columns = dict(expressions)
    for field in model._meta.concrete_fields:
        is_filled = field.null or field.has_db_default() or field.primary_key or field.generated
        if field.column not in columns and not is_filled:
            columns[field.column] = _empty(field.get_internal_type())
    names, values = ", ".join(columns), ", ".join(columns.values())
    # Everything put together here is written in this file.
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({names}) SELECT {values} FROM {source}"
        )


def _empty(kind: str) -> str:
    if kind == "JSONField":
        return "'{}'"
    return "0" if "Integer" in kind else "''"
