"""The metrics that Prometheus collects, counted from the rows that every process writes.

Counters must never go down, while retention deletes rows. So what is older than any running session
is added up once and kept in Redis; a scrape reads only the rows since then. Without Redis, or after
it was emptied, everything that is still there is counted.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

import redis
from django.db import connection

from config import get_config
from investigations.selectors.sessions import count_active_and_queued
from investigations.selectors.system.tool_servers import read_health
from investigations.selectors.system.workers import client, live_workers
from investigations.selectors.trace.not_run import HELD

logger = logging.getLogger(__name__)

BASE_KEY = "tarsy:metrics"
"""Redis text: `{until, series}`, everything counted before a moment."""

LATE = timedelta(hours=1)
"""Rows may be written this long after the moment they tell of, beyond a session's time limit."""

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_SESSION_SECONDS = (30, 60, 120, 300, 600, 900, 1200, 1800, 2400)
_WAIT_SECONDS = (1, 5, 10, *_SESSION_SECONDS)
_LLM_SECONDS = (1, 2.5, 5, 10, 20, 30, 60, 90, 120, 180)
_MEMBERS = (1, 2, 5, 10, 50, 100, 1000)
_TOOL_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


@dataclass(frozen=True)
class Family:
    """One metric: its name, what it says and how its series are told apart."""

    name: str
    about: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    """Upper edges of a histogram's buckets, inclusive; the last bucket is everything above."""


@dataclass(frozen=True)
class Series:
    """One line: of a counter its value, of a histogram how many are in each bucket, and the sum."""

    labels: tuple[str, ...]
    value: float
    buckets: tuple[float, ...] = ()


Reading = Mapping[Family, Sequence[Series]]

_Key = tuple[str, tuple[str, ...], int]
"""Name, label values, and which bucket; -1 is the value itself or the sum."""
_VALUE = -1


@dataclass(frozen=True)
class _Measure:
    """How a family is read: which rows, by which moment, told apart by which expressions."""

    family: Family
    table: str
    moment: str
    labels: tuple[str, ...] = ()
    value: str = "1"
    condition: str = "true"

    def read(self, since: datetime, until: datetime | None) -> Iterable[tuple[_Key, float]]:
        grouped = ", ".join((*self.labels, self._bucket()))
        # Everything put together here is written in this file.
        query = f"""
            SELECT {grouped}, count(*), sum({self.value})::float8
              FROM investigations_{self.table}
             WHERE {self.moment} >= %(since)s AND {self.moment} < %(until)s::timestamptz
               AND {self.condition}
             GROUP BY {", ".join(str(n + 1) for n in range(len(self.labels) + 1))}
        """
        edges = list(self.family.edges)
        end = until.isoformat() if until else "infinity"
        with connection.cursor() as cursor:
            cursor.execute(query, {"since": since, "until": end, "edges": edges})
            rows = cursor.fetchall()
        for *labels, bucket, count, total in rows:
            name, values = self.family.name, tuple(map(str, labels))
            if edges:
                yield (name, values, bucket), count
            yield (name, values, _VALUE), total or 0.0

    def _bucket(self) -> str:
        if not self.family.edges:
            return "0"
        return f"(SELECT count(*) FROM unnest(%(edges)s::float8[]) edge WHERE edge < {self.value})"


def _counter(name: str, about: str, *labels: str) -> Family:
    return Family(name, about, "counter", labels)


def _seconds(name: str, about: str, edges: Sequence[float], *labels: str) -> Family:
    return Family(name, about, "histogram", labels, tuple(map(float, edges)))


_FROM_START_TO_END = "extract(epoch FROM completed_at - started_at)::float8"
_FROM_INTAKE_TO_START = "extract(epoch FROM started_at - created_at)::float8"
_MODEL = ("provider_name", "model_name")
# A tool nobody offers has no server: its name is a model's invention, and there is no end to them.
_TOOL = ("server_name", "CASE WHEN server_name = '' THEN '' ELSE tool_name END")
_REFUSED_HERE = " AND ".join(f"error_message LIKE '{each}'" for each in HELD).replace("%", "%%")
_ERROR_CODE = """
    CASE WHEN error_message ~* 'timed out|did not (answer|begin|finish)|fell silent' THEN 'timeout'
         WHEN error_message ~* 'cancell?ed' THEN 'canceled'
         ELSE 'error' END
"""


def _tokens(direction: str) -> _Measure:
    family = _counter("tarsy_llm_tokens_total", "Tokens of model calls.",
                      "provider", "model", "direction")  # fmt: skip
    column = f"{direction}_tokens"
    return _Measure(
        family, "llminteraction", "created_at", (*_MODEL, f"'{direction}'"), column, f"{column} > 0"
    )


# Whoever writes into the trail may call something of his own so.
_COUNTS = "CASE jsonb_typeof(details->'counts') WHEN 'array' THEN details->'counts' END"


def _clean(column: str) -> str:
    """The label that `clean_label` of the gate makes of a text."""
    bare = f"regexp_replace({column}, '[^A-Za-z0-9_.:/@+-]', '_', 'g')"
    return f"coalesce(nullif(left({bare}, 64), ''), 'unknown')"


def _gate(name: str, about: str, *labels: str) -> _Measure:
    """A counter of the gate: what its acts count stands in the audit trail."""
    return _Measure(
        _counter(f"tarsy_ai_{name}", about, *labels),
        f"auditevent CROSS JOIN LATERAL jsonb_array_elements({_COUNTS}) AS counted",
        "created_at",
        tuple(f"coalesce(counted->'labels'->>'{label}', 'unknown')" for label in labels),
        condition=f"details ? 'counts' AND counted->>'counter' = 'tarsy_ai_{name}'",
    )


_GATE = (
    _gate("fsm_tool_block_total", "Tool calls that were not their turn.", "state", "tool", "kind"),
    _gate("fsm_final_block_total", "Answers before a write was verified.", "state"),
    _gate("strict_resolution_block_total", "Tool calls on what was never resolved.",
          "tool", "action"),
    _gate("routing_mismatch_block_total", "Tool calls on a host that were meant for less.",
          "tool", "target_kind", "child_kind"),
    _gate("policy_block_total", "Tool calls that no rule lets pass.", "tool", "code"),
    _gate("approval_block_total", "Writes that no person approved.", "tool", "verdict"),
    _gate("phantom_detected_total", "Answers that claim an act that no tool call did.",
          "provider", "model"),
    _gate("auto_recovery_attempt_total", "Refusals a model may make good.", "error_code", "tool"),
    _gate("auto_recovery_success_total", "Refused calls that succeeded later.",
          "error_code", "tool"),
    _Measure(
        _counter("tarsy_ai_agentic_iterations_total", "Turns of agents.", "provider", "model"),
        "llminteraction", "created_at", tuple(map(_clean, _MODEL)), "1",
        "interaction_type IN ('iteration', 'final_analysis', 'forced_conclusion')",
    ),
)  # fmt: skip

_MEASURES = (
    _Measure(
        _counter("tarsy_sessions_submitted_total", "Alerts taken in.", "alert_type"),
        "alertsession", "created_at", ("alert_type",),
    ),
    _Measure(
        _counter("tarsy_sessions_terminal_total", "Sessions that ended.", "alert_type", "status"),
        "alertsession", "completed_at", ("alert_type", "status"),
    ),
    _Measure(
        _seconds("tarsy_session_duration_seconds", "From start to end of a session.",
                 _SESSION_SECONDS, "alert_type", "status"),
        "alertsession", "completed_at", ("alert_type", "status"), _FROM_START_TO_END,
        "started_at IS NOT NULL",
    ),
    _Measure(
        _seconds("tarsy_session_wait_seconds", "From intake to start of a session.",
                 _WAIT_SECONDS, "alert_type"),
        "alertsession", "started_at", ("alert_type",), _FROM_INTAKE_TO_START,
    ),
    _Measure(
        _counter("tarsy_orphans_recovered_total", "Executions taken over from a dead worker."),
        "agentexecution", "completed_at", (), "attempt - 1", "attempt > 1",
    ),
    _Measure(
        _counter("tarsy_llm_fallbacks_total", "Executions that another provider took over.",
                 "from_provider", "to_provider"),
        "agentexecution", "completed_at", ("original_llm_provider", "llm_provider"), "1",
        "original_llm_provider <> ''",
    ),
    _Measure(
        _counter("tarsy_llm_calls_total", "Model calls.", "provider", "model"),
        "llminteraction", "created_at", _MODEL,
    ),
    _Measure(
        _counter("tarsy_llm_errors_total", "Model calls that failed.",
                 "provider", "model", "error_code"),
        "llminteraction", "created_at", (*_MODEL, _ERROR_CODE), "1", "error_message <> ''",
    ),
    _Measure(
        _seconds("tarsy_llm_duration_seconds", "How long model calls took.",
                 _LLM_SECONDS, "provider", "model"),
        "llminteraction", "created_at", _MODEL, "duration_ms / 1000.0::float8",
        "duration_ms IS NOT NULL",
    ),
    _tokens("input"),
    _tokens("output"),
    _tokens("thinking"),
    _Measure(
        _counter("tarsy_mcp_calls_total", "Tool calls.", "server", "tool"),
        "mcpinteraction", "created_at", _TOOL, "1", "interaction_type = 'tool_call'",
    ),
    _Measure(
        _counter("tarsy_mcp_errors_total", "Tool calls that ran and failed.", "server", "tool"),
        "mcpinteraction", "created_at", _TOOL, "1",
        f"interaction_type = 'tool_call' AND error_message <> '' AND NOT ({_REFUSED_HERE})",
    ),
    _Measure(
        _seconds("tarsy_mcp_duration_seconds", "How long tool calls took.",
                 _TOOL_SECONDS, "server", "tool"),
        "mcpinteraction", "created_at", _TOOL, "duration_ms / 1000.0::float8",
        "interaction_type = 'tool_call' AND duration_ms IS NOT NULL",
    ),
    _Measure(
        _counter("tarsy_posts_refused_total", "Posts of alert sources without a proof.",
                 "source", "reason"),
        "refusedposts", "hour", ("source", "code"), "count",
    ),
    _Measure(
        _counter("tarsy_deliveries_total", "Posts of alert sources.", "source", "outcome"),
        "delivery", "received_at", ("source", "outcome"),
    ),
    _Measure(
        _counter("tarsy_investigations_avoided_total",
                 "Posts of alerts that were known or belong to an incident that is.",
                 "source", "outcome"),
        "delivery", "received_at", ("source", "outcome"), "1",
        "outcome IN ('joined', 'duplicate')",
    ),
    _Measure(
        _counter("tarsy_incidents_total", "Incidents.", "source", "severity", "kind"),
        "incident", "opened_at", ("source", "severity", "kind"),
    ),
    _Measure(
        _seconds("tarsy_incident_members", "Alerts of an incident.", _MEMBERS, "source"),
        "incident", "opened_at", ("source",), "member_count::float8", "absorbed_by_id IS NULL",
    ),
    _Measure(
        _seconds("tarsy_incident_wait_seconds", "From the first post to the start.",
                 _WAIT_SECONDS, "source"),
        "alertsession", "started_at", ("source",), _FROM_INTAKE_TO_START,
        "incident_id IS NOT NULL",
    ),
    *_GATE,
)  # fmt: skip

_ACTIVE = Family("tarsy_sessions_active", "Sessions that run.", "gauge")
_QUEUED = Family("tarsy_sessions_queued", "Sessions that wait.", "gauge")
_WORKERS = Family("tarsy_workers_total", "Worker processes heard of lately.", "gauge")
_TOOL_SERVERS = Family(
    "tarsy_mcp_health_status", "Tool servers: 1 available, 0 not; none while nobody checks.",
    "gauge", ("server",),
)  # fmt: skip
_BUSY = Family("tarsy_workers_active", "Worker processes that run an agent.", "gauge")


def read_metrics() -> Reading:
    """Every metric as it stands now, the same from whichever process is asked."""
    active, queued = count_active_and_queued()
    workers = live_workers()
    gauges = {
        _ACTIVE: active,
        _QUEUED: queued,
        _WORKERS: len(workers),
        _BUSY: sum(1 for worker in workers if worker.active),
    }
    return {
        **{family: [Series((), value)] for family, value in gauges.items()},
        _TOOL_SERVERS: _tool_server_series(),
        **_arrange(_read_counters()),
    }


def _tool_server_series() -> list[Series]:
    report = read_health()
    if report is None or not report.is_current:
        return []
    return [Series((name,), float(each.healthy)) for name, each in sorted(report.servers.items())]


def _read_counters() -> Counter[_Key]:
    until, base = _load_base()
    settled = _database_now() - get_config().queue.session_timeout - LATE
    if settled - until > LATE:
        base += _count(until, settled)
        until = settled
        _keep_base(until, base)
    return base + _count(until, None)


def _count(since: datetime, until: datetime | None) -> Counter[_Key]:
    counted: Counter[_Key] = Counter()
    for measure in _MEASURES:
        for key, value in measure.read(since, until):
            counted[key] += value  # type: ignore[assignment]  # sums of seconds are no integers
    return counted


def _database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        return cast(datetime, cursor.fetchone()[0])


# ---- What is kept in Redis ----------------------------------------------------------------------


def _load_base() -> tuple[datetime, Counter[_Key]]:
    try:
        kept = cast(bytes | None, client().get(BASE_KEY))
    except redis.RedisError:
        kept = None
    if kept is None:
        return _EVER, Counter()
    base = json.loads(kept)
    series = {(name, tuple(labels), slot): value for name, labels, slot, value in base["series"]}
    return datetime.fromisoformat(base["until"]), Counter(series)


def _keep_base(until: datetime, base: Counter[_Key]) -> None:
    """Two that do this at once keep the same sums up to almost the same moment: either is right."""
    series = [(*key, value) for key, value in base.items()]
    try:
        client().set(BASE_KEY, json.dumps({"until": until.isoformat(), "series": series}))
    except redis.RedisError as error:
        logger.warning("Metrics not kept, they are counted anew next time: %s", error)


# ---- As families --------------------------------------------------------------------------------


def _arrange(counted: Counter[_Key]) -> dict[Family, list[Series]]:
    arranged: dict[Family, list[Series]] = {}
    for family in dict.fromkeys(measure.family for measure in _MEASURES):
        found = sorted({labels for name, labels, _ in counted if name == family.name})
        slots = range(len(family.edges) + 1) if family.edges else ()
        arranged[family] = [
            Series(
                labels,
                counted[family.name, labels, _VALUE],
                tuple(counted[family.name, labels, slot] for slot in slots),
            )
            for labels in found
        ]
    return arranged
