"""What upstream forgives, we forgive too, but say so: such a value is taken out with a warning."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from config.checks.findings import Findings, show
from config.checks.strategies import translate_strategies
from config.schema.fields import NO_LIMIT, parse_duration
from config.schema.system import LimitsConfig
from config.tree import Node, Scalar, having, match, nearest, without

_RETIRED = {"llm_providers.*.max_tool_result_tokens": "is no longer used"}
_ZERO_IS_UNSET = (
    "worker_count", "max_concurrent_sessions", "poll_interval", "session_timeout",
    "graceful_shutdown_timeout", "orphan_detection_interval", "orphan_threshold",
    "heartbeat_interval",
)  # fmt: skip
_RETENTION = ("session_retention_days", "event_ttl", "cleanup_interval")
_LIMITS = tuple(LimitsConfig.model_fields)
_IGNORED = "is ignored, the default holds"


def forgive(findings: Findings) -> None:
    """Take out of the tree what has no effect, leaving a warning for each."""
    translate_strategies(findings)
    _keep_lifted_limits(findings)
    for pattern, reason in _RETIRED.items():
        _drop(findings, pattern, lambda _: True, reason)
    for key in _ZERO_IS_UNSET:
        _drop(findings, f"queue.{key}", _is_zero, f"0 {_IGNORED}")
    for key in _RETENTION:
        _drop(findings, f"system.retention.{key}", _is_not_positive, f"not positive: {_IGNORED}")
    ttl = "system.runbooks.cache_ttl"
    _drop(findings, ttl, _is_no_duration, f"not a duration such as 5m: {_IGNORED}")
    summary = "mcp_servers.*.summarization.summary_max_token_limit"
    _drop(findings, summary, _is_zero, f"0 {_IGNORED}")
    _drop(findings, "mcp_servers.*.transport.timeout", _is_zero, f"0 {_IGNORED}")
    _drop_holidays(findings)


def _keep_lifted_limits(findings: Findings) -> None:
    """A `null` counts as absent everywhere but where it lifts a limit."""
    places = [("queue", "max_queue_size"), *(("system", "limits", key) for key in _LIMITS)]
    for path in places:
        node = nearest(findings.root, path[:-1]).mapping.get(path[-1])
        if node is not None and node.is_null and not node.blanks:
            lifted = replace(node, value=Scalar(NO_LIMIT, NO_LIMIT))
            findings.root = having(findings.root, path, lifted)


def _drop(findings: Findings, pattern: str, unwanted: Callable[[Node], bool], reason: str) -> None:
    for path, node in list(match(findings.root, pattern)):
        if unwanted(node):
            findings.warn(path, reason)
            findings.root = without(findings.root, path)


def _drop_holidays(findings: Findings) -> None:
    for path, node in reversed(list(match(findings.root, "system.holidays.*"))):
        if not _is_holiday(node):
            shown = show(node.get("date") or node)
            findings.warn(path, f"{shown} is left out; a holiday has a date MM-DD and a name")
            findings.root = without(findings.root, path)


def _is_zero(node: Node) -> bool:
    return bool(re.fullmatch(r"[+-]?0+(\.0*)?(ns|us|µs|μs|ms|s|m|h)?", node.text))


def _is_not_positive(node: Node) -> bool:
    return _is_zero(node) or node.text.startswith("-")


def _is_no_duration(node: Node) -> bool:
    if node.mapping or node.items:
        return False
    try:
        return parse_duration(node.text) == timedelta.max
    except ValueError:
        return True


def _is_holiday(node: Node) -> bool:
    day = node.text_at("date")
    if not re.fullmatch(r"\d\d-\d\d", day, re.ASCII) or not node.text_at("name").strip():
        return False
    try:
        date(2024, int(day[:2]), int(day[3:]))  # a leap year, so that 02-29 is one
    except ValueError:
        return False
    return True
